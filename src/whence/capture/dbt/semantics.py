"""Nodes downstream of models: semantic models, metrics, exposures. Each is a dataset with declared lineage."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture import sql
from whence.capture.dbt.artifacts.names import Names
from whence.capture.dbt.artifacts.project import Project
from whence.capture.dbt.compiled.lineage import Reader
from whence.capture.dbt.facets import ownership, tags
from whence.capture.sql import Column, read_script
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.json.wire import Json, objects_in, text_of
from whence.openlineage.write import dataset_event, dataset_lineage, facet

EXPOSURES = {"dashboard": "DASHBOARD", "ml": "MODEL", "notebook": "REPORT", "analysis": "REPORT"}
"""The dataset type of each exposure type; others keep dbt's name, in capitals."""

_MASKING = ("count", "count_distinct", "sum_boolean")
_DIMENSION = re.compile(r"(?:Time)?Dimension\(\s*['\"](?P<entity>\w+)__(?P<name>\w+)['\"]")


@dataclass(frozen=True, slots=True)
class _Part:
    """An entity, a dimension or a measure of a semantic model, and its SQL expression."""

    name: str
    expression: str
    aggregation: str = ""


def semantic_events(reading: Reader) -> Iterator[Json]:
    """A dataset event for each semantic model, metric and exposure."""
    project, names = reading.project, reading.names
    for unique_id, entry in project.semantic_models.items():
        yield _event(project, names, unique_id, entry, "SEMANTIC_MODEL", _model_edges(reading, unique_id, entry))
    for unique_id, entry in project.metrics.items():
        yield _event(project, names, unique_id, entry, "METRIC", _metric_edges(project, names, unique_id, entry))
    for unique_id, entry in project.exposures.items():
        kind = text_of(entry.get("type"))
        edges = _exposure_edges(project, names, unique_id, entry)
        yield _event(project, names, unique_id, entry, EXPOSURES.get(kind, kind.upper()), edges)


def _event(project: Project, names: Names, unique_id: str, entry: Json, kind: str, edges: Iterable[Edge]) -> Json:
    facets: Json = {
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType=kind),
        "lineage": dataset_lineage(edges),
        **ownership(_owners(entry)),
        **tags(_texts(entry.get("tags")), _meta(entry)),
    }
    if description := text_of(entry.get("description")):
        facets["documentation"] = facet("DocumentationDatasetFacet", description=description)
    if url := text_of(entry.get("url")):
        facets["dataSource"] = facet("DatasourceDatasetFacet", name=text_of(entry.get("label")) or unique_id, uri=url)
    if fields := _fields(entry):
        facets["schema"] = facet("SchemaDatasetFacet", fields=[{"name": name} for name in fields])
    return dataset_event(project.time, names.own(unique_id), facets=facets)


def _model_edges(reading: Reader, unique_id: str, entry: Json) -> Iterator[Edge]:
    """Edges into each part of a semantic model from the columns in its expression, and into the whole from the model's
    table.
    """
    node = reading.project.nodes.get(next(iter(_parents(entry)), ""))
    if node is None:
        return
    own, source = reading.names.own(unique_id), reading.names.dataset(node)
    yield Edge(source=source, target=own)
    parts = list(_parts(entry))
    script = ";\n".join(f"select {part.expression} as {part.name} from {node.relation}" for part in parts)
    statements = read_script(script, reading.names.warehouse.dialect, reading.catalog)
    for part, statement in zip(parts, statements, strict=False):
        yield from _part_edges(part, reading.spelling.edges(statement.edges, None), source, own)


def _part_edges(part: _Part, edges: Iterable[sql.Edge], source: DatasetName, own: DatasetName) -> Iterator[Edge]:
    for edge in edges:
        if edge.type != "DIRECT" or not isinstance(edge.source, Column):
            continue
        yield Edge(
            source=FieldName(source, edge.source.name),
            target=FieldName(own, part.name),
            type="DIRECT",
            subtype="AGGREGATION" if part.aggregation else edge.subtype,
            masking=edge.masking or part.aggregation in _MASKING,
            description=f"{part.aggregation}({part.expression})" if part.aggregation else part.expression,
        )


