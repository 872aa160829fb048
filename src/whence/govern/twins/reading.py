"""Reading what decides which datasets are twins, and the report as JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from whence.govern.rule_states.records import certifications_at
from whence.govern.twins.derivations import Step
from whence.govern.twins.twins import TwinGraph, Twins, find_twins
from whence.model.access import Viewer
from whence.model.names import DatasetName, FieldName, Node
from whence.model.traits import Traits
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.sensitivity.whole_graph import WholeGraph, list_datasets


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTwins:
    """All groups of twins. `complete`: whether all lineage was read."""

    groups: Sequence[Twins]
    complete: bool


def read_twins(catalog: Catalog, graph: Graph, at: int | None = None) -> ReadTwins:
    """The twins among all datasets, by the lineage and tags at a time (µs), None: now; types are those of now."""
    found = WholeGraph(graph, at)
    found.read([one.id for one in list_datasets(catalog)])
    names = found.names()
    traits = {name: of for id_, of in found.traits().items() if isinstance(name := names.get(id_), DatasetName)}
    columns = {name for name in names.values() if isinstance(name, FieldName)}
    known = TwinGraph(
        steps=_steps(found, names),
        columns=frozenset(columns),
        traits=traits,
        unreported=frozenset(names[id_] for id_ in found.unreported if id_ in names),
        inputs=frozenset((names[far], names[near]) for far, near in found.inputs if far in names and near in names),
        certified=_certified(traits, certifications_at(catalog, at)),
    )
    return ReadTwins(groups=find_twins(known), complete=found.is_complete)


def _steps(found: WholeGraph, names: Mapping[int, Node]) -> Mapping[FieldName, Sequence[Step]]:
    steps: dict[FieldName, set[Step]] = {}
    for row in found.rows:
        source, target = names.get(row.far_id), names.get(row.near_id)
        if isinstance(source, FieldName) and isinstance(target, FieldName) and source != target:
            one = Step(source, row.type, row.subtype, row.masking, row.description)
            steps.setdefault(target, set()).add(one)
    return {target: tuple(some if len(some) == 1 else sorted(some, key=repr)) for target, some in steps.items()}


def _certified(traits: Mapping[DatasetName, Traits], statuses: Mapping[DatasetName, str]) -> frozenset[DatasetName]:
    tagged = {name for name, of in traits.items() if "certified" in of.tags_of("") and name not in statuses}
    return frozenset(tagged | {name for name, status in statuses.items() if status == "certified"})


class TwinReader(TypedDict):
    """A model or dashboard that reads a twin which is not preferred."""

    reader: str
    twin: str


class TwinGroup(TypedDict):
    """Datasets whose columns come from the same sources by the same formulas. `preferred`: those tagged `canonical`,
    or without one the certified ones. `hidden_sources`: columns that the caller may not see.
    """

    datasets: list[str]
    columns: int
    sources: list[str]
    hidden_sources: int
    preferred: list[str]
    readers: list[TwinReader]


class TwinsDocument(TypedDict):
    """All groups, first those with readers of a twin that is not preferred. `complete`: all lineage was read."""

    complete: bool
    groups: list[TwinGroup]


class ReadTwin(TypedDict):
    """A twin that a dataset reads, though others are preferred."""

    twin: str
    preferred: list[str]


class NodeTwins(TypedDict):
    """The twins of a dataset, those of them that are preferred, and the twins that it reads though others are."""

    complete: bool
    others: list[str]
    preferred: list[str]
    reads: list[ReadTwin]


MOST_SOURCES = 100
"""Sources that a group names."""


def twins_document(found: ReadTwins, viewer: Viewer) -> TwinsDocument:
    """The report as a viewer may read it: groups of which they see two datasets at least."""
    groups = (_group(one, viewer.can_see) for one in found.groups)
    return {"complete": found.complete, "groups": [one for one in groups if len(one["datasets"]) > 1]}


def _group(one: Twins, can_see: Callable[[Node], bool]) -> TwinGroup:
    sources = [str(column) for column in one.sources if can_see(column)]
    return {
        "datasets": [str(name) for name in one.datasets if can_see(name)],
        "columns": one.columns,
        "sources": sources[:MOST_SOURCES],
        "hidden_sources": len(one.sources) - len(sources),
        "preferred": [str(name) for name in one.preferred if can_see(name)],
        "readers": [
            {"reader": str(each.reader), "twin": str(each.twin)}
            for each in one.readers
            if can_see(each.reader) and can_see(each.twin)
        ],
    }


def node_twins(found: ReadTwins, name: DatasetName, viewer: Viewer) -> NodeTwins:
    """What the report says of one dataset, as a viewer may read it."""
    own = [one for one in found.groups if name in one.datasets]
    return {
        "complete": found.complete,
        "others": [str(each) for one in own for each in one.datasets if each != name and viewer.can_see(each)],
        "preferred": [str(each) for one in own for each in one.preferred if viewer.can_see(each)],
        "reads": [
            {"twin": str(each.twin), "preferred": [str(one) for one in group.preferred if viewer.can_see(one)]}
            for group in found.groups
            for each in group.readers
            if each.reader == name and viewer.can_see(each.twin)
        ],
    }
