"""Where the data of a person is: what a request of a data subject (GDPR, articles 15 and 17) must find."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, Node
from whence.model.sensitivity import Grade
from whence.model.traits import Traits, parse_traits
from whence.query.answers.completeness import combine_completeness, graph_version
from whence.query.answers.values import Completeness, dataset_of
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.sensitivity.erasure_order import erasure_steps
from whence.query.sensitivity.labels import Label, LabelledGraph, SensitivityQuestion, label_graph
from whence.query.sensitivity.marks import marks_of
from whence.query.sensitivity.retention import Retention, retention_of
from whence.query.traversal.representatives import Representatives, canonical_root
from whence.query.traversal.traits import TraitReader

MOST_STARTS = 200
"""The most tagged datasets from which an answer starts."""
MOST_READS = 10_000
"""The most edges to jobs that are read for the readers of one dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOfData:
    """A dataset with data of the person. `step`: when to erase it. `labels`: of its columns, or of the dataset.

    `last_written`: µs, None if no run is known. `readers`: jobs; `hidden_readers`: jobs that the viewer may not see.
    `must_keep_days`: the shortest retention of what it holds enough of, if its own is longer or not set.
    """

    dataset: DatasetName
    step: int
    labels: tuple[Label, ...]
    types: tuple[str, ...]
    owners: tuple[str, ...]
    tier: str
    retention: Retention | None
    must_keep_days: int | None
    last_written: int | None
    readers: tuple[JobName, ...]
    hidden_readers: int

    @property
    def grade(self) -> Grade:
        """The highest grade of its labels."""
        return max(one.grade for one in self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectData:
    """Where the data of a person is, in the order in which to erase it. `starts`: where it comes in; `more_starts`: how
    many more tagged datasets there are, from which the answer did not start. `gaps`: as in `Sensitivity`.
    """

    starts: tuple[Node, ...]
    more_starts: int
    at_least: Grade
    places: tuple[PlaceOfData, ...]
    gaps: tuple[Node, ...]
    completeness: Completeness


def subject_data(catalog: Catalog, graph: Graph, root: Node | None, question: SensitivityQuestion) -> SubjectData:
    """Where the data of a dataset or column is; without one, that of every dataset that the question's tags mark.

    Raises QuestionError for a job.
    """
    roots = [root] if root else tagged_datasets(catalog, question.tags, question.range.at)
    downstream = replace(question, direction=Direction.DOWNSTREAM)
    found = [label_graph(graph, one, downstream) for one in roots[:MOST_STARTS]]
    labels = _highest(one for part in found for one in part.labels if one.grade >= question.at_least)
    flows = {ends for part in found for ends, width in part.flows.items() if width >= question.at_least}
    return SubjectData(
        starts=tuple(sorted({node for part in found for node in part.sources or part.own}, key=str)),
        more_starts=max(len(roots) - MOST_STARTS, 0),
        at_least=question.at_least,
        places=_places(catalog, graph, labels, flows, question.range.at),
        gaps=tuple(sorted({gap for part in found for gap in part.gaps}, key=str)),
        completeness=_completeness(graph, found, question, len(roots) > MOST_STARTS),
    )


def tagged_datasets(catalog: Catalog, tags: Sequence[str], at: int | None = None) -> list[Node]:
    """The datasets that a tag marks at a time (µs), None: now, or a column of which: by name."""
    marked = []
    for id_, payload in catalog.tag_facets(at):
        traits = parse_traits([("tags", payload)])
        if any(marks_of(traits, on, tags) for _, _, on in traits.tags):
            marked.append(id_)
    gone = catalog.deleted(marked)
    entries = catalog.entries([id_ for id_ in marked if id_ not in gone]).values()
    return sorted({one.name for one in entries if isinstance(one.name, DatasetName)}, key=str)


def _highest(labels: Iterable[Label]) -> list[Label]:
    """One label for each node and category: the highest grade, and of two alike the shorter way."""
    several: dict[tuple[Node, str], list[Label]] = defaultdict(list)
    for one in labels:
        several[one.node, one.category].append(one)
    best = (
        replace(
            min(alike, key=lambda one: (-one.grade, len(one.path), *map(str, one.path))),
            proven=max(one.proven for one in alike),
        )
        for alike in several.values()
    )
    return sorted(best, key=lambda one: one.order)


def _places(
    catalog: Catalog, graph: Graph, labels: Sequence[Label], flows: Iterable[tuple[Node, Node]], at: int | None
) -> tuple[PlaceOfData, ...]:
    of_dataset: dict[DatasetName, list[Label]] = defaultdict(list)
    for one in labels:
        if (dataset := dataset_of(one.node)) is not None:
            of_dataset[dataset].append(one)
    between = {(dataset_of(source), dataset_of(target)) for source, target in flows}
    steps = erasure_steps(of_dataset, ((one, other) for one, other in between if one and other))
    known = {dataset: canonical_root(graph, dataset) for dataset in of_dataset}
    traits = {dataset: _traits(*found, at) for dataset, found in known.items()}
    kept = {dataset: retention_of(one) for dataset, one in traits.items()}
    written = catalog.last_write_times([node_id(one) for one in of_dataset])
    places = []
    for dataset, own in of_dataset.items():
        readers, hidden = _readers(*known[dataset], at)
        place = PlaceOfData(
            dataset=dataset,
            step=steps[dataset],
            labels=tuple(own),
            types=tuple(sorted(traits[dataset].types)),
            owners=tuple(sorted(traits[dataset].owners)),
            tier=traits[dataset].tier,
            retention=kept[dataset],
            must_keep_days=_exceeded(kept, dataset, own),
            last_written=written.get(node_id(dataset)),
            readers=readers,
            hidden_readers=hidden,
        )
        places.append(place)
    return tuple(sorted(places, key=lambda one: (one.step, str(one.dataset))))


def _traits(identity: Representatives, dataset: int, at: int | None) -> Traits:
    reader = TraitReader(identity, at)
    reader.learn_subjects([dataset])
    return reader.of_subject(dataset)


def _readers(identity: Representatives, dataset: int, at: int | None) -> tuple[tuple[JobName, ...], int]:
    """The jobs that read a dataset under any of its names, and how many more the viewer may not see."""
    graph = identity.graph
    rows = graph.edges(identity.members(dataset), Hop(Direction.DOWNSTREAM, Grain.DATASET, at), MOST_READS)
    jobs = {row.far_id for row in rows if not row.far_dataset_id}
    hidden = graph.hidden(jobs)
    names = graph.nodes(sorted(jobs - hidden)).values()
    return tuple(sorted((one for one in names if isinstance(one, JobName)), key=str)), len(hidden)


def _exceeded(kept: Mapping[DatasetName, Retention | None], dataset: DatasetName, own: Sequence[Label]) -> int | None:
    """The shortest retention (days) of the sources of which it shows at least a pseudonym, if it is not kept to."""
    sources = {dataset_of(node) for one in own if one.grade >= Grade.PSEUDONYMOUS for node in one.path[:-1]}
    limits = [one.days for source in sources - {dataset} if source and (one := kept.get(source)) and one.days]
    if not limits:
        return None
    its_own = kept[dataset]
    is_kept = its_own is not None and its_own.days is not None and its_own.days <= min(limits)
    return None if is_kept else min(limits)


def _completeness(
    graph: Graph, found: Sequence[LabelledGraph], question: SensitivityQuestion, is_cut: bool
) -> Completeness:
    if not found:
        return Completeness(
            complete=True,
            stopped_by=None,
            depth_reached=0,
            frontier=(),
            frontier_nodes=0,
            as_of=question.range.at,
            graph_version=graph_version(graph),
        )
    every = combine_completeness([one.completeness for one in found])
    return replace(every, complete=False, stopped_by=every.stopped_by or "nodes") if is_cut else every
