"""The history of each owner: folds its statements again from the first changed place, and writes changed intervals and
current edges.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    Boolean,
    Connection,
    Delete,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.ids import EMPTY_VERSION
from whence.store.ingest.change_log import OWNER, note_changes
from whence.store.ingest.statements import (
    Aspect,
    Held,
    HeldSet,
    Owner,
    Statement,
    Version,
    apply_statement,
    history_changes,
)
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.tables import (
    FOREVER,
    edge,
    lineage_edge,
    lineage_set,
    lineage_version,
    statement,
    validity_interval,
)

UNFOLDED = 1
"""`held_version` of a new statement before its fold. A real version with this id would only cost one more step."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of one owner's history to fold: all statements from `since` to `until`, times inclusive, and the next
    after.
    """

    owner: Owner
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Folded:
    """One owner's history folded from `since` to `end`: its changes as (at, statement id, held)."""

    owner: Owner
    since: int
    end: int
    changes: tuple[tuple[int, int, Held], ...]
    converged: bool


def replace_statements(connection: Connection, ids: Sequence[int], stated: Sequence[tuple[Statement, Version]]) -> None:
    """Replace the statements with these ids by `stated`, and update intervals and edges."""
    old = _stored(connection, ids)
    news = [(new, sets) for new, sets in stated if new.id not in old or not _is_unchanged(old[new.id], new)]
    moved = (set(old) - {new.id for new, _ in stated}) | {new.id for new, _ in news}
    if not moved:
        return
    places = [(Owner(row.owner_id, Aspect(row.aspect)), row.at) for row in old.values() if row.id in moved]
    places += [(new.owner, new.at) for new, _ in news]
    _replace(connection, moved, [new for new, _ in news])
    versions: dict[int, Version] = {EMPTY_VERSION: (), **{new.own: sets for new, sets in news}}
    windows = _windows(places)
    while windows:
        folded = _fold(connection, windows, versions)
        _write_versions(connection, versions)
        _write_spans(connection, folded)
        windows = [Window(one.owner, one.end, FOREVER) for one in folded if not one.converged]


def _stored(connection: Connection, ids: Sequence[int]) -> dict[int, Row[Any]]:
    dialect = connection.dialect.name
    rows = connection.execute(_select_statements(dialect), giving(dialect, ("id",), [(one,) for one in ids]))
    return {row.id: row for row in rows}


@cache
def _select_statements(dialect: str) -> Select[Any]:
    wanted = given(dialect, "id")
    return select(statement).join(wanted, wanted.c.id == statement.c.id)


def _is_unchanged(row: Row[Any], new: Statement) -> bool:
    stored = (row.owner_id, row.aspect, row.at, row.confirmed, row.own_version)
    return stored == (new.owner.id, new.owner.aspect, new.at, new.confirmed, new.own)


def _windows(places: Iterable[tuple[Owner, int]]) -> list[Window]:
    times: dict[Owner, list[int]] = {}
    for owner, at in places:
        times.setdefault(owner, []).append(at)
    return [Window(owner, min(ats), max(ats)) for owner, ats in times.items()]


def _replace(connection: Connection, moved: Iterable[int], news: Sequence[Statement]) -> None:
    dialect = connection.dialect.name
    connection.execute(_delete_statements(dialect), giving(dialect, ("id",), [(one,) for one in moved]))
    rows = [(new.id, new.owner.id, new.owner.aspect, new.at, new.confirmed, new.own, UNFOLDED, False) for new in news]
    if rows:
        connection.execute(insert(statement), [dict(zip(statement.columns.keys(), row, strict=True)) for row in rows])


@cache
def _delete_statements(dialect: str) -> Delete:
    return delete(statement).where(statement.c.id.in_(select(given(dialect, "id").c.id)))


