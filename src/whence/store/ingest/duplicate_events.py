"""Receipts: the record of an event with the least position was applied; the event's other records are receipts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, select, update

from whence.errors import CollisionError
from whence.store.schema.array_parameters import integers
from whence.store.schema.merge import Row, fold, insert_new, upsert
from whence.store.schema.tables import event, receipt

_INDEX = {name: place for place, name in enumerate(event.columns.keys())}
_ID, _REST, _POSITION = _INDEX["id"], _INDEX["rest"], _INDEX["position"]


def place_events(connection: Connection, events: Iterable[Row], receipts: Iterable[Row]) -> None:
    """Merge rows of `event` and of `receipt`. An event stored with another position leaves a receipt at the larger one.

    Idempotent and independent of order: the least position of a key remains. Raises CollisionError.
    """
    receipt_rows = [*receipts]
    first: dict[int, Row] = {}
    for row in events:
        known = first.setdefault(row[_ID], row)
        if known is not row:
            first[row[_ID]], other = sorted((known, row), key=lambda row_: int(row_[_POSITION]))
            if other[_POSITION] != first[row[_ID]][_POSITION]:
                receipt_rows.append(_receipt(other))
    rows = [first[id_] for id_ in sorted(first)]
    if insert_new(connection, event, rows) < len(rows):
        receipt_rows += _displaced(connection, first)
    upsert(connection, receipt, fold(receipt, receipt_rows))


def _displaced(connection: Connection, first: Mapping[int, Row]) -> Iterator[Row]:
    """Yield the receipts of events that are stored with another position; the smaller position remains."""
    lowered: list[tuple[int, int]] = []
    for id_, rest, position in _stored(connection, sorted(first)):
        new = first[id_]
        if new[_REST] != rest:
            raise CollisionError(event.name)
        if new[_POSITION] < position:
            lowered.append((id_, new[_POSITION]))
        if new[_POSITION] != position:
            yield max(new[_POSITION], position), id_, rest, ""
    for id_, position in lowered:
        connection.execute(update(event).where(event.c.id == id_).values(position=position))


def _stored(connection: Connection, ids: Sequence[int]) -> Sequence[Row]:
    wanted = integers(connection, ("id",), [(id_,) for id_ in ids])
    query = select(event.c.id, event.c.rest, event.c.position).join(wanted, wanted.c.id == event.c.id)
    # Locked until the commit, because another executor may lower the same position.
    return [tuple(row) for row in connection.execute(query.order_by(event.c.id).with_for_update(of=event))]


def _receipt(row: Row) -> Row:
    return row[_POSITION], row[_ID], row[_REST], ""
