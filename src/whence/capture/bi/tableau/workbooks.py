"""Workbooks and published data sources as reports."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from whence.capture.bi.connections import Connection
from whence.capture.bi.queries import Query
from whence.capture.bi.reports import CHART, DASHBOARD, DATA_SOURCE, Found, Lineage, Report, show_charts
from whence.capture.bi.tableau.data_sources import DataSource, open_source, published_name, source_fields
from whence.capture.bi.tableau.files import Document
from whence.capture.bi.tableau.worksheets import Worksheet
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence_client.events.columns import NOT_CAPTURED


@dataclass(slots=True)
class Workbooks:
    """Reads documents. `namespace` is that of workbooks, `server` that of published data sources, empty if unknown."""

    mapped: Mapping[str, Connection]
    namespace: str
    server: str = ""
    gaps: dict[str, str] = field(default_factory=dict)

    def read(self, documents: tuple[Document, ...], flaws: Mapping[str, str], now: datetime) -> Found:
        """All reports in documents."""
        reports = tuple(report for one in documents for report in self._document(one))
        at = max((one.at for one in documents), default=now)
        return Found(reports=reports, gaps={**flaws, **self.gaps}, at=at, unread=frozenset(flaws))

    def _document(self, document: Document) -> Iterator[Report]:
        if document.root.tag == "datasource":
            yield self._data_source(document)
        else:
            yield from self._workbook(document)

    def _data_source(self, document: Document) -> Report:
        root = document.root
        name = self._published(root, document.path)
        try:
            source = open_source(root, self.mapped, self.server)
            lineage = _all_fields(source, name)
        except ArtifactError as error:
            lineage = Lineage(gaps=(error.reason,))
        self._announce(document.path, "", lineage)
        title = root.get("caption") or root.get("formatted-name") or PurePosixPath(document.path).stem
        return Report(
            name=name,
            kind=DATA_SOURCE,
            title=title,
            lineage=lineage,
            url=_url(root),
            updated=document.at,
            place=document.path,
        )

    def _published(self, root: Element, path: str) -> DatasetName:
        """The name under which workbooks connect to it."""
        if root.find("repository-location") is None:
            return DatasetName(self.server or self.namespace, f"datasources/{PurePosixPath(path).stem}")
        return published_name(root, None, self.server or _server(root) or self.namespace)

    def _workbook(self, document: Document) -> Iterator[Report]:
        sources, flaws = self._sources(document)
        book = PurePosixPath(document.path).with_suffix("").as_posix()
        hidden = {one.get("name") for one in document.root.iter("window") if one.get("hidden") == "true"}
        charts: dict[str, Report] = {}
        for element in document.root.findall("worksheets/worksheet"):
            sheet = Worksheet(element, sources, flaws)
            name = DatasetName(self.namespace, f"workbooks/{book}/sheets/{sheet.name}")
            lineage = sheet.lineage(name)
            self._announce(document.path, sheet.name, lineage)
            charts[sheet.name] = Report(
                name=name,
                kind=CHART,
                title=sheet.name,
                lineage=lineage,
                url=_url(element),
                is_hidden=sheet.name in hidden,
                updated=document.at,
                place=document.path,
            )
        yield from charts.values()
        yield from self._dashboards(document, book, charts)

    def _dashboards(self, document: Document, book: str, charts: Mapping[str, Report]) -> Iterator[Report]:
        shown: dict[str, tuple[Report, ...]] = {}
        for element in document.root.findall("dashboards/dashboard"):
            title = element.get("name") or "without a name"
            name = DatasetName(self.namespace, f"workbooks/{book}/dashboards/{title}")
            names = dict.fromkeys((*_zones(element), *_points(element)))
            listed = [one for key in names for one in ((charts[key],) if key in charts else shown.get(key, ()))]
            parts = {one.name: one for one in listed}
            shown[title] = tuple(parts.values())
            lineage = show_charts(name, shown[title])
            yield Report(
                name=name,
                kind=DASHBOARD,
                title=title,
                lineage=lineage,
                url=_url(element),
                updated=document.at,
                place=document.path,
            )

    def _sources(self, document: Document) -> tuple[dict[str, DataSource], dict[str, str]]:
        sources, flaws = dict[str, DataSource](), dict[str, str]()
        for element in document.root.findall("datasources/datasource"):
            name = element.get("name", "")
            if name == "Parameters":
                continue
            try:
                sources[name] = open_source(element, self.mapped, self.server)
            except ArtifactError as error:
                flaws[name] = error.reason
        return sources, flaws

    def _announce(self, path: str, sheet: str, lineage: Lineage) -> None:
        place = f"{path}: {sheet}" if sheet else path
        self.gaps.update({f"{place}: {number}": gap for number, gap in enumerate(lineage.gaps, 1)})


def _all_fields(source: DataSource, name: DatasetName) -> Lineage:
    source.used.clear()
    outputs, unread = dict[str, str](), dict[str, str]()
    for one in source_fields(source):
        try:
            outputs[source.caption_of(one)] = source.expression(one)
        except ArtifactError as error:
            unread[source.caption_of(one)] = error.reason
    query = Query(source="", outputs=outputs, unread=unread)
    try:
        return source.read(query, name)
    except ArtifactError as error:
        return Lineage(fields=(*outputs,), unexplained=dict.fromkeys(outputs, NOT_CAPTURED), gaps=(error.reason,))


def _zones(dashboard: Element) -> Iterator[str]:
    """The worksheets on a dashboard; zones of filters and texts have a type."""
    for zone in dashboard.iter("zone"):
        if zone.get("name") and not zone.get("type") and zone.get("type-v2", "viz") == "viz":
            yield zone.get("name", "")


def _points(story: Element) -> Iterator[str]:
    yield from (one.get("captured-sheet", "") for one in story.iter("story-point"))


def _url(element: Element) -> str:
    location = element.find("repository-location")
    address = "" if location is None else location.get("derived-from", "")
    return address.partition("?")[0] if address.startswith("http") else ""


def _server(element: Element) -> str:
    host = _url(element).partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    return f"tableau://{host.lower()}" if host else ""
