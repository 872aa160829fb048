"""The charts and dashboards of a server as reports."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from whence.capture.bi.connections import Connection, connection_at
from whence.capture.bi.queries import read_query
from whence.capture.bi.reports import CHART, DASHBOARD, Found, Lineage, Report, show_charts
from whence.capture.bi.superset.charts import ChartQuery, read_form
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json
from whence_client.redaction.credentials import strip_credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the API said. `datasets` and `addresses` of databases are by id, `shown` has the charts of a dashboard."""

    charts: tuple[Json, ...]
    dashboards: tuple[Json, ...]
    datasets: Mapping[int, Json | None]
    addresses: Mapping[int, str]
    shown: Mapping[int, tuple[int, ...]]
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
        """All of them."""
        charts = {int(one["id"]): self._chart(one) for one in self.answers.charts}
        dashboards = tuple(self._dashboards(charts))
        at = max((one.updated for one in (*charts.values(), *dashboards) if one.updated), default=now)
        gaps = {**self.gaps, **{one: f"the user may not see it: {one}" for one in sorted(self.answers.refused)}}
        return Found(reports=(*charts.values(), *dashboards), gaps=gaps, at=at, unread=self.answers.refused)

    def _chart(self, chart: Json) -> Report:
        title = str(chart.get("slice_name") or "without a name")
        name = DatasetName(self.namespace, f"charts/{chart['id']} {title}")
        lineage = self._lineage(chart, name)
        place = f"chart/{chart['id']}"
        self.gaps.update({f"{place} {title}: {number}": gap for number, gap in enumerate(lineage.gaps, 1)})
        return Report(
            name=name,
            kind=CHART,
            title=title,
            lineage=lineage,
            description=str(chart.get("description") or ""),
            url=f"{self.url}/explore/?slice_id={chart['id']}",
            owners=_owners(chart),
            updated=_time(chart),
            place=place,
        )

    def _lineage(self, chart: Json, name: DatasetName) -> Lineage:
        try:
            form = read_form(chart)
            dataset = self._dataset(chart, form)
            connection = self._connection(dataset)
            return read_query(ChartQuery(form, dataset, connection).query(), connection, name)
        except ArtifactError as error:
            return Lineage(gaps=(error.reason,))

    def _dataset(self, chart: Json, form: Json) -> Json:
        key = dataset_id(chart, form)
        found = self.answers.datasets.get(key) if key is not None else None
        if not found:
            raise ArtifactError("", "it has no dataset, or one that the user may not see")
        return found

    def _connection(self, dataset: Json) -> Connection:
        database = dataset.get("database") or {}
        title = str(database.get("database_name") or "")
        if title in self.mapped:
            return self.mapped[title]
        address = self.answers.addresses.get(int(database.get("id") or 0), "")
        try:
            return connection_at(strip_credentials(address), str(dataset.get("schema") or ""))
        except ValueError:
            raise ArtifactError("", _unknown(title)) from None

    def _dashboards(self, charts: Mapping[int, Report]) -> Iterator[Report]:
        for one in self.answers.dashboards:
            title = str(one.get("dashboard_title") or "without a name")
            name = DatasetName(self.namespace, f"dashboards/{one['id']} {title}")
            parts = tuple(charts[key] for key in self.answers.shown.get(int(one["id"]), ()) if key in charts)
            yield Report(
                name=name,
                kind=DASHBOARD,
                title=title,
                lineage=show_charts(name, parts),
                description=str(one.get("description") or ""),
                url=f"{self.url}/superset/dashboard/{one.get('slug') or one['id']}/",
                owners=_owners(one),
                updated=_time(one),
                place=f"dashboard/{one['id']}",
            )


def dataset_id(chart: Json, form: Json) -> int | None:
    """The dataset of a chart: `datasource_id`, or `3__table` in its form data."""
    found: Any = chart.get("datasource_id") or str(form.get("datasource") or "").partition("__")[0]
    return int(found) if str(found).isdigit() else None


def _unknown(title: str) -> str:
    return (
        f"where the database {title or 'of its dataset'} is, is not known: let the user read database connections, "
        "or name it in the file of the option connections"
    )


def _owners(one: Json) -> tuple[str, ...]:
    listed = one.get("owners") or ()
    names = [f"{owner.get('first_name', '')} {owner.get('last_name', '')}".strip() for owner in listed]
    mails = [str(owner.get("email") or owner.get("username") or "") for owner in listed]
    return tuple(dict.fromkeys(mail or name for mail, name in zip(mails, names, strict=True) if mail or name))


def _time(one: Json) -> datetime | None:
    text = str(one.get("changed_on_utc") or one.get("changed_on") or "")
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
