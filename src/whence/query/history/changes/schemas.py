"""Columns that were added, removed or changed their types, on the way to a node."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from whence.model.graph import SchemaRow
from whence.model.names import DatasetName, FieldName
from whence.query.history.changes.renames import Renames, SchemaStep, find_renames
from whence.query.history.changes.scope import Scope, unknown_nodes
from whence.query.history.changes.values import (
    Change,
    ChangeKind,
    NotKnown,
    Part,
    Proof,
    Unknown,
    UpstreamChange,
    joint_change,
)
from whence.query.history.schemas import ColumnChange, column_changes, columns_of, schema_at
from whence.query.ports.graph import Past

Step = tuple[SchemaRow | None, SchemaRow, int, int]
"""The schemas before and after a change, its time (µs), and the event that reported it (0: none in the period)."""


def schema_changes(
    graph: Past, scope: Scope, since: int, until: int, *, with_renames: bool = False
) -> tuple[list[UpstreamChange], list[NotKnown]]:
    """The changes of columns that are on the way, and the datasets of which nobody had reported the columns.

    Without renames a column with another name is one that was removed, and one that was added.
    """
    rows = [row for row in graph.schemas(scope.datasets) if row.first_time <= until]
    by_dataset = {id_: list(some) for id_, some in groupby(rows, key=lambda row: row.dataset_id)}
    names = graph.nodes(sorted(by_dataset))
    steps = [
        (id_, event, _named_step(dataset, before, after, time))
        for id_, several in by_dataset.items()
        for before, after, time, event in schema_steps(several, until)
        if time > since and isinstance(dataset := names[id_], DatasetName)
    ]
    renames = find_renames(graph, (step for _, _, step in steps), until) if with_renames else {}
    found = [one for id_, event, step in steps for one in _entry(scope, id_, event, step, renames.get(step, {}))]
    described = {scope.names[id_] for id_, rows in by_dataset.items() if any(row.payload for row in rows)}
    unknown = {id_ for id_ in scope.datasets if scope.names[id_] not in described}
    return found, [unknown_nodes(scope, Unknown.SCHEMA, unknown)] if unknown else []


def schema_steps(rows: Sequence[SchemaRow], until: int) -> Iterator[Step]:
    """The schemas of one dataset one after the other, by their first reports.

    Only the first and last report of a schema are stored. If an earlier one was reported again after all others, that
    is a step, too, at the time of its last report: it happened then or before.
    """
    before: SchemaRow | None = None
    for row in sorted(rows, key=lambda row: (row.first_time, row.body_id)):
        yield before, row, row.first_time, row.first_event
        before = row
    last = schema_at(rows, until)
    if before is not None and last is not None and last.body_id != before.body_id:
        is_stored = last.last_time <= until
        yield before, last, min(last.last_time, until), last.last_event if is_stored else 0


def _named_step(dataset: DatasetName, before: SchemaRow | None, after: SchemaRow, time: int) -> SchemaStep:
    return SchemaStep(dataset=dataset, time=time, before=columns_of(before), after=columns_of(after))


def _entry(scope: Scope, dataset_id: int, event_id: int, of: SchemaStep, renames: Renames) -> Iterator[UpstreamChange]:
    parts = tuple(sorted(_parts(scope, dataset_id, of, renames), key=lambda one: one.name))
    if not parts:
        return
    is_column = scope.columns[dataset_id] is not None and len(parts) == 1
    yield UpstreamChange(
        time=of.time,
        kind=ChangeKind.SCHEMA,
        change=joint_change(parts),
        node=FieldName(of.dataset, parts[0].name) if is_column else of.dataset,
        distance=scope.distances[dataset_id],
        parts=parts,
        proof=Proof(event_id=event_id),
    )


def _parts(scope: Scope, dataset_id: int, of: SchemaStep, renames: Renames) -> Iterator[Part]:
    """The columns on the way. Of a renamed one, either name may be."""
    former = frozenset(renames.values())
    for one in column_changes(of.before, of.after):
        if (old := renames.get(one.name)) is not None:
            if scope.has_column(dataset_id, one.name) or scope.has_column(dataset_id, old):
                yield Part(change=Change.RENAMED, name=one.name, before=old, after=one.name)
        elif one.name not in former and scope.has_column(dataset_id, one.name):
            yield _part(one)
            yield from _successor(scope, dataset_id, of, one, renames)


def _successor(scope: Scope, dataset_id: int, of: SchemaStep, gone: ColumnChange, renames: Renames) -> Iterator[Part]:
    """The only new column beside a column that is gone, if both have one type: perhaps it is the same. Readers of the
    old name do not read it, so it is not on the way.
    """
    left, new = of.gone - frozenset(renames.values()), of.new - renames.keys()
    if gone.after is not None or len(left) != 1 or len(new) != 1:
        return
    (name,) = new
    if of.after[name] == gone.before and not scope.has_column(dataset_id, name):
        yield Part(change=Change.ADDED, name=name, after=of.after[name])


def _part(one: ColumnChange) -> Part:
    change = Change.ADDED if one.before is None else Change.REMOVED if one.after is None else Change.CHANGED
    return Part(change=change, name=one.name, before=one.before or "", after=one.after or "")
