"""Which record of an event was applied: the one at the least position. The others of its records are receipts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, select, update

from whence.errors import CollisionError
from whence.store.arrays import integers
from whence.store.merge import Row, fold, insert_new, upsert
from whence.store.tables import event, receipt

_PLACE = {name: place for place, name in enumerate(event.columns.keys())}
_ID, _REST, _POSITION = _PLACE["id"], _PLACE["rest"], _PLACE["position"]


def place_events(connection: Connection, events: Iterable[Row], receipts: Iterable[Row]) -> None:
    """Merge rows of `event` and of `receipt`; an event known from another position leaves a receipt at the larger one.

    Idempotent, and the same in any order: the least position of a key stays. Raises CollisionError.
    """
    said = [*receipts]
    first: dict[int, Row] = {}
    for row in events:
        known = first.setdefault(row[_ID], row)
        if known is not row:
            first[row[_ID]], other = sorted((known, row), key=lambda one: int(one[_POSITION]))
            if other[_POSITION] != first[row[_ID]][_POSITION]:
                said.append(_receipt(other))
    rows = [first[id_] for id_ in sorted(first)]
    if insert_new(connection, event, rows) < len(rows):
        said += _displaced(connection, first)
    upsert(connection, receipt, fold(receipt, said))


def _displaced(connection: Connection, first: Mapping[int, Row]) -> Iterator[Row]:
    """The receipts of events that are stored with another position, of which the smaller stays."""
    lowered: list[tuple[int, int]] = []
    for id_, rest, position in _stored(connection, sorted(first)):
        mine = first[id_]
        if mine[_REST] != rest:
            raise CollisionError(event.name)
        if mine[_POSITION] < position:
            lowered.append((id_, mine[_POSITION]))
        if mine[_POSITION] != position:
            yield max(mine[_POSITION], position), id_, rest, ""
    for id_, position in lowered:
        connection.execute(update(event).where(event.c.id == id_).values(position=position))


def _stored(connection: Connection, ids: Sequence[int]) -> Sequence[Row]:
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    query = select(event.c.id, event.c.rest, event.c.position).join(wanted, wanted.c.id == event.c.id)
    # Locked until the end, because another executor may be lowering the same position.
    return [tuple(row) for row in connection.execute(query.order_by(event.c.id).with_for_update(of=event))]


def _receipt(row: Row) -> Row:
    return row[_POSITION], row[_ID], row[_REST], ""
