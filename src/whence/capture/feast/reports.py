"""Feature views and feature services as datasets: their columns, lineage, owners, tags and descriptions."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whence.capture.bi.reports import Found, Lineage, Report, sort_edges
from whence.capture.feast.data_sources import Places
from whence.capture.feast.lineage import Views, has_function, request_inputs
from whence.capture.feast.registry import Registry, changed_at, name_of
from whence.capture.members import object_at, objects_at, text_at, texts_at
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence_client.events.facets import Facet, facet, own_facet

FEATURE_VIEW, FEATURE_SERVICE = "FEATURE_VIEW", "FEATURE_SERVICE"


def find_reports(registry: Registry, places: Places, namespace: str = "") -> Found:
    """All views and services of a registry. `namespace` is that of their datasets, `feast://PROJECT` if empty."""
    building = _Building(registry, Views(namespace=namespace or f"feast://{registry.project}", places=places))
    reports = (*map(building.view, registry.views), *map(building.service, registry.services))
    unread = {one.name.name: "; ".join(one.lineage.gaps) for one in reports if one.lineage.gaps}
    return Found(reports=reports, gaps={**registry.gaps, **unread}, at=registry.at)


@dataclass(frozen=True, slots=True)
class _Building:
    registry: Registry
    views: Views

    def view(self, found: Json) -> Report:
        """A feature view as a dataset."""
        spec = object_at(found, "spec")
        columns = {text_at(one, "name"): one for key in ("entityColumns", "features") for one in objects_at(spec, key)}
        lineage = self.views.read(spec)
        fields = [(name, columns[name]) for name in lineage.fields if name in columns]
        return self._report(
            found, self.views.name(name_of(found)), FEATURE_VIEW, lineage, fields, self._described(spec)
        )

    def service(self, found: Json) -> Report:
        """A feature service as a dataset."""
        spec = object_at(found, "spec")
        name = DatasetName(self.views.namespace, f"feature_services/{name_of(found)}")
        listed = tuple(_service_columns(spec))
        edges = [
            Edge(
                source=FieldName(self.views.name(view), text_at(feature, "name")),
                target=FieldName(name, column),
                type="DIRECT",
                subtype="IDENTITY",
            )
            for column, view, feature in listed
        ]
        edges += [Edge(source=self.views.name(view), target=name, type="DIRECT") for _, view, _ in listed]
        fields = [(column, feature) for column, _, feature in listed]
        lineage = Lineage(edges=sort_edges(edges), fields=tuple(column for column, _ in fields))
        return self._report(found, name, FEATURE_SERVICE, lineage, fields, {})

    def _report(
        self,
        found: Json,
        name: DatasetName,
        kind: str,
        lineage: Lineage,
        fields: Iterable[tuple[str, Json]],
        described: Json,
    ) -> Report:
        spec, listed = object_at(found, "spec"), tuple(fields)
        own = own_facet("FeastDatasetFacet", project=self.registry.project, **described)
        return Report(
            name=name,
            kind=kind,
            title=name_of(found),
            lineage=lineage,
            description=text_at(spec, "description"),
            owners=tuple(filter(None, (text_at(spec, "owner"),))),
            updated=changed_at(found),
            facets={"schema": _schema(listed), "whence_feast": own, **_tags(spec, listed)},
        )

    def _described(self, spec: Json) -> Json:
        """The facet `whence_feast` of a view: its entities, its sources, and how its features are computed."""
        sources = [object_at(spec, key) for key in ("batchSource", "streamSource")]
        members: Json = {
            "entities": [_entity(self.registry.entities.get(one, {}), one) for one in _entity_names(spec)],
            "sources": [_source(one) for one in sources if one],
            "requestInputs": list(request_inputs(spec)),
            "mode": text_at(spec, "mode") if has_function(spec) else "",
            "timeToLive": text_at(spec, "ttl").removesuffix("s"),
        }
        return {key: value for key, value in members.items() if value not in ("", "0", [])}


def _service_columns(spec: Json) -> Iterator[tuple[str, str, Json]]:
    """The columns of a service with view and feature. A name that two views have is qualified, as Feast does it."""
    projections = objects_at(spec, "features")
    counts = Counter(text_at(one, "name") for each in projections for one in objects_at(each, "featureColumns"))
    for projection in projections:
        view = text_at(projection, "featureViewName")
        alias = text_at(projection, "featureViewNameAlias") or view
        for feature in objects_at(projection, "featureColumns"):
            name = text_at(feature, "name")
            yield (f"{alias}__{name}" if counts[name] > 1 else name), view, feature


def _schema(fields: Iterable[tuple[str, Json]]) -> Facet:
    members = (
        {"name": name, "type": text_at(one, "valueType"), "description": text_at(one, "description")}
        for name, one in fields
    )
    listed = [{key: value for key, value in one.items() if value} for one in members]
    return facet("SchemaDatasetFacet", fields=listed)


def _tags(spec: Json, fields: Iterable[tuple[str, Json]]) -> dict[str, Facet]:
    tags = [{"key": key, "value": value, "source": "FEAST"} for key, value in sorted(texts_at(spec, "tags").items())]
    tags += [
        {"key": key, "value": value, "source": "FEAST", "field": name}
        for name, one in fields
        for key, value in sorted(texts_at(one, "tags").items())
    ]
    return {"tags": facet("TagsDatasetFacet", tags=tags)} if tags else {}


def _entity_names(spec: Json) -> tuple[str, ...]:
    listed = spec.get("entities")
    return tuple(one for one in listed if isinstance(one, str) and one != "__dummy") if isinstance(listed, list) else ()


def _entity(entity: Json, name: str) -> Json:
    key, described = text_at(entity, "joinKey"), text_at(entity, "description")
    return {"name": name, **({"joinKey": key} if key else {}), **({"description": described} if described else {})}


def _source(source: Json) -> Json:
    members = {key: text_at(source, key) for key in ("name", "type", "description", "owner", "timestampField")}
    known: Json = {key: value for key, value in members.items() if value}
    tags, mapping = texts_at(source, "tags"), texts_at(source, "fieldMapping")
    return {**known, **({"tags": tags} if tags else {}), **({"fieldMapping": mapping} if mapping else {})}