def _metric_edges(project: Project, names: Names, unique_id: str, entry: Json) -> Iterator[Edge]:
    """Edges into a metric from measures and other metrics; the dimensions of its filters influence it as a whole."""
    metric = names.own(unique_id)
    value = FieldName(metric, text_of(entry.get("name")))
    params = _object(entry, "type_params")
    expression = text_of(params.get("expr"))
    for source in _measure_fields(project, names, params):
        yield Edge(source=source, target=value, type="DIRECT", subtype="IDENTITY")
    ingredients = [params.get("numerator"), params.get("denominator")]
    for _, other in (*objects_in(ingredients), *objects_in(params.get("metrics"))):
        if metric_id := _find_metric(project.metrics, text_of(other.get("name"))):
            source = FieldName(names.own(metric_id), text_of(other.get("name")))
            yield Edge(source=source, target=value, type="DIRECT", subtype="TRANSFORMATION", description=expression)
    for text in _filters(entry):
        for dimension in _dimensions(project, names, text):
            yield Edge(source=dimension, target=metric, type="INDIRECT", subtype="FILTER", description=text)


def _measure_fields(project: Project, names: Names, params: Json) -> Iterator[Node]:
    measure = params.get("measure")
    measure_name = text_of(measure.get("name") if isinstance(measure, dict) else measure)
    for unique_id, model in project.semantic_models.items():
        if any(part.aggregation and part.name == measure_name for part in _parts(model)):
            yield FieldName(names.own(unique_id), measure_name)


def _dimensions(project: Project, names: Names, text: str) -> Iterator[FieldName]:
    """The dimensions in `{{ Dimension('order__status') }} = …`: of the model whose primary entity is `order`."""
    for reference in _DIMENSION.finditer(text):
        for unique_id, model in project.semantic_models.items():
            primary = {
                text_of(entry.get("name"))
                for _, entry in objects_in(model.get("entities"))
                if entry.get("type") == "primary"
            }
            dimension_names = {text_of(entry.get("name")) for _, entry in objects_in(model.get("dimensions"))}
            if reference["entity"] in primary and reference["name"] in dimension_names:
                yield FieldName(names.own(unique_id), reference["name"])


def _exposure_edges(project: Project, names: Names, unique_id: str, entry: Json) -> Iterator[Edge]:
    """Edges into an exposure as a whole: dbt does not report which columns it uses."""
    for parent in _parents(entry):
        node = project.nodes.get(parent)
        yield Edge(source=names.dataset(node) if node else names.own(parent), target=names.own(unique_id))


def _parts(entry: Json) -> Iterator[_Part]:
    for kind in ("entities", "dimensions", "measures"):
        for _, part in objects_in(entry.get(kind)):
            name = text_of(part.get("name"))
            yield _Part(name, text_of(part.get("expr")) or name, text_of(part.get("agg")))


def _fields(entry: Json) -> list[str]:
    if entry.get("resource_type") == "metric":
        return [text_of(entry.get("name"))]
    return list(dict.fromkeys(part.name for part in _parts(entry)))


def _filters(entry: Json) -> list[str]:
    filters = _object(entry, "filter").get("where_filters")
    return [text_of(filter_entry.get("where_sql_template")) for _, filter_entry in objects_in(filters)]


def _find_metric(metrics: Mapping[str, Json], name: str) -> str:
    """The unique id of the metric with a name; empty if there is none."""
    return next((unique_id for unique_id, metric in metrics.items() if metric.get("name") == name), "")


def _parents(entry: Json) -> list[str]:
    return _texts(_object(entry, "depends_on").get("nodes"))


def _owners(entry: Json) -> list[tuple[str, str]]:
    owner = _object(entry, "owner")
    name = text_of(owner.get("email")) or text_of(owner.get("name"))
    return [(name, "OWNER")] if name else []


def _meta(entry: Json) -> Json:
    return _object(_object(entry, "config"), "meta") or _object(entry, "meta")


def _object(entry: Json, key: str) -> Json:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
