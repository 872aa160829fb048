"""The columns that declared policies hide from readers, as they were computed last."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select

from whence.model.access import ReadingRestriction
from whence.model.names import DatasetName, FieldName
from whence.store.security.grants import bump_revision
from whence.store.security.tables import restriction

_Row = Mapping[str, str]


def read_restrictions(connection: Connection) -> Sequence[ReadingRestriction]:
    """All restrictions, by policy and namespace."""
    return [
        ReadingRestriction(
            policy=row.policy,
            readers=tuple(json.loads(row.readers)),
            fields=frozenset(
                FieldName(DatasetName(row.namespace, name), field) for name, field in json.loads(row.fields)
            ),
        )
        for row in connection.execute(select(restriction).order_by(*restriction.primary_key))
    ]


def replace_restrictions(connection: Connection, restrictions: Iterable[ReadingRestriction]) -> bool:
    """Make these the restrictions that there are. Returns whether others held before."""
    wanted = sorted((dict(row) for one in restrictions for row in _rows(one)), key=_order)
    held = [dict(row) for row in connection.execute(select(restriction)).mappings()]
    if sorted(held, key=_order) == wanted:
        return False
    connection.execute(delete(restriction))
    if wanted:
        connection.execute(insert(restriction), wanted)
    bump_revision(connection)
    return True


def _order(row: _Row) -> tuple[str, str]:
    return row["policy"], row["namespace"]


def _rows(one: ReadingRestriction) -> Iterator[_Row]:
    """A row for each namespace."""
    readers = json.dumps(sorted(one.readers))
    for namespace in sorted(one.namespaces):
        fields = sorted(
            [field.dataset.name, field.field] for field in one.fields if field.dataset.namespace == namespace
        )
        yield {"policy": one.policy, "namespace": namespace, "readers": readers, "fields": json.dumps(fields)}
