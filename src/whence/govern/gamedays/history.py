"""The events of a scenario: what its jobs report, well, faulty and mended. Pure; the same scenario, the same events."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from whence.govern.gamedays.contents import Content, count_rows, healthy, write_content
from whence.govern.gamedays.scenario import MINUTE, Fault, Scenario, Table, Task
from whence.govern.slos.records import declaration_event, declaration_of
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, dataset_event, facet, own_facet, parent_facet, run_event

Json = dict[str, Any]
_RERUN = 10 * MINUTE
"""From one job that is run again to the next, at least."""
_RUNS = UUID("6f1c0b6e-3f0f-5d0a-9a53-0d3c5f6b2a11")
_REPOSITORY = "https://git.example/data"


@dataclass(frozen=True, slots=True)
class Event:
    """An event, and when it arrives (µs)."""

    time: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """A run that is to start. `scheduled`: the time it was scheduled for; `is_rerun`: after the repair."""

    time: int
    place: int
    task: Task
    scheduled: int
    is_rerun: bool = False

    @property
    def run(self) -> RunName:
        text = f"{self.task.name}/{self.scheduled}/{'again' if self.is_rerun else ''}"
        return RunName(str(uuid5(_RUNS, text)), self.task.name)


def make_events(scenario: Scenario, producer: str) -> Sequence[Event]:
    """All events of a scenario, in order. `producer`: the person who declares objectives, owners and tiers."""
    declared = list(_declare(scenario, producer))
    return sorted((*declared, *_Estate(scenario=scenario).run()), key=lambda one: one.time)


def _declare(scenario: Scenario, producer: str) -> Iterator[Event]:
    for table in scenario.tables.values():
        facets: Json = {}
        if table.owner:
            facets["ownership"] = facet("OwnershipDatasetFacet", owners=[{"name": table.owner, "type": "OWNER"}])
        if table.tier is not None:
            facets["whence_tier"] = own_facet("TierFacet", tier=table.tier)
        if table.kind:
            facets["datasetType"] = facet("DatasetTypeDatasetFacet", datasetType=table.kind)
        if facets:
            event = dataset_event(scenario.start, table.name, facets=facets)
            yield _event(scenario.start, event | {"producer": producer})
    for one in scenario.objectives:
        record = declaration_of(one)
        yield _event(scenario.start, declaration_event(record, one.dataset.namespace, scenario.start, producer))


def _event(time: int, body: Json) -> Event:
    return Event(time, json.dumps(body, ensure_ascii=False).encode())


@dataclass(slots=True, kw_only=True)
class _Estate:
    """The datasets while the jobs run, and what each run in progress will have written when it ends."""

    scenario: Scenario
    contents: dict[str, Content] = field(default_factory=dict)

    def run(self) -> Iterator[Event]:
        """Run everything that is scheduled, and after the repair what was wrong, again."""
        written = {key for task in self.scenario.tasks for key in task.writes}
        self.contents = {key: healthy(one) for key, one in self.scenario.tables.items() if key not in written}
        ending: list[tuple[int, Mapping[str, Content]]] = []
        for start in sorted(_starts(self.scenario), key=lambda one: (one.time, one.place)):
            for _, contents in (one for one in ending if one[0] <= start.time):
                self.contents.update(contents)
            ending = [one for one in ending if one[0] > start.time]
            fault = None if start.is_rerun else self.scenario.fault_of(start.task.name, start.scheduled)
            if all(key in self.contents for key in _read(start.task, fault)):
                contents = self._write(start.task, fault)
                yield from self._report(start, fault, contents)
                if not (fault and fault.fails):
                    ending.append((start.time + start.task.takes, contents))

    def _write(self, task: Task, fault: Fault | None) -> Mapping[str, Content]:
        return {key: write_content(self.scenario.tables[key], task, fault, self.contents) for key in task.writes}

    def _report(self, start: _Start, fault: Fault | None, contents: Mapping[str, Content]) -> Iterator[Event]:
        task, run, end = start.task, start.run, start.time + start.task.takes
        run_facets, job_facets = _run_facets(start), _job_facets(task, fault)
        inputs = [dataset(self._name(key), facets=_schema(self.contents[key])) for key in _read(task, fault)]
        begun = run_event(start.time, RunState.START, run, run_facets=run_facets, job_facets=job_facets)
        yield _event(start.time, begun)
        if fault and fault.fails:
            run_facets["errorMessage"] = facet(
                "ErrorMessageRunFacet", message=fault.fails, programmingLanguage="python"
            )
            outputs = [dataset(self._name(key)) for key in task.writes]
            state = RunState.FAIL
        else:
            outputs = [self._output(self.scenario.tables[key], contents[key], run) for key in task.writes]
            state = RunState.COMPLETE
        event = run_event(end, state, run, run_facets=run_facets, job_facets=job_facets, inputs=inputs, outputs=outputs)
        yield _event(end, event)

    def _output(self, table: Table, content: Content, run: RunName) -> Json:
        rows, distinct = count_rows(table, content, run.run_id)
        columns = {
            one.name: {"nullCount": round(rows * one.nulls), "distinctCount": distinct} for one in content.columns
        }
        edges = [
            Edge(
                source=FieldName(self._name(key), column),
                target=FieldName(table.name, one.name),
                type="DIRECT",
                subtype="TRANSFORMATION",
            )
            for one in content.columns
            for key, column in one.sources
            if column
        ]
        facets = _schema(content) | ({"columnLineage": column_lineage(edges)} if edges else {})
        measured = {
            "outputStatistics": facet("OutputStatisticsOutputDatasetFacet", rowCount=rows, size=rows * 100),
            "dataQualityMetrics": facet("DataQualityMetricsInputDatasetFacet", rowCount=rows, columnMetrics=columns),
        }
        return dataset(table.name, facets=facets, outputFacets=measured)

    def _name(self, key: str) -> DatasetName:
        return self.scenario.tables[key].name


def _starts(scenario: Scenario) -> Iterator[_Start]:
    for place, task in enumerate(scenario.tasks):
        for scheduled in range(scenario.start + task.at, scenario.end, task.every):
            fault = scenario.fault_of(task.name, scheduled)
            if not (fault and fault.missing):
                late = fault.late if fault else 0
                yield _Start(time=scheduled + late, place=place, task=task, scheduled=scheduled)
    time = scenario.fixed_at
    for place, task in enumerate(_to_repeat(scenario)):
        yield _Start(time=time, place=place, task=task, scheduled=scenario.fault_at, is_rerun=True)
        time += max(_RERUN, task.takes)


def _to_repeat(scenario: Scenario) -> Iterator[Task]:
    """The jobs with a fault, and all that read what those write, in order."""
    wrong, faulty = set[str](), {one.job for one in scenario.faults}
    for task in scenario.tasks:
        if task.name in faulty or wrong & set(task.reads):
            wrong |= set(task.writes)
            yield task


def _read(task: Task, fault: Fault | None) -> Sequence[str]:
    return [fault.reads.get(key, key) if fault else key for key in task.reads]


def _schema(content: Content) -> Json:
    fields = [{"name": one.name, "type": one.type} for one in content.columns]
    return {"schema": facet("SchemaDatasetFacet", fields=fields)} if fields else {}


def _run_facets(start: _Start) -> Json:
    if not start.task.dag:
        return {}
    parent = JobName(start.task.name.namespace, start.task.dag)
    return {"parent": parent_facet(RunName(str(uuid5(_RUNS, f"{parent}/{start.scheduled}")), parent))}


def _job_facets(task: Task, fault: Fault | None) -> Json:
    commit = fault.commit if fault and fault.commit else task.commit
    if not commit:
        return {}
    members = {"type": "git", "url": f"{_REPOSITORY}/blob/{commit}/{task.name.name}", "repoUrl": _REPOSITORY}
    return {"sourceCodeLocation": facet("SourceCodeLocationJobFacet", **members, version=commit)}
