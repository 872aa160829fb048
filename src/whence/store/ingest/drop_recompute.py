"""Dropped datasets: the lineage into them ends (docs/explanation/state.md, "Life of a dataset").

A set of origin `dropped` asserts that its output is dropped. It ends the sets of all owners with that output, unless
another dataset was derived from the dropped one before: then lineage continues through it.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Select, delete, func, insert, literal, select, union
from sqlalchemy import exists as any_of

from whence.model.events import RunState
from whence.model.lineage import Origin
from whence.store.ingest.change_log import TRAITS, note_changes
from whence.store.ingest.dropped_datasets import IS_MARKER, dropped_dataset, marker
from whence.store.ingest.owner_history import replace_statements
from whence.store.ingest.statements import Drop, HeldSet, Statement, Version, drop_statements
from whence.store.schema.array_parameters import integers
from whence.store.schema.dirty_keys import DirtyKey
from whence.store.schema.merge import insert_new
from whence.store.schema.tables import (
    declaration,
    dirty_key,
    lineage_edge,
    lineage_set,
    lineage_version,
    run,
    run_lineage,
)


def mark_drops_dirty(connection: Connection, runs: Sequence[int], declared: Sequence[int]) -> None:
    """Mark the dropped datasets that these runs and declarations drop, write or read, for recomputation."""
    if connection.execute(select(marker.c.id).where(IS_MARKER).limit(1)).first() is None:
        return
    of_runs = integers(connection, ("id",), [(one,) for one in runs])
    of_events = integers(connection, ("id",), [(column,) for column in declared])
    reported = union(
        select(run_lineage.c.version).join(of_runs, of_runs.c.id == run_lineage.c.run_id),
        select(declaration.c.version).join(of_events, of_events.c.id == declaration.c.event_id),
    ).subquery()
    sets = (
        select(lineage_version.c.set_id)
        .join(reported, reported.c.version == lineage_version.c.id)
        .distinct()
        .subquery()
    )
    edges = select(lineage_edge).join(sets, sets.c.set_id == lineage_edge.c.set_id).subquery()
    found = union(
        select(marker.c.output_id).join(sets, sets.c.set_id == marker.c.id).where(IS_MARKER),
        select(marker.c.output_id).join(edges, edges.c.target_id == marker.c.output_id).where(IS_MARKER),
        select(marker.c.output_id).join(edges, edges.c.source_id == marker.c.output_id).where(IS_MARKER),
    )
    ids = sorted(connection.execute(found).scalars())
    insert_new(connection, dirty_key, sorted((id_, int(DirtyKey.LIFE), id_) for id_ in ids))


def recompute_drops(connection: Connection, datasets: Sequence[int]) -> None:
    """Recompute the statements that end lineage into these datasets, and the times of their last drops."""
    drops = _drops(connection, datasets)
    owners, read = _owners(connection, datasets), _first_read(connection, datasets)
    ids: list[int] = []
    stated: list[tuple[Statement, Version]] = []
    for drop, holds in drops:
        output_id = drop.marker.output_id
        drop_pairs = [pair for owner in owners.get(output_id, ()) for pair in drop_statements(drop, owner)]
        ids += [statement.id for statement, _ in drop_pairs]
        if holds and not (output_id in read and read[output_id] <= drop.at):
            stated += drop_pairs
    replace_statements(connection, ids, stated)
    _write_last(connection, datasets, [drop for drop, holds in drops if holds])


def _drops(connection: Connection, datasets: Sequence[int]) -> Sequence[tuple[Drop, bool]]:
    """The drops asserted by runs and events, and whether they hold. The drop of a run holds if the run completed."""
    wanted = integers(connection, ("id",), [(dataset,) for dataset in datasets])
    columns = (marker.c.id, marker.c.output_id, marker.c.level)
    marks = select(*columns).join(wanted, wanted.c.id == marker.c.output_id).where(IS_MARKER).subquery()
    members = marks.join(lineage_version, lineage_version.c.set_id == marks.c.id)
    by_runs = members.join(run_lineage, run_lineage.c.version == lineage_version.c.id).join(
        run, run.c.id == run_lineage.c.run_id
    )
    by_events = members.join(declaration, declaration.c.version == lineage_version.c.id)
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
    """The owners that ever wrote each dataset."""
    wanted = integers(connection, ("id",), [(dataset,) for dataset in datasets])
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
    """The time at which another dataset was first derived from each."""
    wanted = integers(connection, ("id",), [(dataset,) for dataset in datasets])
    query = (
        select(wanted.c.id, func.min(lineage_set.c.first_time).label("first"))
        .join(lineage_edge, lineage_edge.c.source_id == wanted.c.id)
        .join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id)
        .where(lineage_set.c.output_id != 0, lineage_set.c.output_id != wanted.c.id)
        .group_by(wanted.c.id)
    )
    return {row.id: row.first for row in connection.execute(query)}


def _write_last(connection: Connection, datasets: Iterable[int], drops: Iterable[Drop]) -> None:
    """Store the last drop of each dataset. A drop by a run that retention deleted stays."""
    last: dict[int, Drop] = {}
    for drop in sorted(drops, key=lambda one: (one.at, one.statement_id)):
        last[drop.marker.output_id] = drop
    wanted = integers(connection, ("id",), [(dataset,) for dataset in datasets])
    known = any_of().where(run.c.id == dropped_dataset.c.statement_id) | any_of().where(
        declaration.c.event_id == dropped_dataset.c.statement_id
    )
    connection.execute(delete(dropped_dataset).where(dropped_dataset.c.dataset_id.in_(select(wanted.c.id)), known))
    kept = select(dropped_dataset).join(wanted, wanted.c.id == dropped_dataset.c.dataset_id)
    for row in connection.execute(kept).all():
        if row.dataset_id in last and (last[row.dataset_id].at, last[row.dataset_id].statement_id) <= (
            row.at,
            row.statement_id,
        ):
            del last[row.dataset_id]
    leaving = integers(connection, ("id",), [(one,) for one in last])
    connection.execute(delete(dropped_dataset).where(dropped_dataset.c.dataset_id.in_(select(leaving.c.id))))
    rows = [{"dataset_id": id_, "at": drop.at, "statement_id": drop.statement_id} for id_, drop in sorted(last.items())]
    if rows:
        connection.execute(insert(dropped_dataset), rows)
    note_changes(connection, TRAITS, datasets)
