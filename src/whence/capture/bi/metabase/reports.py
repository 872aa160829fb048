"""The cards and dashboards of a Metabase as reports."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from whence.capture.bi.connections import Connection
from whence.capture.bi.metabase.catalog import MetabaseCatalog, locate, read_catalog
from whence.capture.bi.metabase.clauses import stages_of
from whence.capture.bi.metabase.native import NativeQuestion
from whence.capture.bi.metabase.questions import Card, Questions
from whence.capture.bi.queries import Query, read_query
from whence.capture.bi.reports import CHART, DASHBOARD, Found, Lineage, Report, show_charts, sort_edges
from whence.capture.sql import Table
from whence.errors import ArtifactError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence_client.events.columns import NOT_CAPTURED


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the API said: cards, whole dashboards, databases, and the metadata of each."""

    cards: tuple[Json, ...]
    dashboards: tuple[Json, ...]
    databases: tuple[Json, ...]
    metadata: tuple[Json, ...]
    refused: frozenset[str] = frozenset()


@dataclass(slots=True)
class Server:
    """Makes reports of answers. `url` is the address for links, `mapped` the databases that a file names."""

    answers: Answers
    namespace: str
    url: str
    mapped: Mapping[str, Connection]
    gaps: dict[str, str] = field(default_factory=dict)

    def reports(self, now: datetime) -> Found:
        """All of them that are not in the trash."""
        catalog = read_catalog(self.answers.metadata)
        listed = {int(one["id"]): one for one in self.answers.cards if not one.get("archived")}
        cards = {key: Card(self._name("cards", one), _columns(one)) for key, one in listed.items()}
        charts = {key: self._card(one, catalog, cards) for key, one in listed.items()}
        dashboards = tuple(self._dashboards(charts))
        at = max((one.updated for one in (*charts.values(), *dashboards) if one.updated), default=now)
        gaps = {**self.gaps, **{one: f"the user may not see it: {one}" for one in sorted(self.answers.refused)}}
        return Found(reports=(*charts.values(), *dashboards), gaps=gaps, at=at, unread=self.answers.refused)

    def _name(self, kind: str, one: Json) -> DatasetName:
        return DatasetName(self.namespace, f"{kind}/{one['id']} {one.get('name') or 'without a name'}")

    def _card(self, card: Json, catalog: MetabaseCatalog, cards: Mapping[int, Card]) -> Report:
        name, place = self._name("cards", card), f"card/{card['id']}"
        try:
            lineage = self._lineage(card, catalog, cards, name)
        except ArtifactError as error:
            fields = _columns(card)
            lineage = Lineage(fields=fields, unexplained=dict.fromkeys(fields, NOT_CAPTURED), gaps=(error.reason,))
        self.gaps.update({f"{place} {card.get('name')}: {number}": gap for number, gap in enumerate(lineage.gaps, 1)})
        return self._report(card, name, CHART, lineage, f"{self.url}/question/{card['id']}", place)

    def _lineage(self, card: Json, catalog: MetabaseCatalog, cards: Mapping[int, Card], name: DatasetName) -> Lineage:
        document = card.get("dataset_query") or {}
        key = card.get("database_id") or document.get("database")
        database = next((one for one in self.answers.databases if one.get("id") == key), {"id": key})
        connection = locate(database, self.mapped)
        questions = Questions(catalog, cards, connection)
        native = _native(document)
        filters: list[int] = []
        if native is not None:
            text, tags = native
            question = NativeQuestion(text, tags, questions, filters)
            query = question.query(_columns(card))
        else:
            query = _named(questions.query(document.get("query") or document), _columns(card))
        naming = replace(connection.naming, own={**connection.naming.own, **questions.own})
        lineage = read_query(query, replace(connection, naming=naming), name)
        return _with_filters(lineage, filters, catalog, connection, name)

    def _dashboards(self, charts: Mapping[int, Report]) -> Iterator[Report]:
        for one in self.answers.dashboards:
            if one.get("archived"):
                continue
            name = self._name("dashboards", one)
            keys = dict.fromkeys(key for card in _dashcards(one) for key in _shown(card))
            lineage = show_charts(name, tuple(charts[key] for key in keys if key in charts))
            address = f"{self.url}/dashboard/{one['id']}"
            yield self._report(one, name, DASHBOARD, lineage, address, f"dashboard/{one['id']}")

    def _report(self, one: Json, name: DatasetName, kind: str, lineage: Lineage, url: str, place: str) -> Report:
        creator = one.get("creator") or {}
        owner = str(creator.get("email") or creator.get("common_name") or "")
        views = one.get("view_count")
        return Report(
            name=name,
            kind=kind,
            title=str(one.get("name") or "without a name"),
            lineage=lineage,
            description=str(one.get("description") or ""),
            url=url,
            owners=(owner,) if owner else (),
            viewed=_time(one.get("last_viewed_at") or one.get("last_used_at")),
            views=views if isinstance(views, int) else None,
            updated=_time(one.get("updated_at")),
            place=place,
        )


def _native(document: Json) -> tuple[str, Mapping[str, Json]] | None:
    """The SQL and the tags of a native query; None of another."""
    if document.get("type") == "native":
        native = document.get("native") or {}
        return str(native.get("query") or ""), native.get("template-tags") or {}
    last = stages_of(document)[-1] if document.get("stages") else {}
    return (last["native"], last.get("template-tags") or {}) if isinstance(last.get("native"), str) else None


def _named(query: Query, columns: tuple[str, ...]) -> Query:
    """The query with the names that Metabase gives the columns of its result, which other cards read."""
    if query.unread or len(columns) != len(query.outputs) or len(set(columns)) != len(columns):
        return query
    names = dict(zip(query.outputs, columns, strict=True))
    outputs = {names[one]: value for one, value in query.outputs.items()}
    return replace(query, outputs=outputs, dimensions=tuple(names[one] for one in query.dimensions))


def _with_filters(
    lineage: Lineage, filters: list[int], catalog: MetabaseCatalog, connection: Connection, name: DatasetName
) -> Lineage:
    """The lineage with the fields that variables of native SQL filter by."""
    edges = list(lineage.edges)
    for key in filters:
        found = catalog.field(key)
        table = catalog.table(found.table)
        parts = (table.schema, table.name) if table.schema else (table.name,)
        if dataset := connection.naming.dataset(Table(parts)):
            edges.append(Edge(source=FieldName(dataset, found.name), target=name, type="INDIRECT", subtype="FILTER"))
    return replace(lineage, edges=sort_edges(edges))


def _columns(card: Json) -> tuple[str, ...]:
    return tuple(str(one["name"]) for one in card.get("result_metadata") or () if one.get("name"))


def _dashcards(dashboard: Json) -> list[Json]:
    listed = dashboard.get("dashcards") or dashboard.get("ordered_cards") or ()
    return [one for one in listed if isinstance(one, dict)]


def _shown(dashcard: Json) -> Iterator[int]:
    """The cards in one place of a dashboard: its own, and those that are laid over it."""
    for one in (dashcard.get("card_id"), *(series.get("id") for series in dashcard.get("series") or ())):
        if isinstance(one, int):
            yield one


def _time(text: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
