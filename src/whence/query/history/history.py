"""The history of a node: its lineage over time, with the run or event that changed it; and its schemas."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from whence.model.events import RunState
from whence.model.graph import FOREVER, AssertingEvent, AssertingRun, SchemaRow, SetEdge, SpanRow
from whence.model.ids import Kind, kind_of
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.completeness import of_all_times
from whence.query.answers.values import Completeness, dataset_of
from whence.query.history.edge_changes import Changes, Content, compare, content_of, named
from whence.query.history.schemas import ColumnChange, column_changes, columns_of
from whence.query.ports.graph import Past
from whence.query.traversal.representatives import canonical_root

ASPECTS = ("observed", "read", "declared")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageVersion:
    """An owner's lineage of the node from `valid_from` until `valid_to` (None: still valid), and its changes.

    `run` or `event` began it; both are None if retention deleted it. `edges` is the number of edges.
    """

    owner: Node
    aspect: str
    valid_from: int
    valid_to: int | None
    confirmed: bool
    run: AssertingRun | None
    event: AssertingEvent | None
    edges: int
    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersion:
    """A schema of a dataset: when it was reported first and last, and its differences from the previous schema."""

    dataset: DatasetName
    first_seen: int
    last_seen: int
    event: AssertingEvent | None
    columns: int
    changes: tuple[ColumnChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All versions of a node, the newest first."""

    node: Node
    lineage: tuple[LineageVersion, ...]
    schemas: tuple[SchemaVersion, ...]
    completeness: Completeness


@dataclass(frozen=True, slots=True)
class _Target:
    """The requested node: the ids of all its names, and of its datasets."""

    graph: Past
    ids: frozenset[int]
    datasets: frozenset[int]

    def has(self, edge: SetEdge) -> bool:
        """Whether an edge belongs to the lineage of the node."""
        if edge.target_id in self.ids:
            return True
        if next(iter(self.ids)) in self.datasets:
            return edge.target_dataset_id in self.datasets
        return edge.target_id in self.datasets and kind_of(edge.source_id) is Kind.FIELD


def history(graph: Past, node: Node) -> History:
    """Every version of the lineage of a dataset or field, or of all lineage of a job; and of the schema."""
    identity, root = canonical_root(graph, node)
    ids = frozenset(identity.members(root))
    datasets = frozenset(identity.members(identity.dataset_of[root])) if dataset_of(node) else frozenset[int]()
    target = _Target(graph, ids, datasets)
    name = identity.names.get(root) or graph.nodes([root])[root]
    return History(
        node=name,
        lineage=tuple(_lineage(target, isinstance(name, JobName))),
        schemas=tuple(_schemas(target, name)),
        completeness=of_all_times(graph),
    )


def _lineage(target: _Target, is_job: bool) -> Iterator[LineageVersion]:
    owners = target.ids if is_job else set(target.graph.owners(_ends(target)))
    spans = target.graph.spans(owners)
    sets = target.graph.versions({span.version for span in spans})
    edges: dict[int, list[SetEdge]] = {}
    for edge in target.graph.content({set_id for several in sets.values() for set_id in several}):
        if is_job or target.has(edge):
            edges.setdefault(edge.set_id, []).append(edge)
    contents = {
        version: [(set_id, edge) for set_id in several for edge in edges.get(set_id, ())]
        for version, several in sets.items()
    }
    found = list(_versions(target.graph, spans, contents))
    yield from sorted(found, key=lambda one: (-one.valid_from, str(one.owner), one.aspect))


def _ends(target: _Target) -> set[int]:
    """The nodes at which edges of the requested node's lineage may end."""
    fields = target.graph.fields(target.datasets) if target.ids == target.datasets else ()
    return {*target.ids, *target.datasets, *(row.id for row in fields)}


Edges = Mapping[int, Sequence[tuple[int, SetEdge]]]
"""Version → its edges, with their sets."""


