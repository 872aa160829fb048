"""What lies downstream of models: semantic models, metrics, exposures. Each is a dataset with declared lineage."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture import sql
from whence.capture.dbt.facets import ownership, tags
from whence.capture.dbt.lineage import Reader
from whence.capture.dbt.names import Names
from whence.capture.dbt.project import Project
from whence.capture.sql import Column, read_script
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.wire import Json, objects_in, text_of
from whence.openlineage.write import dataset_event, dataset_lineage, facet

EXPOSURES = {"dashboard": "DASHBOARD", "ml": "MODEL", "notebook": "REPORT", "analysis": "REPORT"}
"""The type of dataset that an exposure is; others are called as dbt calls them, in capitals."""

_MASKING = ("count", "count_distinct", "sum_boolean")
_DIMENSION = re.compile(r"(?:Time)?Dimension\(\s*['\"](?P<entity>\w+)__(?P<name>\w+)['\"]")


@dataclass(frozen=True, slots=True)
class _Part:
    """An entity, a dimension or a measure of a semantic model, and the SQL that makes it."""

    name: str
    expression: str
    aggregation: str = ""


def semantic_events(reading: Reader) -> Iterator[Json]:
    """A dataset event for each semantic model, metric and exposure."""
    project, names = reading.project, reading.names
    for unique_id, one in project.semantic_models.items():
        yield _event(project, names, unique_id, one, "SEMANTIC_MODEL", _of_model(reading, unique_id, one))
    for unique_id, one in project.metrics.items():
        yield _event(project, names, unique_id, one, "METRIC", _of_metric(project, names, unique_id, one))
    for unique_id, one in project.exposures.items():
        kind = text_of(one.get("type"))
        edges = _whole_edges(project, names, unique_id, one)
        yield _event(project, names, unique_id, one, EXPOSURES.get(kind, kind.upper()), edges)


def _event(project: Project, names: Names, unique_id: str, one: Json, kind: str, edges: Iterable[Edge]) -> Json:
    facets: Json = {
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType=kind),
        "lineage": dataset_lineage(edges),
        **ownership(_owners(one)),
        **tags(_texts(one.get("tags")), _meta(one)),
    }
    if description := text_of(one.get("description")):
        facets["documentation"] = facet("DocumentationDatasetFacet", description=description)
    if url := text_of(one.get("url")):
        facets["dataSource"] = facet("DatasourceDatasetFacet", name=text_of(one.get("label")) or unique_id, uri=url)
    if fields := _fields(one):
        facets["schema"] = facet("SchemaDatasetFacet", fields=[{"name": name} for name in fields])
    return dataset_event(project.time, names.own(unique_id), facets=facets)


def _of_model(reading: Reader, unique_id: str, one: Json) -> Iterator[Edge]:
    """Each part of a semantic model from the columns in its expression, and the whole from the model's table."""
    node = reading.project.nodes.get(next(iter(_parents(one)), ""))
    if node is None:
        return
    own, source = reading.names.own(unique_id), reading.names.dataset(node)
    yield Edge(source=source, target=own)
    parts = list(_parts(one))
    script = ";\n".join(f"select {part.expression} as {part.name} from {node.relation}" for part in parts)
    found = read_script(script, reading.names.warehouse.dialect, reading.catalog)
    for part, said in zip(parts, found, strict=False):
        yield from _into_part(part, reading.spelling.edges(said.edges, None), source, own)


def _into_part(part: _Part, edges: Iterable[sql.Edge], source: DatasetName, own: DatasetName) -> Iterator[Edge]:
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


def _of_metric(project: Project, names: Names, unique_id: str, one: Json) -> Iterator[Edge]:
    """A metric from measures and other metrics; the dimensions that filter it touch all of it."""
    own = names.own(unique_id)
    value = FieldName(own, text_of(one.get("name")))
    params = _object(one, "type_params")
    expression = text_of(params.get("expr"))
    for source in _measured(project, names, params):
        yield Edge(source=source, target=value, type="DIRECT", subtype="IDENTITY")
    ingredients = [params.get("numerator"), params.get("denominator")]
    for _, other in (*objects_in(ingredients), *objects_in(params.get("metrics"))):
        if found := _named(project.metrics, text_of(other.get("name"))):
            source = FieldName(names.own(found), text_of(other.get("name")))
            yield Edge(source=source, target=value, type="DIRECT", subtype="TRANSFORMATION", description=expression)
    for text in _filters(one):
        for dimension in _dimensions(project, names, text):
            yield Edge(source=dimension, target=own, type="INDIRECT", subtype="FILTER", description=text)


def _measured(project: Project, names: Names, params: Json) -> Iterator[Node]:
    measure = params.get("measure")
    wanted = text_of(measure.get("name") if isinstance(measure, dict) else measure)
    for unique_id, model in project.semantic_models.items():
        if any(part.aggregation and part.name == wanted for part in _parts(model)):
            yield FieldName(names.own(unique_id), wanted)


def _dimensions(project: Project, names: Names, text: str) -> Iterator[FieldName]:
    """The dimensions in `{{ Dimension('order__status') }} = …`: of the model whose primary entity is `order`."""
    for said in _DIMENSION.finditer(text):
        for unique_id, model in project.semantic_models.items():
            primary = {
                text_of(one.get("name")) for _, one in objects_in(model.get("entities")) if one.get("type") == "primary"
            }
            known = {text_of(one.get("name")) for _, one in objects_in(model.get("dimensions"))}
            if said["entity"] in primary and said["name"] in known:
                yield FieldName(names.own(unique_id), said["name"])


def _whole_edges(project: Project, names: Names, unique_id: str, one: Json) -> Iterator[Edge]:
    """What an exposure depends on, as a whole: dbt does not say which columns."""
    for parent in _parents(one):
        node = project.nodes.get(parent)
        yield Edge(source=names.dataset(node) if node else names.own(parent), target=names.own(unique_id))


def _parts(one: Json) -> Iterator[_Part]:
    for kind in ("entities", "dimensions", "measures"):
        for _, part in objects_in(one.get(kind)):
            name = text_of(part.get("name"))
            yield _Part(name, text_of(part.get("expr")) or name, text_of(part.get("agg")))


def _fields(one: Json) -> list[str]:
    if one.get("resource_type") == "metric":
        return [text_of(one.get("name"))]
    return list(dict.fromkeys(part.name for part in _parts(one)))


def _filters(one: Json) -> list[str]:
    some = _object(one, "filter").get("where_filters")
    return [text_of(each.get("where_sql_template")) for _, each in objects_in(some)]


def _named(some: Mapping[str, Json], name: str) -> str:
    """The unique id of the metric with a name; empty if there is none."""
    return next((unique_id for unique_id, one in some.items() if one.get("name") == name), "")


def _parents(one: Json) -> list[str]:
    return _texts(_object(one, "depends_on").get("nodes"))


def _owners(one: Json) -> list[tuple[str, str]]:
    owner = _object(one, "owner")
    name = text_of(owner.get("email")) or text_of(owner.get("name"))
    return [(name, "OWNER")] if name else []


def _meta(one: Json) -> Json:
    return _object(_object(one, "config"), "meta") or _object(one, "meta")


def _object(one: Json, key: str) -> Json:
    value = one.get(key)
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
