"""The history of each owner: folds its statements again from the first changed place, and writes changed intervals and
current edges.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Delete,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.ids import EMPTY_VERSION
from whence.store.ingest.history_windows import WINDOW, Folded, Window, window_rows
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
from whence.store.ingest.validity_intervals import write_intervals
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.merge import insert_new
from whence.store.schema.tables import (
    FOREVER,
    lineage_set,
    lineage_version,
    statement,
)


def replace_statements(connection: Connection, ids: Sequence[int], stated: Sequence[tuple[Statement, Version]]) -> None:
    """Replace the statements with these ids by `stated`, and update intervals and edges."""
    old = _stored(connection, ids)
    news = [(new, sets) for new, sets in stated if new.id not in old or not _is_unchanged(old[new.id], new)]
    moved = (set(old) - {new.id for new, _ in stated}) | {new.id for new, _ in news}
    if not moved:
        return
    places = [(Owner(row.owner_id, Aspect(row.aspect)), row.at) for row in old.values() if row.id in moved]
    places += [(new.owner, new.at) for new, _ in news]
    _delete(connection, moved)
    versions: dict[int, Version] = {EMPTY_VERSION: (), **{new.own: sets for new, sets in news}}
    windows, unwritten = _windows(places), [new for new, _ in news]
    while windows:
        folded = _fold(connection, windows, unwritten, versions)
        _write_versions(connection, versions)
        write_intervals(connection, folded)
        windows, unwritten = [Window(one.owner, one.end, FOREVER) for one in folded if not one.converged], []


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


def _delete(connection: Connection, ids: Iterable[int]) -> None:
    dialect = connection.dialect.name
    connection.execute(_delete_statements(dialect), giving(dialect, ("id",), [(one,) for one in ids]))


@cache
def _delete_statements(dialect: str) -> Delete:
    return delete(statement).where(statement.c.id.in_(select(given(dialect, "id").c.id)))


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement in its owner's history. `held`: what holds after it, as stored; None if it is not stored yet."""

    statement: Statement
    held: Held | None


def _fold(
    connection: Connection, windows: Sequence[Window], news: Sequence[Statement], versions: dict[int, Version]
) -> list[Folded]:
    """Fold every window with the new statements in it, write what the statements hold now, and return the changes of
    the histories. A new statement is written once, with what it holds.
    """
    before, histories = _read_windows(connection, windows, news)
    owned = [place.statement.own for history in histories.values() for place in history]
    _load_versions(connection, versions, owned, [held.version for held in before.values()])
    folded: list[Folded] = []
    steps: dict[_Step, Held] = {}
    inserts: list[tuple[Any, ...]] = []
    updates: list[dict[str, Any]] = []
    for window in windows:
        history = histories.get(window.owner, [])
        held = _fold_one(before[window.owner], history, versions, steps)
        for place, now in zip(history, held, strict=True):
            if place.held is None:
                inserts.append(_insert_row(place.statement, now))
            elif place.held != now:
                updates.append(_update(place.statement, now))
        folded.append(_folded(window, before[window.owner], history, held))
    insert_new(connection, statement, sorted(inserts))
    if updates:
        connection.execute(_UPDATE_HELD, updates)
    return folded


_Step = tuple[Held, Aspect, bool, int]
"""Everything that decides a step of the fold: what held before, and a statement's aspect, confirmation and version."""


def _fold_one(
    before: Held, history: Sequence[_Place], versions: dict[int, Version], steps: dict[_Step, Held]
) -> list[Held]:
    """Fold a history. Most statements repeat a step of another one, so each step is computed once."""
    held = []
    for place in history:
        one = place.statement
        step = (before, one.owner.aspect, one.confirmed, one.own)
        now = steps.get(step)
        if now is None:
            now, sets = apply_statement(before, one, versions)
            versions[now.version] = sets
            steps[step] = now
        held.append(before := now)
    return held


def _folded(window: Window, before: Held, history: Sequence[_Place], held: Sequence[Held]) -> Folded:
    places = [(place.statement.at, place.statement.id, now) for place, now in zip(history, held, strict=True)]
    last = history[-1].statement.at if history else window.until
    converged = last <= window.until or history[-1].held == held[-1]
    return Folded(
        window.owner, window.since, max(last, window.until), tuple(history_changes(before, places)), converged
    )


def _insert_row(new: Statement, now: Held) -> tuple[Any, ...]:
    return new.id, new.owner.id, new.owner.aspect, new.at, new.confirmed, new.own, now.version, now.confirmed


def _update(one: Statement, now: Held) -> dict[str, Any]:
    return {"statement_id": one.id, "now_version": now.version, "now_confirmed": now.confirmed}


_UPDATE_HELD = (
    update(statement)
    .where(statement.c.id == bindparam("statement_id"))
    .values(held_version=bindparam("now_version"), held_confirmed=bindparam("now_confirmed"))
)


def _read_windows(
    connection: Connection, windows: Sequence[Window], news: Iterable[Statement]
) -> tuple[dict[Owner, Held], dict[Owner, list[_Place]]]:
    """Read what held before each window, and its statements, new ones and those right after it included, in order."""
    dialect = connection.dialect.name
    wanted = giving(dialect, WINDOW, window_rows(windows))
    before = {
        Owner(owner, Aspect(aspect)): Held(version_ or EMPTY_VERSION, bool(confirmed))
        for owner, aspect, version_, confirmed in connection.execute(_select_held_before(dialect), wanted)
    }
    histories: dict[Owner, list[_Place]] = {}
    for new in news:
        histories.setdefault(new.owner, []).append(_Place(new, None))
    for id_, owner_id, aspect, at, confirmed, own, *held in connection.execute(
        _select_window_statements(dialect), wanted
    ):
        owner = Owner(owner_id, Aspect(aspect))
        one = Statement(id=id_, owner=owner, at=at, confirmed=confirmed, own=own)
        histories.setdefault(owner, []).append(_Place(one, Held(*held)))
    for history in histories.values():
        history.sort(key=lambda place: (place.statement.at, place.statement.id))
    return before, histories


@cache
def _select_held_before(dialect: str) -> Select[Any]:
    """What the last statement before each window holds."""
    wanted = given(dialect, *WINDOW)
    of_owner = and_(statement.c.owner_id == wanted.c.owner, statement.c.aspect == wanted.c.aspect)
    earlier = select(statement.c.id).where(of_owner, statement.c.at < wanted.c.since)
    last = earlier.order_by(statement.c.at.desc(), statement.c.id.desc()).limit(1).correlate(wanted).scalar_subquery()
    previous = select(wanted.c.owner, wanted.c.aspect, last.label("id")).subquery()
    columns = (previous.c.owner, previous.c.aspect, statement.c.held_version, statement.c.held_confirmed)
    return select(*columns).outerjoin(statement, statement.c.id == previous.c.id)


@cache
def _select_window_statements(dialect: str) -> Select[Any]:
    """The statements of each window, and those of the next time after it."""
    wanted = given(dialect, *WINDOW)
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