def _fold(connection: Connection, windows: Sequence[Window], versions: dict[int, Version]) -> list[Folded]:
    """Fold every window, write what its statements hold now, and return the changes of the histories."""
    before, rows = _read_windows(connection, windows)
    _load_versions(connection, versions, [row.own_version for row in rows], [held.version for held in before.values()])
    histories: dict[Owner, list[Row[Any]]] = {}
    for row in rows:
        histories.setdefault(Owner(row.owner_id, Aspect(row.aspect)), []).append(row)
    folded = []
    updates: list[dict[str, Any]] = []
    for window in windows:
        history = histories.get(window.owner, [])
        held = _fold_one(before[window.owner], history, versions)
        updates += [_update(row, now) for row, now in zip(history, held, strict=True) if _held(row) != now]
        folded.append(_folded(window, before[window.owner], history, held))
    if updates:
        connection.execute(_UPDATE_HELD, updates)
    return folded


def _fold_one(before: Held, history: Sequence[Row[Any]], versions: dict[int, Version]) -> list[Held]:
    held = []
    for row in history:
        before, sets = apply_statement(before, _statement(row), versions)
        versions[before.version] = sets
        held.append(before)
    return held


def _folded(window: Window, before: Held, history: Sequence[Row[Any]], held: Sequence[Held]) -> Folded:
    places = [(row.at, row.id, now) for row, now in zip(history, held, strict=True)]
    last = history[-1].at if history else window.until
    converged = last <= window.until or _held(history[-1]) == held[-1]
    return Folded(
        window.owner, window.since, max(last, window.until), tuple(history_changes(before, places)), converged
    )


def _statement(row: Row[Any]) -> Statement:
    owner = Owner(row.owner_id, Aspect(row.aspect))
    return Statement(id=row.id, owner=owner, at=row.at, confirmed=row.confirmed, own=row.own_version)


def _held(row: Row[Any]) -> Held:
    return Held(row.held_version, row.held_confirmed)


def _update(row: Row[Any], now: Held) -> dict[str, Any]:
    return {"statement_id": row.id, "now_version": now.version, "now_confirmed": now.confirmed}


_UPDATE_HELD = (
    update(statement)
    .where(statement.c.id == bindparam("statement_id"))
    .values(held_version=bindparam("now_version"), held_confirmed=bindparam("now_confirmed"))
)


def _read_windows(connection: Connection, windows: Sequence[Window]) -> tuple[dict[Owner, Held], Sequence[Row[Any]]]:
    """Read what held before each window, and the statements in it and right after it, in order."""
    dialect = connection.dialect.name
    wanted = giving(dialect, _WINDOW, _window_rows(windows))
    before = {
        Owner(owner, Aspect(aspect)): Held(version_ or EMPTY_VERSION, bool(confirmed))
        for owner, aspect, version_, confirmed in connection.execute(_select_held_before(dialect), wanted)
    }
    return before, connection.execute(_select_window_statements(dialect), wanted).all()


_WINDOW = ("owner", "aspect", "since", "until")


def _window_rows(windows: Sequence[Window | Folded]) -> list[tuple[int, int, int, int]]:
    return [
        (window.owner.id, window.owner.aspect, window.since, window.until if isinstance(window, Window) else window.end)
        for window in windows
    ]


@cache
def _select_held_before(dialect: str) -> Select[Any]:
    """What the last statement before each window holds."""
    wanted = given(dialect, *_WINDOW)
    of_owner = and_(statement.c.owner_id == wanted.c.owner, statement.c.aspect == wanted.c.aspect)
    earlier = select(statement.c.id).where(of_owner, statement.c.at < wanted.c.since)
    last = earlier.order_by(statement.c.at.desc(), statement.c.id.desc()).limit(1).correlate(wanted).scalar_subquery()
    previous = select(wanted.c.owner, wanted.c.aspect, last.label("id")).subquery()
    columns = (previous.c.owner, previous.c.aspect, statement.c.held_version, statement.c.held_confirmed)
    return select(*columns).outerjoin(statement, statement.c.id == previous.c.id)


