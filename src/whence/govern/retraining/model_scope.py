"""What models are made of: the columns upstream of each, by one read of the graph for all of them together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whence.model.graph import Grain
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.completeness import completeness_of
from whence.query.history.changes.scope import Scope
from whence.query.ports.graph import Graph
from whence.query.sensitivity.whole_graph import WholeGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLineage:
    """Which columns each column, or whole dataset, is made of or decided by. `columns`: of each dataset; `unreported`:
    columns and datasets of which a job does not report their columns; `inputs`: the datasets that a dataset is made of.
    """

    sources: Mapping[Node, frozenset[FieldName]] = field(default_factory=dict)
    columns: Mapping[DatasetName, frozenset[FieldName]] = field(default_factory=dict)
    unreported: frozenset[Node] = frozenset()
    inputs: Mapping[DatasetName, frozenset[DatasetName]] = field(default_factory=dict)


def columns_upstream(
    known: ModelLineage, model: DatasetName
) -> tuple[Mapping[DatasetName, set[str] | None], Mapping[DatasetName, int]]:
    """The columns that a model is made of, by dataset, None for all of them; and the hops to each dataset.

    Where a job does not report its columns, whole datasets stand for them.
    """
    columns: dict[DatasetName, set[str] | None] = {model: None}
    distances = {model: 0}
    frontier: list[Node] = [model, *known.columns.get(model, ())]
    seen, depth = set[Node](frontier), 0
    while frontier:
        depth += 1
        found = list(dict.fromkeys(one for node in frontier for one in _before(known, node)))
        frontier = []
        for one in found:
            dataset = one.dataset if isinstance(one, FieldName) else one
            distances.setdefault(dataset, depth)
            chosen = columns.setdefault(dataset, set())
            if isinstance(one, FieldName) and chosen is not None:
                chosen.add(one.field)
            elif isinstance(one, DatasetName):
                columns[dataset] = None
            wider = (one,) if isinstance(one, FieldName) else (one, *known.columns.get(one, ()))
            frontier += [each for each in wider if each not in seen]
            seen.update(wider)
    return columns, distances


def _before(known: ModelLineage, node: Node) -> Iterator[FieldName | DatasetName]:
    """What a node is made of in one step. What decides the rows of a dataset decides each of its columns."""
    dataset = node.dataset if isinstance(node, FieldName) else node
    assert isinstance(dataset, DatasetName)
    yield from sorted(known.sources.get(node, ()), key=str)
    if node != dataset:
        yield from sorted(known.sources.get(dataset, ()), key=str)
    has_columns = bool(known.columns.get(dataset))
    is_whole = node == dataset and not has_columns
    if node in known.unreported or dataset in known.unreported or is_whole:
        yield from sorted(known.inputs.get(dataset, ()), key=str)


def read_scopes(graph: Graph, models: Sequence[DatasetName]) -> Iterator[Scope]:
    """The scope of each model: the columns that it is made of, under all names of their datasets."""
    found = WholeGraph(graph)
    found.read(sorted(map(node_id, models)))
    names = found.names()
    known, ids = _lineage(found, names), dict[Node, list[int]]()
    for id_, name in names.items():
        if isinstance(name, DatasetName):
            ids.setdefault(name, []).append(id_)
    for model in models:
        name = names.get(node_id(model), model)
        assert isinstance(name, DatasetName)
        columns, distances = columns_upstream(known, name)
        places = [(id_, one) for one in columns for id_ in ids.get(one, [node_id(one)])]
        yield Scope(
            root=model,
            grain=Grain.FIELD,
            completeness=completeness_of(graph, None),
            columns={id_: None if (some := columns[one]) is None else frozenset(some) for id_, one in places},
            names=dict(places),
            distances={id_: distances[one] for id_, one in places},
            edge_ends=frozenset(),
            not_known=(),
        )


def _lineage(found: WholeGraph, names: Mapping[int, Node]) -> ModelLineage:
    sources: dict[Node, set[FieldName]] = {}
    columns: dict[DatasetName, set[FieldName]] = {}
    inputs: dict[DatasetName, set[DatasetName]] = {}
    for row in found.rows:
        source, target = names.get(row.far_id), names.get(row.near_id)
        if isinstance(source, FieldName) and target is not None:
            sources.setdefault(target, set()).add(source)
    for name in names.values():
        if isinstance(name, FieldName):
            columns.setdefault(name.dataset, set()).add(name)
    for far, near in found.inputs:
        source, target = names.get(far), names.get(near)
        if isinstance(source, DatasetName) and isinstance(target, DatasetName) and source != target:
            inputs.setdefault(target, set()).add(source)
    return ModelLineage(
        sources={one: frozenset(some) for one, some in sources.items()},
        columns={one: frozenset(some) for one, some in columns.items()},
        unreported=frozenset(names[id_] for id_ in found.unreported if id_ in names),
        inputs={one: frozenset(some) for one, some in inputs.items()},
    )
