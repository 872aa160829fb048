"""An Airflow as a capture: the DAG runs that go on, then those that ended, in the order of their ends."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from whence.capture.airflow.events import run_events
from whence.capture.airflow.records import Assets, DagRunRecord, try_key
from whence.capture.airflow.rest_api import CREDENTIALS, RestApi, authorize
from whence.capture.polling.http_source import HttpSource, name_server, require_url
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window

VERSIONS = Versions("3.3.2", "3.3.2")
URL = "WHENCE_AIRFLOW_URL"
_FAILED = frozenset(("failed", "up_for_retry"))
_BEGINNING = "1970-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class AirflowServer:
    """One Airflow, or some of its DAGs. `instance` is the namespace of assets that are no files or tables."""

    api: RestApi
    instance: str
    dags: tuple[str, ...] = ("*",)
    name: str = "airflow"
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """Whether the server answers, and with a release that is known."""
        try:
            found = self.api.version()
        except SourceError as error:
            return Findings(problems=(str(error),))
        finally:
            self.api.close()
        is_known = found.split(".")[:2] == VERSIONS.newest.split(".")[:2]
        return Findings(found, doubts=() if is_known else (f"Airflow {found} was not tried, {VERSIONS.newest} was",))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[DagRunRecord, Json]]:
        """Runs that go on, then runs by their ends since the cursor. Raises SourceError.

        The cursor has the latest end, by Airflow's clock.
        """
        ended = cursor["ended"] if isinstance(cursor, dict) else _BEGINNING
        try:
            yield from self._read(ended, window)
        finally:
            self.api.close()

    def translate(self, record: DagRunRecord, naming: Naming) -> Iterator[Json]:
        """The events of a DAG run."""
        return run_events(record, naming)

    def _read(self, ended: str, window: Window) -> Iterator[tuple[DagRunRecord, Json]]:
        first = datetime.fromisoformat(ended)
        first = first - window.overlap if first.year > 1970 else first
        since = max(first, window.since.astimezone(UTC)) if window.since else first
        reader = _Reader(self.api)
        if window.until is None:
            for run in filter(self._is_wanted, self.api.running()):
                yield reader.read(run), {"ended": ended}
        until = window.until.isoformat() if window.until else None
        for run in filter(self._is_wanted, self.api.ended(since.isoformat(), until)):
            ended = max(ended, str(run["end_date"] or ended), key=datetime.fromisoformat)
            yield reader.read(run), {"ended": ended}

    def _is_wanted(self, run: Json) -> bool:
        return any(fnmatchcase(str(run["dag_id"]), pattern) for pattern in self.dags)


@dataclass(slots=True)
class _Reader:
    """Puts together what belongs to a DAG run. DAGs and assets are read once in a poll."""

    api: RestApi
    _dags: dict[str, tuple[Json, dict[str, Json]]] = field(default_factory=dict)
    _assets: dict[str, tuple[Assets, Assets]] | None = None

    def read(self, run: Json) -> DagRunRecord:
        dag_id = str(run["dag_id"])
        if dag_id not in self._dags:
            self._dags[dag_id] = self.api.dag(dag_id), self.api.tasks(dag_id)
        dag, tasks = self._dags[dag_id]
        tries = tuple(self.api.tries(run))
        failed = {try_key(one): self.api.error(one) for one in tries if one.get("state") in _FAILED}
        if self._assets is None:
            self._assets = _assets_by_dag(self.api.assets())
        inlets, outlets = self._assets.get(dag_id, ({}, {}))
        written = tuple(self.api.written(run))
        consumed = self.api.consumed(run) if run.get("run_type") in _TRIGGERED else ()
        clearings = self.api.clearings(run) if any(int(one.get("try_number") or 0) > 1 for one in tries) else ()
        return DagRunRecord(
            run=run,
            dag=dag,
            tasks=tasks,
            tries=tries,
            errors={key: error for key, error in failed.items() if error},
            inlets=inlets,
            outlets=outlets,
            written=written,
            consumed=consumed,
            clearings=clearings,
            refused=self.api.refusals(dag_id),
        )


_TRIGGERED = frozenset(("asset_triggered", "asset_materialization"))


def _assets_by_dag(assets: Iterator[Json]) -> dict[str, tuple[Assets, Assets]]:
    """The inlets and outlets of each task, by DAG."""
    found: dict[str, tuple[dict[str, tuple[Json, ...]], dict[str, tuple[Json, ...]]]] = {}
    for asset in assets:
        named = {"name": asset.get("name"), "uri": asset.get("uri")}
        for place, member in enumerate(("consuming_tasks", "producing_tasks")):
            for one in asset.get(member) or ():
                by_task = found.setdefault(str(one["dag_id"]), ({}, {}))[place]
                by_task[str(one["task_id"])] = (*by_task.get(str(one["task_id"]), ()), named)
    return {dag: (inlets, outlets) for dag, (inlets, outlets) in found.items()}


@dataclass(frozen=True, slots=True)
class AirflowCapture:
    """What the entry point `airflow` names."""

    name: str = "airflow"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "url": f"the API server, such as http://airflow:8080; {URL} if not given",
            "dags": "ids of DAGs, with * for any text, separated by commas; all if not given",
            "namespace": "the namespace of assets that are no files or tables, airflow://HOST:PORT if not given",
        }
    )

    def check(self) -> Findings:
        """No package is needed: Airflow is asked over HTTP."""
        return Findings()

    def translate(self, record: DagRunRecord, naming: Naming) -> Iterator[Json]:
        """The events of a record, whichever server it comes from."""
        return run_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> AirflowServer:
        """The capture of one Airflow. Raises ValueError for an address that is missing or none of HTTP."""
        url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "http://airflow:8080")
        patterns = tuple(one.strip() for one in options.get("dags", "*").split(",") if one.strip())
        return AirflowServer(
            api=RestApi(HttpSource(url=url, variables=CREDENTIALS, authorize=authorize)),
            instance=options.get("namespace") or name_server("airflow", url),
            dags=patterns or ("*",),
        )


capture = AirflowCapture()
