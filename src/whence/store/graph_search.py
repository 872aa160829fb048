"""Finding names by what they contain."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from whence.model.graph import Hit
from whence.model.ids import Kind
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.store.tables import dataset, field, job

ESCAPE = "\\"


def search_names(connection: Connection, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
    """Nodes whose name holds the fragments in this order, whatever their case: shortest first, at most `limit`.

    One fragment is looked for in the name (of a field: its own); several may begin in the namespace (of a field: in its
    dataset's name).
    """
    if kind is Kind.RUN:
        return ()
    query, text = _of_kind(kind, several=len(fragments) > 1)
    query = query.where(func.lower(text).like(_pattern(fragments), escape=ESCAPE))
    query = query.order_by(func.length(text), query.selected_columns.id)
    if all(fragment.isascii() for fragment in fragments):
        query = query.limit(limit)
    rows = (row for row in connection.execute(query) if _holds(row.text, fragments))
    return [Hit(row.id, _name(kind, row)) for row in islice(rows, limit)]


def _of_kind(kind: Kind, *, several: bool) -> tuple[Select[Any], ColumnElement[str]]:
    if kind is Kind.FIELD:
        text = dataset.c.name + "." + field.c.name if several else field.c.name
        columns = (field.c.id, dataset.c.namespace, dataset.c.name, field.c.name.label("field"), text.label("text"))
        return select(*columns).join_from(field, dataset, dataset.c.id == field.c.dataset_id), text
    table = dataset if kind is Kind.DATASET else job
    text = table.c.namespace + "/" + table.c.name if several else table.c.name
    return select(table.c.id, table.c.namespace, table.c.name, text.label("text")), text


def _pattern(fragments: Sequence[str]) -> str:
    # Databases fold the case of ASCII alike, and no other: the rest is a gap in the pattern that Python closes.
    return "%" + "%".join("".join(_escaped(letter) for letter in fragment.lower()) for fragment in fragments) + "%"


def _escaped(letter: str) -> str:
    if not letter.isascii():
        return "%"
    return ESCAPE + letter if letter in ("%", "_", ESCAPE) else letter


def _holds(text: str, fragments: Sequence[str]) -> bool:
    folded, start = text.casefold(), 0
    for fragment in fragments:
        if (start := folded.find(fragment.casefold(), start)) < 0:
            return False
        start += len(fragment.casefold())
    return True


def _name(kind: Kind, row: Row[Any]) -> Node:
    match kind:
        case Kind.FIELD:
            return FieldName(DatasetName(row.namespace, row.name), row.field)
        case Kind.DATASET:
            return DatasetName(row.namespace, row.name)
        case _:
            return JobName(row.namespace, row.name)
