"""Search of names by fragments."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from whence.model.graph import Hit
from whence.model.ids import Kind
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.store.schema.tables import dataset, field, job

ESCAPE = "\\"


def search_names(connection: Connection, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
    """Nodes whose name contains the fragments in this order, ignoring case: shortest first, at most `limit`.

    One fragment is searched in the name (of a field: its own). Several fragments may start in the namespace (of a
    field: in its dataset's name).
    """
    if kind is Kind.RUN:
        return ()
    query, text = _names_query(kind, several=len(fragments) > 1)
    query = query.where(func.lower(text).like(_pattern(fragments), escape=ESCAPE))
    query = query.order_by(func.length(text), query.selected_columns.id)
    if all(fragment.isascii() for fragment in fragments):
        query = query.limit(limit)
    rows = (row for row in connection.execute(query) if _has_fragments(row.text, fragments))
    return [Hit(row.id, _name(kind, row)) for row in islice(rows, limit)]


def _names_query(kind: Kind, *, several: bool) -> tuple[Select[Any], ColumnElement[str]]:
    if kind is Kind.FIELD:
        text = dataset.c.name + "." + field.c.name if several else field.c.name
        columns = (field.c.id, dataset.c.namespace, dataset.c.name, field.c.name.label("field"), text.label("text"))
        return select(*columns).join_from(field, dataset, dataset.c.id == field.c.dataset_id), text
    table = dataset if kind is Kind.DATASET else job
    text = table.c.namespace + "/" + table.c.name if several else table.c.name
    return select(table.c.id, table.c.namespace, table.c.name, text.label("text")), text


def _pattern(fragments: Sequence[str]) -> str:
    # Databases agree on the case of ASCII only. Other letters become wildcards, and Python filters the rows.
    return "%" + "%".join("".join(_escape(letter) for letter in fragment.lower()) for fragment in fragments) + "%"


def _escape(letter: str) -> str:
    if not letter.isascii():
        return "%"
    return ESCAPE + letter if letter in ("%", "_", ESCAPE) else letter


def _has_fragments(text: str, fragments: Sequence[str]) -> bool:
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
