"""The sensitive data in a dataset or column, and where the sensitive data of one goes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.errors import QuestionError
from whence.model.graph import Direction, Grain
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.transformation_texts import describe_steps
from whence.query.answers.values import BOTH, Completeness, Question
from whence.query.ports.graph import Graph
from whence.query.sensitivity.disclosures import Way, way_of
from whence.query.sensitivity.marks import Mark, marks_of
from whence.query.sensitivity.propagation import Ways, Widths, spread
from whence.query.traversal.column_gaps import read_gaps
from whence.query.traversal.edges import assemble_edges, names_of
from whence.query.traversal.result import completeness
from whence.query.traversal.traits import TraitReader
from whence.query.traversal.traversal import Traversal, TraversalSpec, traverse

UNTAGGED = "untagged"
"""The category of the columns of a question about data that no tag marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """How much of the sensitive columns of a category a node shows at most. `proven`: so much of it for certain; if it
    is less, the label is assumed. `path`: a shortest way with this grade, from a sensitive column to the node; `steps`:
    what happens to the value on each step of it, if that was asked.
    """

    node: Node
    category: str
    grade: Grade
    proven: Grade
    path: tuple[Node, ...]
    steps: tuple[str, ...] = ()

    @property
    def is_assumed(self) -> bool:
        """Whether it may be less, because how the values pass was not read, or because the tag is on the dataset."""
        return self.proven < self.grade

    @property
    def order(self) -> tuple[int, str, str]:
        """The highest grade first, then by category and name."""
        return -self.grade, self.category, str(self.node)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The labels of at least a grade, in order. `counts`: those of every grade. `sources`: the sensitive columns among
    the nodes that were searched. `gaps`: the owners that reported no columns where the search ended.
    """

    root: Node
    direction: Direction
    at_least: Grade
    labels: tuple[Label, ...]
    counts: Mapping[Grade, int]
    sources: tuple[Node, ...]
    gaps: tuple[Node, ...]
    completeness: Completeness


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityQuestion:
    """`direction` UPSTREAM: which labels the root has; DOWNSTREAM: which labels its data gives to others. `tags` mark
    sensitive columns (`marks_of`). `at_least`: the lowest grade to list.
    """

    direction: Direction
    range: Question
    tags: tuple[str, ...] = ()
    at_least: Grade = Grade.PARTIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledGraph:
    """The labels of every node around a root, those of its own columns (`own`) among them, in order; `flows`: how much
    passes along each edge at most; `direct`: those by which values are made, and not only rows chosen. The rest is as
    in `Sensitivity`.
    """

    root: Node
    own: frozenset[Node]
    labels: tuple[Label, ...]
    flows: Widths
    direct: frozenset[tuple[Node, Node]]
    sources: tuple[Node, ...]
    gaps: tuple[Node, ...]
    completeness: Completeness


def sensitivity(graph: Graph, root: Node, question: SensitivityQuestion) -> Sensitivity:
    """The sensitivity labels of a dataset or column, or those that its data gives to others.

    Tags and edges are those of the question's time. Raises QuestionError for a job.
    """
    found, is_upstream = label_graph(graph, root, question), question.direction is Direction.UPSTREAM
    labels = [one for one in found.labels if (one.node in found.own) is is_upstream]
    return Sensitivity(
        root=found.root,
        direction=question.direction,
        at_least=question.at_least,
        labels=tuple(one for one in labels if one.grade >= question.at_least),
        counts=Counter(one.grade for one in labels),
        sources=found.sources,
        gaps=found.gaps,
        completeness=found.completeness,
    )


def label_graph(graph: Graph, root: Node, question: SensitivityQuestion) -> LabelledGraph:
    """The sensitivity labels of all that is upstream or downstream of a dataset or column.

    Upstream every sensitive column counts, downstream those of the root. Raises QuestionError for a job.
    """
    if isinstance(root, JobName):
        raise QuestionError("node", "a job has no columns; ask for a dataset or a column")
    spec = TraversalSpec(
        direction=question.direction,
        grain=Grain.FIELD,
        types=question.range.types or BOTH,
        question=question.range,
    )
    walk = traverse(graph, root, spec)
    names = names_of(walk, walk.depth)
    own = _columns_of_root(walk, names[walk.root])
    marked = _marked(walk, names, own, question.tags)
    if question.direction is Direction.DOWNSTREAM:
        marked = _of_root(marked, own)
    found = tuple(_ways(walk, names))
    ways, known = widths_of(found), {(one.source, one.target): one.how for one in found}
    labels = (replace(one, steps=describe_steps(one.path, known)) for one in labels_of(ways, marked, own))
    gaps = read_gaps(walk, set(walk.depth))
    return LabelledGraph(
        root=names[walk.root],
        own=own,
        labels=tuple(sorted(labels, key=lambda one: one.order)),
        flows=ways[0],
        direct=frozenset((one.source, one.target) for one in found if _is_direct(one)),
        sources=tuple(sorted(marked, key=str)),
        gaps=tuple(sorted(names_of(walk, {key.owner for key in gaps}).values(), key=str)),
        completeness=completeness(walk, has_gaps=bool(gaps)),
    )


def _columns_of_root(walk: Traversal, root: Node) -> frozenset[Node]:
    """The column in the question; or the dataset and its columns."""
    if not isinstance(root, DatasetName):
        return frozenset({root})
    rows = walk.graph.fields(walk.identity.members(walk.root))
    return frozenset({root, *(FieldName(root, row.name) for row in rows)})


def _marked(
    walk: Traversal, names: Mapping[int, Node], own: frozenset[Node], tags: Sequence[str]
) -> dict[Node, frozenset[Mark]]:
    """The sensitive columns among the reached ones and those of the question; and the tagged datasets, such as files
    and models, of which no column is known.
    """
    traits = TraitReader(walk.identity, walk.spec.question.at)
    traits.learn(walk.depth)
    fields = {name: traits.of(id_) for id_, name in names.items() if isinstance(name, FieldName)}
    fields |= {name: traits.of(walk.root) for name in own if isinstance(name, FieldName)}
    found: dict[Node, frozenset[Mark]] = {name: marks_of(of, name.field, tags) for name, of in fields.items()}
    known = {name.dataset for name in fields}
    wholes = ((id_, name) for id_, name in names.items() if isinstance(name, DatasetName) and name not in known)
    found |= {name: marks_of(traits.of(id_), "", tags) for id_, name in wholes}
    return {name: marks for name, marks in found.items() if marks}


def _of_root(marked: Mapping[Node, frozenset[Mark]], own: frozenset[Node]) -> dict[Node, frozenset[Mark]]:
    """The sensitive columns of the root; if no tag marks any, all of them."""
    found = {node: marks for node, marks in marked.items() if node in own}
    return found or {node: frozenset({Mark(UNTAGGED, of_dataset=False)}) for node in own}


def _ways(walk: Traversal, names: Mapping[int, Node]) -> Iterator[Way]:
    """How values pass between nodes."""
    walk.read(walk.depth)
    return map(way_of, assemble_edges(walk, walk.links, (), names).edges)


def _is_direct(way: Way) -> bool:
    return not way.how or any(one.type != "INDIRECT" for one in way.how)


def widths_of(ways: Iterable[Way]) -> tuple[Widths, Widths]:
    """How much passes between nodes at most, and how much for certain, over all ways between the same two."""
    at_most: dict[tuple[Node, Node], Grade] = {}
    proven: dict[tuple[Node, Node], Grade] = {}
    for way in ways:
        ends = (way.source, way.target)
        at_most[ends] = max(at_most.get(ends, Grade.NONE), way.at_most)
        proven[ends] = max(proven.get(ends, Grade.NONE), way.proven)
    return at_most, proven


def labels_of(
    ways: tuple[Widths, Widths], marked: Mapping[Node, frozenset[Mark]], columns: Iterable[Node] = ()
) -> Iterator[Label]:
    """The labels of all nodes that sensitive columns reach. `columns`: those that may have no edge but exist."""
    known = tuple(Ways.of(one).with_columns(columns) for one in ways)
    for category in sorted({mark.category for marks in marked.values() for mark in marks}):
        own, any_ = {Mark(category, of_dataset=False)}, {Mark(category, one) for one in (False, True)}
        at_most, proven = (
            spread(each, {node: Grade.FULL for node, marks in marked.items() if marks & wanted})
            for each, wanted in zip(known, (any_, own), strict=True)
        )
        for node, grade in at_most.grades.items():
            certain = proven.grades.get(node, Grade.NONE)
            yield Label(node=node, category=category, grade=grade, proven=certain, path=at_most.path(node))
