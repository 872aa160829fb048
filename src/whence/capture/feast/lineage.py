"""The lineage of feature views: from the columns of their data sources, or the features of other views."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from whence.capture.bi.queries import Query, read_query
from whence.capture.bi.reports import Lineage, join_lineages, sort_edges
from whence.capture.feast.data_sources import Places, Relation, find_column
from whence.capture.members import object_at, objects_at, text_at
from whence.errors import ArtifactError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence_client.events.columns import NO_SOURCE, NOT_CAPTURED, OPAQUE_FUNCTION

_TIMES = ("timestampField", "createdTimestampColumn")
"""Feast takes the newest row by these columns: they decide the rows of a view."""
_NO_ENTITY = "__dummy_id"
_TRANSFORMATIONS = ("featureTransformation", "userDefinedFunction")
_PUSHED = frozenset(("PUSH_SOURCE", "REQUEST_SOURCE"))
"""Sources whose values are in the calls of Feast's interface: they are no datasets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """The views of a project: `namespace` is that of their datasets."""

    namespace: str
    places: Places

    def name(self, view: str) -> DatasetName:
        """The dataset of a feature view, of any kind."""
        return DatasetName(self.namespace, f"feature_views/{view}")

    def read(self, spec: Json) -> Lineage:
        """The lineage of a feature view, by its specification."""
        target, names = self.name(text_at(spec, "name")), column_names(spec)
        parts = [*self._sources(spec, target, names), *self._inputs(spec, target, names)]
        if not parts:
            parts = [Lineage(fields=names, unexplained=dict.fromkeys(names, NO_SOURCE))]
        return _settle(join_lineages(tuple(parts)))

    def _sources(self, spec: Json, target: DatasetName, names: tuple[str, ...]) -> Iterator[Lineage]:
        batch, stream = object_at(spec, "batchSource"), object_at(spec, "streamSource")
        for source in (batch, stream):
            if source and text_at(source, "type") not in _PUSHED:
                yield self._source(spec, source, target, names)

    def _source(self, spec: Json, source: Json, target: DatasetName, names: tuple[str, ...]) -> Lineage:
        try:
            place = self.places.find(source)
        except ArtifactError as error:
            gap = f"the data source {text_at(source, 'name')}: {error.reason}"
            return Lineage(fields=names, unexplained=dict.fromkeys(names, NOT_CAPTURED), gaps=(gap,))
        columns = _columns(spec, source, names)
        times = [find_column(source, text_at(source, key)) for key in _TIMES if text_at(source, key)]
        found = (
            _read_relation(place, columns, times, target)
            if isinstance(place, Relation)
            else _read_dataset(place, columns, times, target)
        )
        hidden = [one for one in names if one not in columns]
        unexplained = {**found.unexplained, **dict.fromkeys(hidden, OPAQUE_FUNCTION)}
        return replace(found, edges=sort_edges(_aggregate(spec, found.edges)), fields=names, unexplained=unexplained)

    def _inputs(self, spec: Json, target: DatasetName, names: tuple[str, ...]) -> Iterator[Lineage]:
        """The features of other views that a function gets. Which of them each result is made of is not known."""
        edges: set[Edge] = set()
        for view, features in _projections(spec):
            source = self.name(view)
            edges.add(Edge(source=source, target=target, type="DIRECT"))
            edges.update(
                Edge(source=FieldName(source, one), target=target, type="INDIRECT", subtype="CONDITIONAL")
                for one in features
            )
        if edges or object_at(spec, "sources"):
            yield Lineage(edges=sort_edges(edges), fields=names, unexplained=dict.fromkeys(names, OPAQUE_FUNCTION))


def column_names(spec: Json) -> tuple[str, ...]:
    """The columns of a view: the join keys of its entities, then its features."""
    listed = (*objects_at(spec, "entityColumns"), *objects_at(spec, "features"))
    return tuple(
        dict.fromkeys(one for one in (text_at(each, "name") for each in listed) if one not in ("", _NO_ENTITY))
    )