def _versions(graph: Past, spans: Sequence[SpanRow], edges: Edges) -> Iterator[LineageVersion]:
    changed = list(_changing(spans, edges))
    ids = {id_ for _, before, after in changed for link in {*before, *after} for id_ in link}
    names = graph.nodes(sorted({*ids, *(span.owner_id for span, _, _ in changed)}))
    assertions = find_assertions(graph, {span.statement_id for span, _, _ in changed})
    for span, before, after in changed:
        run, event = assertions.get(span.statement_id, (None, None))
        yield LineageVersion(
            owner=names[span.owner_id],
            aspect=ASPECTS[span.aspect],
            valid_from=span.valid_from,
            valid_to=None if span.valid_to == FOREVER else span.valid_to,
            confirmed=bool(span.confirmed),
            run=run,
            event=event,
            edges=len(after),
            changes=named(compare(before, after), before, after, names),
        )


def _changing(spans: Iterable[SpanRow], edges: Edges) -> Iterator[tuple[SpanRow, Content, Content]]:
    """The intervals whose lineage differs from the previous one, merged while it is equal, with both contents."""
    for owner, of_owner in groupby(spans, key=lambda span: (span.owner_id, span.aspect)):
        open_span: SpanRow | None = None
        before: Content = {}
        content: Content = {}
        for span in of_owner:
            next_content = content_of((owner[0], edge) for _, edge in edges.get(span.version, ()))
            if open_span and next_content == content and span.valid_from == open_span.valid_to:
                open_span = open_span._replace(valid_to=span.valid_to)
                continue
            if open_span and (content or before):
                yield open_span, before, content
            open_span, before, content = span, content, next_content
        if open_span and (content or before):
            yield open_span, before, content


def find_assertions(
    graph: Past, statement_ids: Iterable[int]
) -> Mapping[int, tuple[AssertingRun | None, AssertingEvent | None]]:
    """The run or event behind each statement."""
    ids = sorted(set(statement_ids))
    runs = {row.id: row for row in graph.runs([id_ for id_ in ids if kind_of(id_) is Kind.RUN])}
    events = graph.events([id_ for id_ in ids if id_ not in runs])
    seen = {
        id_: AssertingRun(
            name=row.name,
            state=row.state,
            started_at=row.started_at,
            ended_at=row.state_at if row.state.rank == RunState.COMPLETE else None,
            last_seen=row.seen_to,
            asserted_at=row.state_at,
        )
        for id_, row in runs.items()
    }
    return {id_: (seen.get(id_), events[id_][0] if id_ in events else None) for id_ in ids}


def _schemas(target: _Target, node: Node) -> Iterator[SchemaVersion]:
    rows = target.graph.schemas(target.datasets) if target.datasets else ()
    names = target.graph.nodes({row.dataset_id for row in rows})
    events = target.graph.events({row.first_event for row in rows})
    only = node.field if isinstance(node, FieldName) else None
    found = []
    for _, of_dataset in groupby(rows, key=lambda row: row.dataset_id):
        before: SchemaRow | None = None
        for row in of_dataset:
            changes = column_changes(columns_of(before), columns_of(row))
            before = row
            if kept := tuple(one for one in changes if only is None or one.name == only):
                dataset = names[row.dataset_id]
                assert isinstance(dataset, DatasetName)
                event = events.get(row.first_event)
                found.append(_schema(dataset, row, event[0] if event else None, kept))
    yield from sorted(found, key=lambda one: (-one.first_seen, str(one.dataset)))


def _schema(
    dataset: DatasetName, row: SchemaRow, event: AssertingEvent | None, changes: tuple[ColumnChange, ...]
) -> SchemaVersion:
    return SchemaVersion(
        dataset=dataset,
        first_seen=row.first_time,
        last_seen=row.last_time,
        event=event,
        columns=len(columns_of(row)),
        changes=changes,
    )
