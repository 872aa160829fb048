"""Columns that were added, removed or changed their types, on the way to a node."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from whence.model.graph import SchemaRow
from whence.model.names import DatasetName, FieldName, Node
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


def schema_changes(graph: Past, scope: Scope, since: int, until: int) -> tuple[list[UpstreamChange], list[NotKnown]]:
    """The changes of columns that are on the way, and the datasets of which nobody had reported the columns."""
    rows = [row for row in graph.schemas(scope.datasets) if row.first_time <= until]
    by_dataset = {id_: list(some) for id_, some in groupby(rows, key=lambda row: row.dataset_id)}
    names = graph.nodes(sorted(by_dataset))
    found = [
        one
        for id_, several in by_dataset.items()
        for step in schema_steps(several, until)
        if step[2] > since
        for one in _entry(scope, names, id_, step)
    ]
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


def _entry(scope: Scope, names: Mapping[int, Node], dataset_id: int, step: Step) -> Iterator[UpstreamChange]:
    before, after, time, event_id = step
    changes = column_changes(columns_of(before), columns_of(after))
    parts = tuple(_part(one) for one in changes if scope.has_column(dataset_id, one.name))
    dataset = names[dataset_id]
    if not parts or not isinstance(dataset, DatasetName):
        return
    is_column = scope.columns[dataset_id] is not None and len(parts) == 1
    yield UpstreamChange(
        time=time,
        kind=ChangeKind.SCHEMA,
        change=joint_change(parts),
        node=FieldName(dataset, parts[0].name) if is_column else dataset,
        distance=scope.distances[dataset_id],
        parts=parts,
        proof=Proof(event_id=event_id),
    )


def _part(one: ColumnChange) -> Part:
    change = Change.ADDED if one.before is None else Change.REMOVED if one.after is None else Change.CHANGED
    return Part(change=change, name=one.name, before=one.before or "", after=one.after or "")
