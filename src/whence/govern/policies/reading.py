"""Reading what policies judge: all datasets with their columns, and how sensitive data passes between them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from whence.govern.policies.assembly import Categories, KnownGraph, make_estate
from whence.govern.policies.estate import Estate
from whence.model.graph import EdgeRow
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.model.records.certification import CertificationText
from whence.model.sensitivity import Grade
from whence.model.traits import Traits
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.sensitivity.disclosures import NONE, Declassifiers, Way, way_between
from whence.query.sensitivity.whole_graph import WholeGraph, list_datasets
from whence.query.traversal.edges import transformations_of
from whence.query.traversal.representatives import Representatives


def read_whole_graph(catalog: Catalog, graph: Graph, at: int | None = None) -> KnownGraph:
    """The graph of all datasets that a catalog lists, with everything upstream of them."""
    return _read(graph, (one.id for one in list_datasets(catalog)), at)


def read_names(graph: Graph, datasets: Iterable[DatasetName]) -> Mapping[DatasetName, DatasetName]:
    """The name that the graph gives to each dataset of which it knows another one."""
    ids = {node_id(one): one for one in datasets}
    identity = Representatives(graph)
    identity.learn([(id_, id_) for id_ in ids])
    canonical = {one: identity.names.get(identity.canonical(id_)) for id_, one in ids.items()}
    return {one: name for one, name in canonical.items() if isinstance(name, DatasetName)}


def read_estate(
    graph: Graph,
    datasets: Iterable[int],
    categories: Categories,
    at: int | None = None,
    certified: Mapping[DatasetName, CertificationText] | None = None,
    declassifiers: Declassifiers = NONE,
) -> Estate:
    """The estate of some datasets and all that is upstream of them, at a time (µs), None: now.

    `categories`: the tags of each category beside those that are known everywhere. `certified`: what rules of
    certification say of datasets that have one. `declassifiers`: functions, with what each leaves at most.
    """
    return make_estate(replace(_read(graph, datasets, at), certified=certified or {}), categories, declassifiers)


def _read(graph: Graph, datasets: Iterable[int], at: int | None) -> KnownGraph:
    found = WholeGraph(graph, at)
    found.read(sorted(set(datasets)))
    names = found.names()
    return KnownGraph(
        ways=(*_ways(found, names), *_assumed_ways(found, names)),
        traits=_traits(found, names),
        columns=frozenset(name for name in names.values() if isinstance(name, FieldName)),
        inputs=frozenset((names[a], names[b]) for a, b in found.inputs if a in names and b in names),
        hidden=frozenset(names[id_] for id_ in graph.hidden(names)),
        complete=found.is_complete,
    )


def _ways(found: WholeGraph, names: Mapping[int, Node]) -> Iterator[Way]:
    """How much passes along each edge."""
    rows: dict[tuple[Node, Node], list[EdgeRow]] = {}
    for row in found.rows:
        if row.far_id in names and row.near_id in names:
            rows.setdefault((names[row.far_id], names[row.near_id]), []).append(row)
    return (way_between(*ends, transformations_of(several)) for ends, several in rows.items())


def _assumed_ways(found: WholeGraph, names: Mapping[int, Node]) -> Iterator[Way]:
    """What jobs may pass on that do not report which columns they read."""
    return (
        Way(names[other], names[near], Grade.FULL, Grade.NONE)
        for near, other in found.gaps
        if {near, other} <= names.keys()
    )


def _traits(found: WholeGraph, names: Mapping[int, Node]) -> Mapping[DatasetName, Traits]:
    """What is asserted of each dataset, under all its names."""
    traits = ((names.get(id_), one) for id_, one in found.traits().items())
    return {name: one for name, one in traits if isinstance(name, DatasetName)}
