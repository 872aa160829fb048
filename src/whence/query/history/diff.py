"""Differences between two states of lineage: two times, two stores, or two runs.

Lineage sets are named by their content, so only the sets of one side alone are read. The cost is that of the changes;
for two stores, also that of the lists of their current sets.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby

from whence.model.graph import FOREVER, HeldRow, RunRow, SchemaRow
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.completeness import completeness_of
from whence.query.answers.values import Completeness
from whence.query.history.edge_changes import Changes, Content, Differing, compare, content_of, named
from whence.query.history.schemas import Columns, column_changes, columns_of, schema_at
from whence.query.ports.graph import Past

NOW = FOREVER - 1
"""Now, as a time: before every end of a current interval."""


@dataclass(frozen=True, slots=True)
class Side:
    """One state: a graph at a time (None: now), or the lineage of one run.

    Runs of different jobs are compared by their edges, as if one job had asserted both.
    """

    graph: Past
    at: int | None = None
    run: RunRow | None = None
    job: JobName | None = None
    """The job that counts as the owner of the run's lineage, if not the run's own job."""

    @property
    def speaker(self) -> int:
        """The id of the job that counts as the owner of the run's lineage; 0 without a run."""
        return node_id(self.job or self.run.name.job) if self.run else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retyped:
    """A column whose declared type changed."""

    field: FieldName
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Added, removed and changed nodes and edges, each sorted by name.

    A node exists if a valid edge begins or ends at it; a column also if the dataset's schema lists it; a dataset also
    if it has a schema. Columns are FieldNames among the nodes.
    """

    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    retyped: tuple[Retyped, ...]
    edges: Changes
    before: Completeness
    after: Completeness

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.retyped or any(_all(self.edges)))


def diff(before: Side, after: Side) -> Diff:
    """The changes from one state to the other. Names are compared as reported; aliases are not merged."""
    owners = _touched(before, after)
    held = _held(before, owners), _held(after, owners)
    differing = {row.owner_id for row in held[0] ^ held[1]}
    old, new = (_content(side, rows, differing) for side, rows in zip((before, after), held, strict=True))
    found = _met(compare(old, new), before, after)
    schemas = _schemas(before, after)
    ends_old = {id_ for link in found.removed for id_ in link[:2]}
    ends_new = {id_ for link in found.added for id_ in link[:2]}
    names = _names(before, {id_ for link in found.removed | found.changed for id_ in link} | set(schemas))
    names |= _names(after, {id_ for link in found.added | found.changed for id_ in link} | set(schemas))
    columns = _columns(schemas, names)
    added = _only_in(after, before, ends_new, names, columns.added)
    removed = _only_in(before, after, ends_old, names, columns.removed)
    return Diff(
        added=tuple(sorted(added, key=str)),
        removed=tuple(sorted(removed, key=str)),
        retyped=tuple(sorted(columns.retyped, key=lambda one: str(one.field))),
        edges=named(found, old, new, names),
        before=_completeness(before),
        after=_completeness(after),
    )


def _met(found: Differing, before: Side, after: Side) -> Differing:
    """Leave out edges that the viewer may not see: neither an end nor the owner is visible."""
    ids = {id_ for link in found.links for id_ in link}
    hidden = before.graph.hidden(ids) | after.graph.hidden(ids)
    if not hidden:
        return found
    return Differing(*({link for link in links if not hidden.issuperset(link)} for links in found.each))


@dataclass(frozen=True, slots=True)
class _Columns:
    """Datasets and columns that only one of two schemas declares, and columns with different types."""

    added: AbstractSet[Node]
    removed: AbstractSet[Node]
    retyped: tuple[Retyped, ...]


def _touched(before: Side, after: Side) -> Sequence[int] | None:
    """The owners to compare, or None for all."""
    if before.graph is not after.graph or before.run or after.run:
        return None
    ends = sorted(NOW if side.at is None else side.at for side in (before, after))
    return before.graph.changed(ends[0], ends[1])


def _held(side: Side, owners: Sequence[int] | None) -> AbstractSet[HeldRow]:
    if side.run is None:
        return frozenset(side.graph.held(side.at, owners))
    asserted_sets = side.graph.asserted_sets([side.run.id]).get(side.run.id, ())
    return frozenset(HeldRow(side.speaker, set_id) for set_id in asserted_sets)


def _content(side: Side, held: AbstractSet[HeldRow], owners: AbstractSet[int]) -> Content:
    """The edges of some owners, from all of their sets, since an edge may be in several."""
    by_set: dict[int, list[int]] = {}
    for row in held:
        if row.owner_id in owners:
            by_set.setdefault(row.set_id, []).append(row.owner_id)
    edges = side.graph.content(sorted(by_set))
    return content_of((owner, edge) for edge in edges for owner in by_set[edge.set_id])


def _names(side: Side, ids: Iterable[int]) -> dict[int, Node]:
    return dict(side.graph.nodes(sorted(set(ids))))


def _only_in(
    here: Side, there: Side, ends: AbstractSet[int], names: Mapping[int, Node], declared: AbstractSet[Node]
) -> set[Node]:
    """The nodes at the ends of edges, or declared, that do not exist on the other side."""
    known = {id_: names[id_] for id_ in ends} | {node_id(node): node for node in declared}
    return {known[id_] for id_ in known.keys() - _there(there, known)}


def _there(side: Side, nodes: Mapping[int, Node]) -> set[int]:
    """Which of the nodes exist: an edge is at them, or a schema declares them."""
    if side.run is not None:
        return {end for link in _content(side, _held(side, None), {side.speaker}) for end in link}
    at_edges = side.graph.present(sorted(nodes), side.at)
    datasets = {node_id(whole_of) for node in nodes.values() if (whole_of := _dataset(node))}
    columns_by_dataset = {row.dataset_id: columns_of(row) for row in _schemas_of(side, sorted(datasets)).values()}
    return at_edges | {id_ for id_, node in nodes.items() if _is_declared(node, columns_by_dataset)}


def _dataset(node: Node) -> DatasetName | None:
    return node.dataset if isinstance(node, FieldName) else node if isinstance(node, DatasetName) else None


def _is_declared(node: Node, columns_by_dataset: Mapping[int, Columns]) -> bool:
    match node:
        case FieldName(dataset, name):
            return name in columns_by_dataset.get(node_id(dataset), {})
        case DatasetName():
            return node_id(node) in columns_by_dataset
    return False


def _schemas(before: Side, after: Side) -> dict[int, tuple[SchemaRow | None, SchemaRow | None]]:
    """The datasets whose schemas differ, with both schemas."""
    if before.run or after.run:
        return {}
    since = None
    if before.graph is after.graph:
        since = min(NOW if side.at is None else side.at for side in (before, after))
    datasets = sorted({*before.graph.described(since), *after.graph.described(since)})
    old, new = _schemas_of(before, datasets), _schemas_of(after, datasets)
    pairs = {id_: (old.get(id_), new.get(id_)) for id_ in datasets}
    return {id_: pair for id_, pair in pairs.items() if _body(pair[0]) != _body(pair[1])}


def _schemas_of(side: Side, datasets: Sequence[int]) -> dict[int, SchemaRow]:
    rows = side.graph.schemas(datasets) if datasets else ()
    grouped = {id_: list(several) for id_, several in groupby(rows, key=lambda row: row.dataset_id)}
    chosen = {id_: schema_at(several, side.at) for id_, several in grouped.items()}
    return {id_: row for id_, row in chosen.items() if row is not None and row.payload}


def _body(row: SchemaRow | None) -> int | None:
    return None if row is None else row.body_id


def _columns(schemas: Mapping[int, tuple[SchemaRow | None, SchemaRow | None]], names: Mapping[int, Node]) -> _Columns:
    added: set[Node] = set()
    removed: set[Node] = set()
    retyped: list[Retyped] = []
    for id_, (old, new) in schemas.items():
        dataset = names[id_]
        assert isinstance(dataset, DatasetName)
        if old is None or new is None:
            (added if old is None else removed).add(dataset)
        for one in column_changes(columns_of(old), columns_of(new)):
            name = FieldName(dataset, one.name)
            if one.before is not None and one.after is not None:
                retyped.append(Retyped(field=name, before=one.before, after=one.after))
            else:
                (added if one.before is None else removed).add(name)
    return _Columns(added, removed, tuple(retyped))


def _completeness(side: Side) -> Completeness:
    at = side.at if side.run is None else side.run.seen_from
    completeness = completeness_of(side.graph, at)
    if completeness.stopped_by != "beginning":
        return completeness
    # The state before the first event is empty, and therefore completely known.
    return replace(completeness, complete=True, stopped_by=None, recorded_from=None)


def _all(changes: Changes) -> tuple[int, int, int]:
    return len(changes.added), len(changes.removed), len(changes.changed)
