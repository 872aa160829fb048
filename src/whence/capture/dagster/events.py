"""A run of Dagster as events: the run of the job, below it each try of its steps, with assets as inputs and outputs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from whence.capture.dagster.assets import AssetNames, Databases
from whence.capture.dagster.facets import (
    assertions_facet,
    asset_facets,
    attempt_facets,
    failure_facet,
    gap_facets,
    job_facets,
    made_facets,
    run_facets,
)
from whence.capture.dagster.lineage import Made, column_facets_of, lineage_facet, sources_of
from whence.capture.dagster.metadata import metadata_of
from whence.capture.dagster.records import NO_ASSET, Key, Record, ReportRecord, RunRecord, key_of, text_of
from whence.capture.dagster.steps import Attempt, History, read_history, time_of
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.runs import ABORT, COMPLETE, FAIL, START, RunRef, run_event

_RUN_ENDS = {"SUCCESS": COMPLETE, "FAILURE": FAIL, "CANCELED": ABORT}
_REPORTED = "reported"


def record_events(record: Record, databases: Databases, naming: Naming) -> Iterator[Json]:
    """The events of a record. A run that has not started has none."""
    match record:
        case RunRecord():
            yield from _Run(record, read_history(record.log), naming, databases).events()
        case ReportRecord():
            yield from _report_events(record, AssetNames(record.assets, naming, databases), naming)


def job_of(run: Json) -> str:
    """The name of a run's job: behind that of its code location, without which it is not unique."""
    location = (run.get("repositoryOrigin") or {}).get("repositoryLocationName")
    return f"{location}.{run['jobName']}" if location else str(run["jobName"])


def report_job_of(event: Json) -> str:
    """The name of the job of a report from outside."""
    return f"{_REPORTED}.{text_of(key_of(event['assetKey']))}"


@dataclass(slots=True)
class _Run:
    """The events of one run."""

    record: RunRecord
    history: History
    naming: Naming
    databases: Databases
    ref: RunRef = field(init=False)

    def __post_init__(self) -> None:
        run = self.record.run
        self.ref = self.naming.run(job_of(run), run["runId"])

    def events(self) -> Iterator[Json]:
        run = self.record.run
        began, ended = _seconds(run.get("startTime")), _seconds(run.get("endTime"))
        state = _RUN_ENDS.get(str(run["status"]))
        common: dict[str, Any] = {
            "parent": self.naming.parent,
            "run_facets": run_facets(run, self.record.gaps),
            "job_facets": job_facets(run, "JOB"),
        }
        if began:
            yield run_event(START, self.ref, began, **common)
        if state and ended:
            if state == FAIL:
                error = failure_facet(self.history.end, "The run failed")
                common["run_facets"] = {**common["run_facets"], "errorMessage": error}
            yield run_event(state, self.ref, ended, **common)
        for attempt in self.history.attempts:
            yield from self._attempt(attempt, ended if state else None)

    def _attempt(self, attempt: Attempt, run_ended: datetime | None) -> Iterator[Json]:
        ref = self._ref(attempt, "")
        names = self._names()
        made = [_made(key, events, names) for key, events in _by_key(attempt.made).items()]
        inputs = self._inputs(attempt, made, names)
        checked = _by_key(attempt.checked, lambda one: one["evaluation"])
        apart = {key: events for key, events in checked.items() if key in {one.key for one in made}}
        inputs |= {key: _checked(key, events, names) for key, events in checked.items() if key not in apart}
        code = next((one for key in self._keys(attempt) if (one := self._code(key))), {})
        common: dict[str, Any] = {
            "parent": self.ref,
            "run_facets": attempt_facets(self.record.run, attempt, names.gaps),
            "job_facets": job_facets(self.record.run, "STEP", code),
        }
        united = _unite(inputs.values())
        yield run_event(START, ref, _milliseconds(attempt.began), **common, inputs=united)
        if end := self._end(attempt, run_ended):
            state, at = end
            if state == FAIL:
                common["run_facets"] = {**common["run_facets"], "errorMessage": failure_facet(attempt.end, "It failed")}
            if made:
                common["job_facets"] = {**common["job_facets"], "lineage": lineage_facet(made)}
            outputs = _unite(self._output(one) for one in made)
            yield run_event(state, ref, at, **common, inputs=united, outputs=outputs)
        if apart:
            yield from self._checks(attempt, apart, names)

    def _checks(self, attempt: Attempt, checked: Mapping[Key, list[Json]], names: AssetNames) -> Iterator[Json]:
        """A run for the checks that a step makes of its own outputs: it reads them, the step does not."""
        times = [time_of(one) for events in checked.values() for one in events]
        step = self._ref(attempt, "")
        inputs = _unite(_checked(key, events, names) for key, events in checked.items())
        common: dict[str, Any] = {"parent": step, "job_facets": job_facets(self.record.run, "TEST"), "inputs": inputs}
        run = self._ref(attempt, "checks")
        yield run_event(START, run, _milliseconds(min(times)), **common)
        yield run_event(COMPLETE, run, _milliseconds(max(times)), **common)

    def _inputs(self, attempt: Attempt, made: list[Made], names: AssetNames) -> dict[Key, Dataset]:
        """The assets that a try read: those of what it made, else of what it was to make; and those it observed."""
        found = {key: dataset for one in made for key, dataset in one.sources.items()}
        done = {one.key for one in made}
        for key in (key for key in self.history.planned.get(attempt.step, ()) if key not in done):
            asset = self.record.assets.get(key, NO_ASSET)
            found |= {one: names.name(one) for one in sources_of({}, asset.definition)}
        own = {one.dataset.key for one in made}
        found |= {key_of(one["assetKey"]): names.name(key_of(one["assetKey"]), one) for one in attempt.seen}
        return {key: dataset for key, dataset in found.items() if dataset.key not in own}

    def _output(self, made: Made) -> Dataset:
        asset = self.record.assets.get(made.key, NO_ASSET)
        facets = {**asset_facets(made.key, asset.definition), **column_facets_of(made)}
        columns = metadata_of(made.events[-1]).columns() or metadata_of(asset.definition).columns()
        return replace(made.dataset, schema_fields=columns, facets=facets, run_facets=made_facets(made.events))

    def _end(self, attempt: Attempt, run_ended: datetime | None) -> tuple[str, datetime] | None:
        """How and when a try ended: with its run, if nothing else ended it."""
        if attempt.end:
            failed = ABORT if attempt.is_interrupted else FAIL
            return failed if attempt.is_failed else COMPLETE, _milliseconds(time_of(attempt.end))
        if not attempt.step:
            times = [time_of(one) for one in (*attempt.made, *attempt.seen, *attempt.checked)]
            return COMPLETE, _milliseconds(max(times))
        return (ABORT, max(run_ended, _milliseconds(attempt.began))) if run_ended else None

    def _names(self) -> AssetNames:
        """The names of assets in this run: at its own materializations of them."""
        assets = dict(self.record.assets)
        for key, event in self.history.made.items():
            assets[key] = replace(assets.get(key, NO_ASSET), event=event)
        return AssetNames(assets, self.naming, self.databases)

    def _ref(self, attempt: Attempt, below: str) -> RunRef:
        step = attempt.step.partition("[")[0] or _REPORTED  # the steps of a dynamic output are runs of one job
        job = ".".join(filter(None, (self.ref.job, step, below)))
        found = self.naming.run(job, self.record.run["runId"], attempt.step, attempt.number, *filter(None, (below,)))
        return replace(found, root=self.ref.root or self.ref)

    def _keys(self, attempt: Attempt) -> Iterator[Key]:
        yield from self.history.planned.get(attempt.step, ())
        yield from (key_of(one["assetKey"]) for one in attempt.made)

    def _code(self, key: Key) -> Json:
        return metadata_of(self.record.assets.get(key, NO_ASSET).definition).code()


