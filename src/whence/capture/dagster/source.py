"""A Dagster as a capture: the runs that go on, those that changed, and what was reported without a run."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from fnmatch import fnmatchcase
from typing import Any

from whence.capture.dagster.assets import Databases, databases_of
from whence.capture.dagster.events import job_of, record_events, report_job_of
from whence.capture.dagster.graphql_api import PASSWORD, TOKEN, USER, GraphqlApi, QueryError, authorize, updated_at
from whence.capture.dagster.lineage import sources_of
from whence.capture.dagster.records import Asset, Key, Record, ReportRecord, RunRecord, key_of
from whence.capture.polling.http_source import HttpSource, name_server, require_url
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window

VERSIONS = Versions("1.13.27", "1.13.27")
URL, DATABASES = "WHENCE_DAGSTER_URL", "WHENCE_DAGSTER_DATABASES"
_BEGINNING: Json = {"updated": 0.0, "reported": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class DagsterServer:
    """One Dagster, or some of its jobs. `instance` is the namespace of assets that metadata names no place of."""

    api: GraphqlApi
    instance: str
    jobs: tuple[str, ...] = ("*",)
    databases: Databases = field(default_factory=dict)
    name: str = "dagster"
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """Whether the server answers, with a release that is known, and has loaded its code locations."""
        try:
            found, broken = self.api.version(), self.api.broken_locations()
        except SourceError as error:
            return Findings(problems=(str(error),))
        finally:
            self.api.close()
        doubts = [_broken(name, why) for name, why in broken.items()]
        if found.split(".")[:2] != VERSIONS.newest.split(".")[:2]:
            doubts.append(f"Dagster {found} was not tried, {VERSIONS.newest} was")
        return Findings(found, doubts=tuple(doubts))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """Runs that go on, runs by the times of their changes, then reports from outside. Raises SourceError.

        The cursor has the latest change of a run in seconds, and the latest report in milliseconds, by Dagster's clock.
        """
        try:
            yield from self._read(cursor if isinstance(cursor, dict) else _BEGINNING, window)
        finally:
            self.api.close()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record."""
        return record_events(record, self.databases, naming)

    def _read(self, cursor: Json, window: Window) -> Iterator[tuple[Record, Json]]:
        broken = self.api.broken_locations()
        gaps = {f"code location {name}": _broken(name, why) for name, why in broken.items()}
        reader, until = _Reader(self.api, gaps), window.until.timestamp() if window.until else None
        running = [] if until is not None else list(filter(self._is_wanted, self.api.running()))
        for run in running:
            yield reader.read(run), cursor
        done = {run["runId"] for run in running}
        for run in filter(self._is_wanted, self.api.updated(_since(cursor["updated"], window), until)):
            if run["runId"] not in done:
                cursor = {**cursor, "updated": max(cursor["updated"], updated_at(run))}
                yield reader.read(run), cursor
        for event in self.api.reported(_since(cursor["reported"] / 1000, window)):
            is_within = until is None or int(event["timestamp"]) <= until * 1000
            if is_within and self._is_named(report_job_of(event)):
                cursor = {**cursor, "reported": max(cursor["reported"], int(event["timestamp"]))}
                yield reader.report(event), cursor

    def _is_wanted(self, run: Json) -> bool:
        return self._is_named(job_of(run))

    def _is_named(self, job: str) -> bool:
        return any(fnmatchcase(job, pattern) for pattern in self.jobs)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Puts together what belongs to a run or a report."""

    api: GraphqlApi
    gaps: Mapping[str, str]

    def read(self, listed: Json) -> Record:
        """The record of a run. What Dagster cannot give of it, such as an event that it cannot read, is a gap."""
        record = RunRecord(run=listed)
        try:
            record = replace(record, run=self.api.run(listed["runId"]))
            record = replace(record, log=tuple(self.api.log(listed["runId"])))
            assets = self._describe(record.log, record.run.get("endTime"))
            return replace(record, assets=assets, gaps=self._gaps(assets))
        except QueryError as error:
            return replace(record, gaps={"run": f"run {listed['runId']}: {error.reason}"})

    def report(self, event: Json) -> Record:
        """The record of a materialization or observation without a run."""
        assets = self._describe((event,), int(event["timestamp"]) / 1000)
        return ReportRecord(event=event, assets=assets, gaps=self._gaps(assets))

    def _gaps(self, assets: Mapping[Key, Asset]) -> Mapping[str, str]:
        """The code locations that are not loaded, if an asset may be defined there."""
        return self.gaps if any(not one.definition for one in assets.values()) else {}

    def _describe(self, log: Iterable[Json], ended: float | None) -> dict[Key, Asset]:
        """The assets that a log names, then those that they were made from."""
        events = [one.get("evaluation") or one for one in log]
        named = [key_of(one["assetKey"]) for one in events if one.get("assetKey")]
        before = None if ended is None else ended + 0.001  # what was made in the last millisecond counts
        found = self.api.describe(named, before)
        sources = [key for one in events for key in sources_of(one, {})]
        sources += [key for one in found.values() for key in sources_of({}, one.definition)]
        return {**found, **self.api.describe((key for key in sources if key not in found), before)}


def _since(cursor: float, window: Window) -> float:
    """The time in seconds from which on a poll reads."""
    first = cursor - window.overlap.total_seconds() if cursor else 0.0
    return max(first, window.since.astimezone(UTC).timestamp()) if window.since else max(first, 0.0)


def _broken(location: str, why: str) -> str:
    return f"code location {location} is not loaded: what its assets are made from is not known ({why})"


@dataclass(frozen=True, slots=True)
class DagsterCapture:
    """What the entry point `dagster` names."""

    name: str = "dagster"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "url": f"the webserver, such as http://dagster:3000; {URL} if not given",
            "jobs": "names of jobs, LOCATION.JOB, with * for any text, separated by commas; all if not given",
            "databases": f"URLs of the databases of dagster/table_name, separated by commas; {DATABASES} if not given",
            "namespace": "the namespace of assets without a place, dagster://HOST:PORT if not given",
        }
    )

    def check(self) -> Findings:
        """No package is needed: Dagster is asked over HTTP."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record whose tables are in databases that the environment names."""
        return record_events(record, databases_of(os.environ.get(DATABASES, "")), naming)

    def configure(self, options: Mapping[str, str]) -> DagsterServer:
        """The capture of one Dagster. Raises ValueError for an address that is missing or none of HTTP."""
        url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "http://dagster:3000")
        patterns = tuple(one.strip() for one in options.get("jobs", "*").split(",") if one.strip())
        return DagsterServer(
            api=GraphqlApi(HttpSource(url=url, variables=(TOKEN, USER, PASSWORD), authorize=authorize)),
            instance=options.get("namespace") or name_server("dagster", url),
            jobs=patterns or ("*",),
            databases=databases_of(options.get("databases") or os.environ.get(DATABASES, "")),
        )


capture = DagsterCapture()
