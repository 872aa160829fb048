"""Dashboards of a project: each element with a query is a chart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.capture.bi.connections import Connection
from whence.capture.bi.lookml.elements import Element, make_query
from whence.capture.bi.lookml.explores import open_explore
from whence.capture.bi.lookml.files import Project
from whence.capture.bi.lookml.merging import apply_extends
from whence.capture.bi.lookml.models import Model, read_models
from whence.capture.bi.queries import read_query
from whence.capture.bi.reports import CHART, DASHBOARD, Found, Lineage, Report, join_lineages, show_charts
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json
from whence_client.events.columns import NOT_CAPTURED


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a project's dashboards are: their namespace, and the address of Looker, empty if it is not known."""

    namespace: str
    url: str = ""


def find_reports(project: Project, connections: Mapping[str, Connection], place: Place) -> Found:
    """All dashboards of a project with their charts."""
    models = read_models(project)
    reading = _Reading(project, models, connections, place)
    reports = tuple(reading.reports())
    unread = frozenset(project.flaws)
    included = {key: reason for model in models.values() for key, reason in model.gaps.items()}
    gaps = {**project.flaws, **included, **reading.gaps}
    return Found(reports=reports, gaps=gaps, at=project.at, unread=unread)


@dataclass(slots=True)
class _Reading:
    project: Project
    models: Mapping[str, Model]
    connections: Mapping[str, Connection]
    place: Place
    gaps: dict[str, str] = field(default_factory=dict)

    def reports(self) -> Iterator[Report]:
        listed = [(path, one) for path, found in self.project.dashboards.items() for one in found]
        known = {str(one["dashboard"]): _named(one) for _, one in listed}
        passed = set[str]()
        for path, one in listed:
            try:
                name = str(one["dashboard"])  # dashboards of several models may have one name
                whole = apply_extends(name, {**known, name: _named(one)})
            except ArtifactError as error:
                self.gaps[f"{path}: {one['dashboard']}"] = error.reason
                continue
            key = _key(whole)
            if key in passed:
                self.gaps[f"{path}: {key}"] = "another file has a dashboard of the same name"
            elif str(whole.get("extension")) != "required":
                yield from self._dashboard(path, key, whole)
            passed.add(key)

    def _dashboard(self, path: str, key: str, spec: Json) -> Iterator[Report]:
        charts = tuple(self._charts(path, key, spec))
        yield from charts
        name = DatasetName(self.place.namespace, f"dashboards/{key}")
        yield Report(
            name=name,
            kind=DASHBOARD,
            title=str(spec.get("title") or spec["dashboard"]),
            lineage=show_charts(name, charts),
            description=str(spec.get("description") or ""),
            url=f"{self.place.url}/dashboards/{key}" if self.place.url else "",
            place=path,
        )

    def _charts(self, path: str, key: str, spec: Json) -> Iterator[Report]:
        names = set[str]()
        for number, element in enumerate(_listed(spec.get("elements")), 1):
            title = str(element.get("name") or element.get("title") or f"element {number}")
            name = title if title not in names else f"{title} ({number})"
            names.add(name)
            chart = DatasetName(self.place.namespace, f"charts/{key}/{name}")
            lineage = self._lineage(element, spec, chart)
            if lineage is None:
                continue
            self.gaps.update({f"{path}: {name}: {number}": gap for number, gap in enumerate(lineage.gaps, 1)})
            title = str(element.get("title") or name)
            yield Report(name=chart, kind=CHART, title=title, lineage=lineage, place=path)

    def _lineage(self, element: Json, spec: Json, chart: DatasetName) -> Lineage | None:
        """The lineage of an element; None of one that shows no data, as a text."""
        if merged := _listed(element.get("merged_queries")):
            parts = [self._query({**one, "model": one.get("model") or spec.get("model")}, chart) for one in merged]
            return join_lineages(tuple(parts))
        if element.get("explore"):
            return self._query({**element, "model": element.get("model") or spec.get("model")}, chart)
        if element.get("look") or element.get("query"):
            return Lineage(gaps=("it shows a saved Look, which only Looker has",))
        return None

    def _query(self, spec: Json, chart: DatasetName) -> Lineage:
        element, model = Element(spec), self.models.get(str(spec.get("model")))
        names = (*element.fields, *element.computed)
        try:
            if model is None:
                raise ArtifactError("", f"there is no file of the model {spec.get('model')}")
            if model.connection not in self.connections:
                raise ArtifactError("", _unknown_connection(model))
            explore = open_explore(model, str(spec["explore"]), self.project.constants)
            return read_query(make_query(explore, element), self.connections[model.connection], chart)
        except ArtifactError as error:
            return Lineage(fields=names, unexplained=dict.fromkeys(names, NOT_CAPTURED), gaps=(error.reason,))


def _unknown_connection(model: Model) -> str:
    return (
        f"nothing says which database the connection {model.connection or 'of no name'} of the model {model.name} is: "
        "add it to the file of the option connections"
    )


def _key(spec: Json) -> str:
    """The name of a dashboard in Looker: with the model if the file names it, as an address has it."""
    model = spec.get("model")
    return f"{model}::{spec['dashboard']}" if isinstance(model, str) else str(spec["dashboard"])


def _named(spec: Json) -> Json:
    elements = [{**one, "name": one["name"]} if "name" in one else one for one in _listed(spec.get("elements"))]
    return {**spec, "name": str(spec["dashboard"]), **({"elements": elements} if elements else {})}


def _listed(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
