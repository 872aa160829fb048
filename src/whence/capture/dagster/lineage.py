"""The lineage of materializations: which assets each was made from, and which of their columns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture.dagster.metadata import ColumnSources, metadata_of, pairs
from whence.capture.dagster.records import Key, key_of
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import job_lineage
from whence_client.events.columns import NOT_CAPTURED, ColumnEdge, column_facets
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Facet

_INPUT = "dagster/input_data_version/"


@dataclass(frozen=True, slots=True)
class Made:
    """An asset that a step materialized, one event for each partition, and the datasets of the assets it came from."""

    key: Key
    dataset: Dataset
    events: list[Json]
    sources: Mapping[Key, Dataset]


def sources_of(event: Json, definition: Json) -> tuple[Key, ...]:
    """The assets that a materialization was made from: as it recorded them, else by today's definition."""
    tags = pairs(event.get("tags"))
    recorded = [tuple(name.removeprefix(_INPUT).split("/")) for name in tags if name.startswith(_INPUT)]
    declared = [key_of(one) for one in definition.get("dependencyKeys") or ()]
    columns = metadata_of(event).column_sources() or {}
    mapped = [key for sources in columns.values() for key, _ in sources]
    known = recorded if _records_sources(tags) else declared
    return tuple(dict.fromkeys((*known, *mapped)))


def column_facets_of(made: Made) -> dict[str, Facet]:
    """The facets `columnLineage` and `whence_columnEvidence` of an output."""
    event = metadata_of(made.events[-1])
    reported = event.column_sources()
    names = [one.name for one in event.columns()] or list(reported or ())
    if reported is None and not names:
        return {}
    edges = [
        ColumnEdge(source[column], name, description="") for name, source, column in _column_edges(made, reported or {})
    ]
    explained = {one.target for one in edges}
    gaps = {name: NOT_CAPTURED for name in (*names, *(reported or {})) if name not in explained}
    return column_facets(edges, method="declared", unexplained=gaps)


def lineage_facet(made: Iterable[Made]) -> Facet:
    """The job facet `lineage`: of each output its own sources. Without it, each would have those of all outputs."""
    return job_lineage(edge for one in made for edge in _edges(one))


def _edges(made: Made) -> Iterator[Edge]:
    target, explained = DatasetName(*made.dataset.key), set()
    reported = metadata_of(made.events[-1]).column_sources() or {}
    for name, source, column in _column_edges(made, reported):
        explained.add(source.key)
        origin = FieldName(DatasetName(*source.key), column)
        yield Edge(source=origin, target=FieldName(target, name), type="DIRECT", subtype="TRANSFORMATION")
    for source in made.sources.values():
        if source.key not in explained and source.key != made.dataset.key:
            yield Edge(source=DatasetName(*source.key), target=target)


def _column_edges(made: Made, reported: ColumnSources) -> Iterator[tuple[str, Dataset, str]]:
    for name, sources in reported.items():
        for key, column in sources:
            source = made.dataset if key == made.key else made.sources.get(key)
            if source is not None:
                yield name, source, column


def _records_sources(tags: Mapping[str, str]) -> bool:
    """Whether Dagster recorded the sources: it does for what a step makes, not for what somebody reports."""
    return "dagster/code_version" in tags