def _report_events(record: ReportRecord, names: AssetNames, naming: Naming) -> Iterator[Json]:
    """The run of a materialization or observation that was reported from outside: an instant."""
    event = record.event
    key, at = key_of(event["assetKey"]), _milliseconds(time_of(event))
    ids = (event["__typename"], text_of(key), event["timestamp"], event.get("partition") or "")
    run = naming.run(report_job_of(event), *ids)
    asset = record.assets.get(key, NO_ASSET)
    common: dict[str, Any] = {"parent": naming.parent}
    if event["__typename"] == "MaterializationEvent":
        made = _made(key, [event], names)
        columns = metadata_of(event).columns()
        facets = {**asset_facets(key, asset.definition), **column_facets_of(made)}
        output = replace(made.dataset, schema_fields=columns, facets=facets, run_facets=made_facets([event]))
        common |= {"inputs": _unite(made.sources.values()), "outputs": (output,)}
        jobs = {**job_facets({}, "REPORT"), "lineage": lineage_facet([made])}
    else:
        common["inputs"], jobs = (names.name(key, event),), job_facets({}, "REPORT")
    gaps = {**record.gaps, **names.gaps}
    yield run_event(COMPLETE, run, at, **common, run_facets=gap_facets(gaps), job_facets=jobs)


def _made(key: Key, events: list[Json], names: AssetNames) -> Made:
    """A materialized asset with its sources. It may be partitioned: then an event of the step is one partition."""
    definition = names.assets.get(key, NO_ASSET).definition
    keys = sources_of(events[-1], definition)
    return Made(key, names.name(key, events[-1]), events, {one: names.name(one) for one in keys if one != key})


def _checked(key: Key, events: list[Json], names: AssetNames) -> Dataset:
    return replace(names.name(key), run_facets={"dataQualityAssertions": assertions_facet(events)})


def _by_key(events: Iterable[Json], member: Any = lambda one: one) -> dict[Key, list[Json]]:
    found: dict[Key, list[Json]] = {}
    for one in events:
        found.setdefault(key_of(member(one)["assetKey"]), []).append(one)
    return found


def _unite(datasets: Iterable[Dataset]) -> tuple[Dataset, ...]:
    """Each dataset once: two assets may be at one place."""
    found: dict[tuple[str, str], Dataset] = {}
    for one in datasets:
        before = found.setdefault(one.key, one)
        found[one.key] = replace(before, run_facets={**one.run_facets, **before.run_facets})
    return tuple(found.values())


def _milliseconds(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def _seconds(at: float | None) -> datetime | None:
    return datetime.fromtimestamp(at, UTC) if at else None