def request_inputs(spec: Json) -> tuple[str, ...]:
    """The values that a caller passes to a view's function."""
    sources = [object_at(one, "requestDataSource") for one in _values(object_at(spec, "sources"))]
    options = [object_at(source, "requestDataOptions") for source in sources]
    return tuple(text_at(one, "name") for each in options for one in objects_at(each, "schema"))


def has_function(spec: Json) -> bool:
    """Whether a function of Python or another engine makes the features."""
    return any(object_at(spec, one) for one in _TRANSFORMATIONS)


def _columns(spec: Json, source: Json, names: tuple[str, ...]) -> dict[str, str]:
    """The column of the source that each column of a view is made of; without those that a function makes."""
    keys = {text_at(one, "name") for one in objects_at(spec, "entityColumns")}
    if has_function(spec):
        return {}
    aggregated = {_aggregated_name(one): text_at(one, "column") for one in objects_at(spec, "aggregations")}
    if aggregated:
        return {one: find_column(source, aggregated.get(one, one)) for one in names if one in aggregated or one in keys}
    return {one: find_column(source, one) for one in names}


def _aggregated_name(aggregation: Json) -> str:
    """The feature of an aggregation, named as Feast does it: `sum_amount_3600s`."""
    seconds = text_at(aggregation, "timeWindow").removesuffix("s").partition(".")[0]
    window = f"_{seconds}s" if seconds not in ("", "0") else ""
    return (
        text_at(aggregation, "name") or f"{text_at(aggregation, 'function')}_{text_at(aggregation, 'column')}{window}"
    )


def _aggregate(spec: Json, edges: Iterable[Edge]) -> Iterator[Edge]:
    """The edges, as aggregations where a feature is one. What is done with the column is their description."""
    functions = {_aggregated_name(one): text_at(one, "function") for one in objects_at(spec, "aggregations")}
    for edge in edges:
        function = functions.get(edge.target.field) if isinstance(edge.target, FieldName) else None
        is_one = function is not None and edge.type == "DIRECT"
        yield replace(edge, subtype="AGGREGATION", description=str(function)) if is_one else edge


def _read_relation(place: Relation, columns: dict[str, str], times: list[str], target: DatasetName) -> Lineage:
    quote = place.connection.quote
    outputs = {name: quote(column) for name, column in columns.items()}
    return read_query(
        Query(source=place.text, outputs=outputs, orders=tuple(map(quote, times))), place.connection, target
    )


def _read_dataset(source: DatasetName, columns: dict[str, str], times: list[str], target: DatasetName) -> Lineage:
    edges = [Edge(source=source, target=target, type="DIRECT")]
    edges += [
        Edge(source=FieldName(source, column), target=FieldName(target, name), type="DIRECT", subtype="IDENTITY")
        for name, column in columns.items()
    ]
    edges += [Edge(source=FieldName(source, one), target=target, type="INDIRECT", subtype="SORT") for one in times]
    return Lineage(edges=sort_edges(edges), fields=tuple(columns))


def _projections(spec: Json) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The views that a view is made of, with the features that it reads."""
    for one in _values(object_at(spec, "sources")):
        view = object_at(object_at(one, "featureView"), "spec")
        projection = object_at(one, "featureViewProjection")
        if projection:
            yield text_at(projection, "featureViewName"), _names(projection, "featureColumns")
        elif view:
            yield text_at(view, "name"), _names(view, "features")
    for view in objects_at(spec, "sourceViews"):
        yield text_at(view, "name"), _names(view, "features")


def _names(found: Json, key: str) -> tuple[str, ...]:
    return tuple(text_at(one, "name") for one in objects_at(found, key))


def _values(found: Json) -> tuple[Json, ...]:
    return tuple(one for one in found.values() if isinstance(one, dict))


def _settle(lineage: Lineage) -> Lineage:
    """A column that one of several sources explains is explained."""
    known = {one.target.field for one in lineage.edges if isinstance(one.target, FieldName) and one.type == "DIRECT"}
    return replace(lineage, unexplained={one: why for one, why in lineage.unexplained.items() if one not in known})
