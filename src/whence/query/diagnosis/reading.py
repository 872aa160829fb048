"""Reads a case from a graph: the datasets upstream of a node with their writes, measurements and changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whence.errors import QuestionError
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.model.symptom import Symptom
from whence.query.answers.values import Completeness, Question, dataset_of
from whence.query.diagnosis.beginnings import read_beginnings, without_beginnings
from whence.query.diagnosis.beside import read_others
from whence.query.diagnosis.case import Candidate, Case, Change, ChangeKind
from whence.query.diagnosis.change_texts import change_text
from whence.query.diagnosis.flows import Link, link_of, read_flows
from whence.query.diagnosis.measured_series import Observed, observe
from whence.query.history.changes import values
from whence.query.history.changes.code import ReadCommits, code_changes
from whence.query.history.changes.contracts import ContractHistories
from whence.query.history.changes.lineage import is_on_the_way
from whence.query.history.changes.period import Period
from whence.query.history.changes.scope import Scope, scope_of
from whence.query.history.changes.timeline import changes_in
from whence.query.history.changes.transitions import TimelineGraph
from whence.query.runs.commits import FACET

MOST_CANDIDATES = 300
"""Datasets that one question ranks: the nearest."""

_KINDS: Mapping[values.ChangeKind, ChangeKind] = {
    values.ChangeKind.SCHEMA: ChangeKind.SCHEMA,
    values.ChangeKind.LINEAGE: ChangeKind.LINEAGE,
    values.ChangeKind.CONTRACT: ChangeKind.CHECK,
    values.ChangeKind.OBJECTIVE: ChangeKind.CHECK,
    values.ChangeKind.QUALITY: ChangeKind.CHECK,
    values.ChangeKind.RUN: ChangeKind.FAILURE,
}
"""What changes count as in the ranking. Versions of code do not: the weights are of faults of which only those in code
come with a commit (`docs/explanation/root-causes.md`). They are evidence for people.
"""
_HARMLESS = (values.Change.RECOVERED, values.Change.FULFILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCase:
    """A case, the datasets that its keys stand for, and the changes of each with their proofs."""

    case: Case
    datasets: tuple[DatasetName, ...]
    changes: Mapping[int, Sequence[values.UpstreamChange]]
    not_known: tuple[values.NotKnown, ...]
    completeness: Completeness


@dataclass(slots=True)
class _Ways:
    """How datasets are derived: from which, by which jobs, and what flows there."""

    parents: dict[DatasetName, set[DatasetName]] = field(default_factory=dict)
    writers: dict[DatasetName, set[int]] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)


def read_case(
    graph: TimelineGraph,
    contracts: ContractHistories,
    node: Node,
    period: Period,
    question: Question,
    symptom: Symptom | None,
    read_commits: ReadCommits | None = None,
) -> ReadCase:
    """The case of a dataset or column in a period. Raises QuestionError for a job, and what `read_commits` raises."""
    root = dataset_of(node)
    if root is None:
        raise QuestionError("node", "a job has no data; ask for a dataset or a column that it writes")
    scope = scope_of(graph, node, question, period.ends)
    code = code_changes(graph, scope, period.since, period.until, read_commits)
    changed = changes_in(graph, contracts, scope, period, code=code)
    chosen, is_cut = _nearest(scope)
    ways, ids = _read_ways(graph, scope, chosen, period), _ids(scope, chosen)
    observed = observe(graph, ids, ways.writers, period.until)
    beginnings = read_beginnings(graph, ids, observed.writes, changed.changes, period.since)
    changes = _changes_by_dataset(without_beginnings(changed.changes, beginnings), ways)
    candidates = _candidates(graph, scope, ids, ways, observed, changes)
    others = read_others(graph, scope, {name: key for key, name in enumerate(chosen)}, period)
    stopped_by = "nodes" if is_cut else "measurements" if observed.is_cut else None
    known = changed.completeness
    return ReadCase(
        case=Case(since=period.since, until=period.until, symptom=symptom, candidates=candidates, others=others),
        datasets=tuple(chosen),
        changes={key: changes.get(name, ()) for key, name in enumerate(chosen)},
        not_known=changed.not_known,
        completeness=known if stopped_by is None else replace(known, complete=False, stopped_by=stopped_by),
    )


def _nearest(scope: Scope) -> tuple[list[DatasetName], bool]:
    """The datasets of a scope, the requested one first, and whether there are more."""
    distances: dict[DatasetName, int] = {}
    for id_ in scope.datasets:
        name = scope.names[id_]
        assert isinstance(name, DatasetName)
        distances[name] = min(scope.distances[id_], distances.get(name, scope.distances[id_]))
    ordered = sorted(distances, key=lambda name: (distances[name], str(name)))
    return ordered[:MOST_CANDIDATES], len(ordered) > MOST_CANDIDATES


def _read_ways(graph: TimelineGraph, scope: Scope, chosen: Iterable[DatasetName], period: Period) -> _Ways:
    """The edges that were valid when the period began, or when it ended."""
    known, ways = set(chosen), _Ways()
    owners = graph.owners(sorted({*scope.edge_ends, *scope.datasets}))
    owner_of = {row.set_id: row.owner_id for at in period.ends for row in graph.held(at, owners)}
    edges = graph.content(owner_of)
    names = graph.nodes({end for edge in edges for end in (edge.source_id, edge.target_id)})
    for edge in edges:
        target = scope.names.get(edge.target_dataset_id)
        if not isinstance(target, DatasetName) or target not in known:
            continue
        owner = owner_of[edge.set_id]
        if kind_of(owner) is Kind.JOB:
            ways.writers.setdefault(target, set()).add(owner)
        source = scope.names.get(edge.source_dataset_id)
        if isinstance(source, DatasetName) and source != target and source in known and is_on_the_way(scope, edge):
            ways.parents.setdefault(target, set()).add(source)
            ends = ((source, _column(names.get(edge.source_id))), (target, _column(names.get(edge.target_id))))
            ways.links += [link for link in [link_of(*ends, edge.type, edge.subtype)] if link is not None]
    return ways


def _column(node: Node | None) -> str:
    return node.field if isinstance(node, FieldName) else ""


def _changes_by_dataset(
    changes: Iterable[values.UpstreamChange], ways: _Ways
) -> dict[DatasetName, list[values.UpstreamChange]]:
    """The changes of each dataset, and of the jobs that write it."""
    written: dict[int, list[DatasetName]] = {}
    for name, jobs in ways.writers.items():
        for job in jobs:
            written.setdefault(job, []).append(name)
    found: dict[DatasetName, list[values.UpstreamChange]] = {}
    for one in changes:
        if one.change in _HARMLESS:
            continue
        dataset = dataset_of(one.node)
        for name in [dataset] if dataset is not None else written.get(node_id(one.node), ()):
            found.setdefault(name, []).append(one)
    return found


def _ids(scope: Scope, chosen: Sequence[DatasetName]) -> dict[DatasetName, list[int]]:
    """The ids of each dataset under all its names."""
    ids: dict[DatasetName, list[int]] = {name: [] for name in chosen}
    for id_ in scope.datasets:
        name = scope.names[id_]
        if isinstance(name, DatasetName) and name in ids:
            ids[name].append(id_)
    return ids


def _candidates(
    graph: TimelineGraph,
    scope: Scope,
    ids: Mapping[DatasetName, Sequence[int]],
    ways: _Ways,
    observed: Observed,
    changes: Mapping[DatasetName, Sequence[values.UpstreamChange]],
) -> tuple[Candidate, ...]:
    keys, flows = {name: key for key, name in enumerate(ids)}, read_flows(ways.links)
    value_columns = flows.value_columns(next(iter(ids)), _column(scope.root))

    jobs = {job for several in ways.writers.values() for job in several}
    versioned = {row.subject_id for row in graph.facets(sorted(jobs), (FACET,))}

    def keys_of(several: Iterable[DatasetName]) -> tuple[int, ...]:
        return tuple(sorted(keys[one] for one in several))

    return tuple(
        Candidate(
            key=key,
            distance=min(scope.distances[id_] for id_ in ids[name]),
            parents=keys_of(ways.parents.get(name, ())),
            columns=_columns(scope, ids[name]),
            series=observed.series[name],
            writes=observed.writes[name],
            changes=tuple(_change(one) for one in changes.get(name, ()) if one.kind in _KINDS),
            has_commits=bool(ways.writers.get(name, set()) & versioned),
            value_parents=keys_of(flows.value_parents.get(name, ())),
            row_parents=keys_of(flows.row_parents.get(name, ())),
            value_columns=value_columns.get(name, ()),
        )
        for name, key in keys.items()
    )


def _columns(scope: Scope, ids: Sequence[int]) -> tuple[str, ...]:
    """The columns on the way; none if all are."""
    several = [scope.columns[id_] for id_ in ids]
    if any(columns is None for columns in several):
        return ()
    return tuple(sorted({name for columns in several for name in columns or ()}))


def _change(one: values.UpstreamChange) -> Change:
    # A new column, or a new source of the schema, breaks nothing that was derived before it.
    is_addition = one.kind is values.ChangeKind.SCHEMA and one.change is values.Change.ADDED
    return Change(kind=_KINDS[one.kind], time=one.time, text=change_text(one), is_relevant=not is_addition)
