"""Writing of the intervals in which lineage is valid, and of the current edges, where a folded history changed them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Connection, Select, and_, delete, func, insert, literal, select, update

from whence.store.ingest.change_log import OWNER, note_changes
from whence.store.ingest.history_windows import WINDOW, Folded, window_rows
from whence.store.ingest.statements import Aspect, Held, Owner
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.tables import FOREVER, edge, lineage_edge, lineage_set, lineage_version, validity_interval


def write_intervals(connection: Connection, folded: Sequence[Folded]) -> None:
    """Replace the intervals that begin in the folded windows, where they differ; then the owners' current edges."""
    dialect = connection.dialect.name
    stored: dict[Owner, list[tuple[int, int, Held]]] = {}
    for row in connection.execute(_select_intervals(dialect), giving(dialect, WINDOW, window_rows(folded))):
        place = (row.valid_from, row.statement_id, Held(row.version, row.confirmed))
        stored.setdefault(Owner(row.owner_id, Aspect(row.aspect)), []).append(place)
    others = [one for one in folded if stored.get(one.owner, []) != list(one.changes)]
    for other in others:
        _replace_intervals(connection, other)
        _replace_edges(connection, other)
    note_changes(connection, OWNER, (other.owner.id for other in others))


@cache
def _select_intervals(dialect: str) -> Select[Any]:
    """The intervals that begin in windows, in order of time."""
    wanted = given(dialect, *WINDOW)
    in_window = and_(
        validity_interval.c.owner_id == wanted.c.owner,
        validity_interval.c.aspect == wanted.c.aspect,
        validity_interval.c.valid_from >= wanted.c.since,
        validity_interval.c.valid_from <= wanted.c.until,
    )
    return select(validity_interval).join(wanted, in_window).order_by(validity_interval.c.valid_from)


def _replace_intervals(connection: Connection, folded: Folded) -> None:
    of_owner = and_(validity_interval.c.owner_id == folded.owner.id, validity_interval.c.aspect == folded.owner.aspect)
    connection.execute(
        delete(validity_interval).where(of_owner, validity_interval.c.valid_from.between(folded.since, folded.end))
    )
    rows = [
        (folded.owner.id, folded.owner.aspect, at, FOREVER, held.version, held.confirmed, id_)
        for at, id_, held in folded.changes
    ]
    if rows:
        connection.execute(
            insert(validity_interval), [dict(zip(validity_interval.columns.keys(), row, strict=True)) for row in rows]
        )
    other = validity_interval.alias()
    same_owner = and_(other.c.owner_id == folded.owner.id, other.c.aspect == folded.owner.aspect)
    following = select(func.min(other.c.valid_from)).where(
        same_owner, other.c.valid_from > validity_interval.c.valid_from
    )
    preceding = select(func.max(other.c.valid_from)).where(same_owner, other.c.valid_from < folded.since)
    first = func.coalesce(preceding.scalar_subquery(), folded.since)
    connection.execute(
        update(validity_interval)
        .where(of_owner, validity_interval.c.valid_from >= first, validity_interval.c.valid_from <= folded.end)
        .values(
            valid_to=func.coalesce(
                following.correlate(validity_interval).scalar_subquery(),
                literal(FOREVER, validity_interval.c.valid_to.type),
            )
        )
    )


def _replace_edges(connection: Connection, folded: Folded) -> None:
    """Replace the owner's current edges by those of the interval that is still open."""
    of_owner = and_(
        validity_interval.c.owner_id == folded.owner.id,
        validity_interval.c.aspect == folded.owner.aspect,
        validity_interval.c.valid_to == FOREVER,
    )
    still = connection.execute(
        select(validity_interval.c.version, validity_interval.c.confirmed).where(of_owner)
    ).one_or_none()
    connection.execute(delete(edge).where(edge.c.owner_id == folded.owner.id, edge.c.aspect == folded.owner.aspect))
    if still is None:
        return
    copied = [lineage_edge.c[name] for name in _COPIED]
    rows = (
        select(
            literal(folded.owner.id, edge.c.owner_id.type),
            literal(int(folded.owner.aspect), edge.c.aspect.type),
            *copied,
            lineage_set.c.origin,
            literal(still.confirmed, Boolean()),
        )
        .join(lineage_version, lineage_version.c.set_id == lineage_edge.c.set_id)
        .join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id)
        .where(lineage_version.c.id == still.version)
    )
    connection.execute(insert(edge).from_select(["owner_id", "aspect", *_COPIED, "origin", "confirmed"], rows))


_COPIED = (
    "set_id",
    "ordinal",
    "source_id",
    "target_id",
    "source_dataset_id",
    "target_dataset_id",
    "type",
    "subtype",
    "masking",
    "description",
)