@cache
def _select_window_statements(dialect: str) -> Select[Any]:
    """The statements of each window, and those of the next time after it."""
    wanted = given(dialect, *_WINDOW)
    other = statement.alias()
    after = select(func.min(other.c.at)).where(
        other.c.owner_id == wanted.c.owner, other.c.aspect == wanted.c.aspect, other.c.at > wanted.c.until
    )
    until = func.coalesce(after.correlate(wanted).scalar_subquery(), wanted.c.until)
    bounds = select(wanted.c.owner, wanted.c.aspect, wanted.c.since, until.label("until")).subquery()
    return (
        select(statement)
        .join(bounds, and_(statement.c.owner_id == bounds.c.owner, statement.c.aspect == bounds.c.aspect))
        .where(statement.c.at >= bounds.c.since, statement.c.at <= bounds.c.until)
        .order_by(statement.c.owner_id, statement.c.aspect, statement.c.at, statement.c.id)
    )


def _load_versions(connection: Connection, versions: dict[int, Version], *wanted: Iterable[int]) -> None:
    missing = {one for ids in wanted for one in ids} - set(versions)
    if missing:
        versions.update(read_versions(connection, missing))


def read_versions(connection: Connection, wanted: AbstractSet[int]) -> Mapping[int, Version]:
    """The sets of each version; the empty version has none."""
    dialect = connection.dialect.name
    rows = connection.execute(_select_sets(dialect), giving(dialect, ("id",), [(one,) for one in wanted]))
    loaded: dict[int, list[HeldSet]] = {EMPTY_VERSION: []}
    for version_id, *held in rows:
        loaded.setdefault(version_id, []).append(HeldSet(*held))
    return {version_id: tuple(sets) for version_id, sets in loaded.items()}


@cache
def _select_sets(dialect: str) -> Select[Any]:
    """The sets of versions, in order."""
    wanted = given(dialect, "id")
    columns = (lineage_set.c.id, lineage_set.c.output_id, lineage_set.c.level, lineage_set.c.origin)
    return (
        select(lineage_version.c.id, *columns)
        .join(wanted, wanted.c.id == lineage_version.c.id)
        .join(lineage_set, lineage_set.c.id == lineage_version.c.set_id)
        .order_by(lineage_version.c.id, lineage_set.c.id)
    )


def _write_versions(connection: Connection, versions: Mapping[int, Version]) -> None:
    rows = [{"id": version_id, "set_id": held.id} for version_id, sets in versions.items() for held in sets]
    if rows:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        connection.execute(dialect.insert(lineage_version).on_conflict_do_nothing(), rows)


def _write_spans(connection: Connection, folded: Sequence[Folded]) -> None:
    """Replace the spans that begin in the folded windows, where they differ; then the owners' current edges."""
    dialect = connection.dialect.name
    stored: dict[Owner, list[tuple[int, int, Held]]] = {}
    for row in connection.execute(_select_spans(dialect), giving(dialect, _WINDOW, _window_rows(folded))):
        place = (row.valid_from, row.statement_id, Held(row.version, row.confirmed))
        stored.setdefault(Owner(row.owner_id, Aspect(row.aspect)), []).append(place)
    others = [one for one in folded if stored.get(one.owner, []) != list(one.changes)]
    for other in others:
        _replace_spans(connection, other)
        _replace_edges(connection, other)
    note_changes(connection, OWNER, (other.owner.id for other in others))


@cache
def _select_spans(dialect: str) -> Select[Any]:
    """The spans that begin in windows, in order of time."""
    wanted = given(dialect, *_WINDOW)
    in_window = and_(
        validity_interval.c.owner_id == wanted.c.owner,
        validity_interval.c.aspect == wanted.c.aspect,
        validity_interval.c.valid_from >= wanted.c.since,
        validity_interval.c.valid_from <= wanted.c.until,
    )
    return select(validity_interval).join(wanted, in_window).order_by(validity_interval.c.valid_from)


def _replace_spans(connection: Connection, folded: Folded) -> None:
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
