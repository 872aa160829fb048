"""Datasets that are dropped: what was written into them ends (docs/state.md, "Life of a dataset").

A set of origin `dropped` says that its output is dropped. It ends the sets of all owners with that output, unless
another dataset was made of the dropped one before: then lineage goes on through it.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Select, delete, func, insert, literal, select, union
from sqlalchemy import exists as any_of

from whence.model.events import RunState
from whence.model.lineage import Origin
from whence.store.arrays import integers
from whence.store.dropped import IS_MARKER, dropped, marker
from whence.store.editions import TRAITS, note_changes
from whence.store.history import restate
from whence.store.merge import insert_new
from whence.store.statements import Drop, HeldSet, Statement, Version, drop_statements
from whence.store.tables import Touch, declaration, lineage_edge, lineage_set, run, run_lineage, touched, version


def touch_drops(connection: Connection, runs: Sequence[int], declared: Sequence[int]) -> None:
    """Note which dropped datasets these runs and declarations drop, write or read: their drops are settled again."""
    if connection.execute(select(marker.c.id).where(IS_MARKER).limit(1)).first() is None:
        return
    of_runs = integers(connection, ("id",), [(one,) for one in runs])
    of_events = integers(connection, ("id",), [(one,) for one in declared])
    said = union(
        select(run_lineage.c.version).join(of_runs, of_runs.c.id == run_lineage.c.run_id),
        select(declaration.c.version).join(of_events, of_events.c.id == declaration.c.event_id),
    ).subquery()
    sets = select(version.c.set_id).join(said, said.c.version == version.c.id).distinct().subquery()
    edges = select(lineage_edge).join(sets, sets.c.set_id == lineage_edge.c.set_id).subquery()
    found = union(
        select(marker.c.output_id).join(sets, sets.c.set_id == marker.c.id).where(IS_MARKER),
        select(marker.c.output_id).join(edges, edges.c.target_id == marker.c.output_id).where(IS_MARKER),
        select(marker.c.output_id).join(edges, edges.c.source_id == marker.c.output_id).where(IS_MARKER),
    )
    ids = sorted(connection.execute(found).scalars())
    insert_new(connection, touched, sorted((id_, int(Touch.LIFE), id_) for id_ in ids))


def settle_drops(connection: Connection, datasets: Sequence[int]) -> None:
    """Bring the statements that end what was written into these datasets in line, and when they were dropped last."""
    drops = _drops(connection, datasets)
    owners, read = _owners(connection, datasets), _first_read(connection, datasets)
    ids: list[int] = []
    stated: list[tuple[Statement, Version]] = []
    for drop, holds in drops:
        of = drop.marker.output_id
        made = [one for owner in owners.get(of, ()) for one in drop_statements(drop, owner)]
        ids += [statement.id for statement, _ in made]
        if holds and not (of in read and read[of] <= drop.at):
            stated += made
    restate(connection, ids, stated)
    _write_last(connection, datasets, [drop for drop, holds in drops if holds])


def _drops(connection: Connection, datasets: Sequence[int]) -> Sequence[tuple[Drop, bool]]:
    """What runs and events say of drops, and whether it holds: that of a run does if the run completed."""
    wanted = integers(connection, ("id",), [(one,) for one in datasets])
    columns = (marker.c.id, marker.c.output_id, marker.c.level)
    marks = select(*columns).join(wanted, wanted.c.id == marker.c.output_id).where(IS_MARKER).subquery()
    members = marks.join(version, version.c.set_id == marks.c.id)
    by_runs = members.join(run_lineage, run_lineage.c.version == version.c.id).join(
        run, run.c.id == run_lineage.c.run_id
    )
    by_events = members.join(declaration, declaration.c.version == version.c.id)
    of_run: Select[tuple[int, ...]] = select(marks, run.c.id.label("by"), run.c.state_at, run.c.state)
    of_event = select(marks, declaration.c.event_id, declaration.c.time, literal(int(RunState.COMPLETE)))
    rows = {
        tuple(row)
        for query in (of_run.select_from(by_runs), of_event.select_from(by_events))
        for row in connection.execute(query)
    }
    return [
        (Drop(by, HeldSet(id_, output, level, Origin.DROPPED), at), state == RunState.COMPLETE)
        for id_, output, level, by, at, state in sorted(rows)
    ]


def _owners(connection: Connection, datasets: Sequence[int]) -> Mapping[int, Sequence[int]]:
    """Who ever wrote into each dataset."""
    wanted = integers(connection, ("id",), [(one,) for one in datasets])
    query = (
        select(lineage_set.c.output_id, lineage_set.c.owner_id)
        .join(lineage_edge, lineage_edge.c.set_id == lineage_set.c.id)
        .join(wanted, wanted.c.id == lineage_edge.c.target_id)
        .where(lineage_set.c.output_id == wanted.c.id)
        .distinct()
    )
    found: dict[int, list[int]] = {}
    for output, owner in connection.execute(query.order_by(lineage_set.c.output_id, lineage_set.c.owner_id)):
        found.setdefault(output, []).append(owner)
    return found


def _first_read(connection: Connection, datasets: Sequence[int]) -> Mapping[int, int]:
    """When it was first said that another dataset is made of each."""
    wanted = integers(connection, ("id",), [(one,) for one in datasets])
    query = (
        select(wanted.c.id, func.min(lineage_set.c.first_time).label("first"))
        .join(lineage_edge, lineage_edge.c.source_id == wanted.c.id)
        .join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id)
        .where(lineage_set.c.output_id != 0, lineage_set.c.output_id != wanted.c.id)
        .group_by(wanted.c.id)
    )
    return {row.id: row.first for row in connection.execute(query)}


def _write_last(connection: Connection, datasets: Iterable[int], drops: Iterable[Drop]) -> None:
    """The last drop of each dataset. One whose run is forgotten stays."""
    last: dict[int, Drop] = {}
    for drop in sorted(drops, key=lambda one: (one.at, one.statement_id)):
        last[drop.marker.output_id] = drop
    wanted = integers(connection, ("id",), [(one,) for one in datasets])
    known = any_of().where(run.c.id == dropped.c.statement_id) | any_of().where(
        declaration.c.event_id == dropped.c.statement_id
    )
    connection.execute(delete(dropped).where(dropped.c.dataset_id.in_(select(wanted.c.id)), known))
    kept = select(dropped).join(wanted, wanted.c.id == dropped.c.dataset_id)
    for row in connection.execute(kept).all():
        if row.dataset_id in last and (last[row.dataset_id].at, last[row.dataset_id].statement_id) <= (
            row.at,
            row.statement_id,
        ):
            del last[row.dataset_id]
    leaving = integers(connection, ("id",), [(one,) for one in last])
    connection.execute(delete(dropped).where(dropped.c.dataset_id.in_(select(leaving.c.id))))
    rows = [{"dataset_id": id_, "at": drop.at, "statement_id": drop.statement_id} for id_, drop in sorted(last.items())]
    if rows:
        connection.execute(insert(dropped), rows)
    note_changes(connection, TRAITS, datasets)
