"""A Prefect as a capture: the flow runs that go on, then those that ended, in the order of their ends."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from whence.capture.polling.http_source import HttpSource, name_server, require_url
from whence.capture.prefect.events import job_of, record_events
from whence.capture.prefect.records import FlowRunRecord
from whence.capture.prefect.rest_api import KEY, PASSWORD, USER, RestApi, authorize
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window

VERSIONS = Versions("3.9.1", "3.9.1")
URL = "WHENCE_PREFECT_URL"
_BEGINNING = "1970-01-01T00:00:00+00:00"
_FAILED = frozenset(("FAILED", "CRASHED"))
_DEPTH = 20
_EVENTS_AROUND = timedelta(minutes=5)
"""How long before and after a run its events are looked for: they have the clock of the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefectServer:
    """One Prefect, or some of its flows. `instance` is the namespace of assets whose keys are no URIs of data."""

    api: RestApi
    instance: str
    flows: tuple[str, ...] = ("*",)
    name: str = "prefect"
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
        return Findings(found, doubts=() if is_known else (f"Prefect {found} was not tried, {VERSIONS.newest} was",))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[FlowRunRecord, Json]]:
        """Flow runs that go on, then flow runs by their ends since the cursor. Raises SourceError.

        The cursor has the latest end, by Prefect's clock.
        """
        try:
            yield from self._read(cursor["ended"] if isinstance(cursor, dict) else _BEGINNING, window)
        finally:
            self.api.close()

    def translate(self, record: FlowRunRecord, naming: Naming) -> Iterator[Json]:
        """The events of a flow run."""
        return record_events(record, naming)

    def _read(self, ended: str, window: Window) -> Iterator[tuple[FlowRunRecord, Json]]:
        first = datetime.fromisoformat(ended)
        first = first - window.overlap if first.year > 1970 else first
        since = max(first, window.since.astimezone(UTC)) if window.since else first
        reader = _Reader(self.api)
        for run in self.api.running() if window.until is None else ():
            if self._is_wanted(record := reader.named(run)):
                yield reader.read(record), {"ended": ended}
        for run in self.api.ended(since.isoformat(), window.until.isoformat() if window.until else None):
            ended = max(ended, str(run["end_time"]), key=datetime.fromisoformat)
            if self._is_wanted(record := reader.named(run)):
                yield reader.read(record), {"ended": ended}

    def _is_wanted(self, record: FlowRunRecord) -> bool:
        return any(fnmatchcase(job_of(record), pattern) for pattern in self.flows)


@dataclass(slots=True)
class _Reader:
    """Puts together what belongs to a flow run. Flows and deployments are read once in a poll."""

    api: RestApi
    _flows: dict[str, Json] = field(default_factory=dict)
    _deployments: dict[str, Json] = field(default_factory=dict)

    def named(self, run: Json) -> FlowRunRecord:
        """A flow run with its flow and its deployment."""
        flow, deployment = str(run["flow_id"]), str(run.get("deployment_id") or "")
        if flow not in self._flows:
            self._flows[flow] = self.api.flow(flow)
        if deployment and deployment not in self._deployments:
            self._deployments[deployment] = self.api.deployment(deployment)
        return FlowRunRecord(run=run, flow=self._flows[flow], deployment=self._deployments.get(deployment, {}))

    def read(self, record: FlowRunRecord) -> FlowRunRecord:
        """The record with what belongs to it."""
        run = record.run
        tasks = self.api.tasks(run["id"])
        failed = [one for one in (run, *tasks) if one.get("state_type") in _FAILED]
        events = self._events(run) if run.get("start_time") else ()
        return FlowRunRecord(
            run=run,
            flow=record.flow,
            deployment=record.deployment,
            tasks=tasks,
            events=events,
            logs=self.api.errors(run["id"]) if failed else {},
            above=tuple(self._above(run)),
            refused=tuple(sorted(self.api.refused)),
            has_events=bool(events) or not run.get("start_time"),
        )

    def _events(self, run: Json) -> tuple[Json, ...]:
        since = datetime.fromisoformat(run["start_time"]) - _EVENTS_AROUND
        end = run.get("end_time")
        until = (datetime.fromisoformat(end) + _EVENTS_AROUND).isoformat() if end else None
        return self.api.events(run["id"], since.isoformat(), until)

    def _above(self, run: Json) -> Iterator[FlowRunRecord]:
        """The flow runs that a flow run is in, the nearest first."""
        for _ in range(_DEPTH):
            task = self.api.task_run(run["parent_task_run_id"]) if run.get("parent_task_run_id") else {}
            if not task.get("flow_run_id") or not (run := self.api.flow_run(task["flow_run_id"])):
                return
            yield self.named(run)


@dataclass(frozen=True, slots=True)
class PrefectCapture:
    """What the entry point `prefect` names."""

    name: str = "prefect"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "url": f"the API, such as http://prefect:4200/api; {URL} if not given",
            "flows": "FLOW or FLOW/DEPLOYMENT, with * for any text, separated by commas; all if not given",
            "namespace": "the namespace of assets whose keys are no URIs of data, prefect://HOST:PORT/api if not given",
        }
    )

    def check(self) -> Findings:
        """No package is needed: Prefect is asked over HTTP."""
        return Findings()

    def translate(self, record: FlowRunRecord, naming: Naming) -> Iterator[Json]:
        """The events of a record, whichever server it comes from."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> PrefectServer:
        """The capture of one Prefect. Raises ValueError for an address that is missing or none of HTTP."""
        url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "http://prefect:4200/api").rstrip("/")
        url = url if urlsplit(url).path else f"{url}/api"
        patterns = tuple(one.strip() for one in options.get("flows", "*").split(",") if one.strip())
        return PrefectServer(
            api=RestApi(HttpSource(url=url, variables=(KEY, USER, PASSWORD), authorize=authorize)),
            instance=options.get("namespace") or name_server("prefect", url),
            flows=patterns or ("*",),
        )


capture = PrefectCapture()
