"""`--run-events`: what a run of the head's code reports, and what production has of the same outputs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from whence.cli.answers.ask import Questions
from whence.cli.event_files import find_event_files, read_events
from whence.cli.gate.production import aliases_of
from whence.cli.gate.renames import Rename, renamed_edge, renaming
from whence.client.answers.graph import Lineage
from whence.errors import ArtifactError, EventError, NodeNotFoundError
from whence.govern.gate.code.job_code import is_code_of
from whence.govern.gate.code.run_lineage import OutputLineage
from whence.govern.gate.impact import is_hidden
from whence.model.events import Dataset, DatasetEvent, Job, RunEvent, RunState
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.read import read_event

_MOST_COLUMNS = 2_000
_REPORTED = (Origin.EXPLICIT, Origin.COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run of a job, whose code is at `location`, reports of one output."""

    job: JobName
    output: DatasetName
    lineage: OutputLineage
    location: Mapping[str, Any]
    run: str


@dataclass(frozen=True, slots=True)
class HeadRuns:
    """The reports of the runs of a head's code, those of earlier runs first."""

    reports: tuple[RunReport, ...] = ()

    def find(self, job: JobName, output: DatasetName, file: str, repository: str) -> OutputLineage | None:
        """What the head's job, or another job of the same file, writes into an output; None if no run reports it.

        The last run of a job counts. Jobs of one name are one job, in whichever namespace somebody runs it.
        """
        found = [
            one
            for one in self.reports
            if one.output == output and (one.job == job or is_code_of(one.location, file, repository))
        ]
        if not found:
            return None
        last = {one.job.name: one.run for one in found}
        counted = [one.lineage for one in found if one.run == last[one.job.name]]
        columns = {name: type_ for one in counted for name, type_ in one.columns.items()}
        edges = dict.fromkeys(edge for one in counted for edge in one.edges)
        return OutputLineage(columns=columns, edges=tuple(edges))


NO_RUNS = HeadRuns()


@dataclass(slots=True)
class _Run:
    """The events of one run, or of one job at design time. `began`: the time of its first event (µs)."""

    began: int
    ended_well: bool = False
    failed: bool = False
    reports: list[RunReport] = field(default_factory=list)


def read_runs(path: Path, renames: Sequence[str] = ()) -> HeadRuns:
    """The runs in files of events: those that completed. Raises ArtifactError.

    `renames`: `FROM=TO`, each a namespace and the beginning of a name, as in `file:/tmp/ci=s3://lake:shop`.
    """
    rename, runs = renaming(renames, "--run-rename"), dict[str, _Run]()
    try:
        for file in find_event_files([path]):
            for one in read_events(file):
                _add(runs, one.body, one.place, rename)
    except (OSError, EOFError) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from None
    if not runs:
        raise ArtifactError(str(path), "it has no event of a run: did the capture write to this file?")
    counted = sorted((one for one in runs.values() if one.ended_well and not one.failed), key=lambda one: one.began)
    return HeadRuns(tuple(report for run in counted for report in run.reports))


def _add(runs: dict[str, _Run], body: bytes, place: str, rename: Rename) -> None:
    try:
        event = read_event(body)
    except EventError as error:
        raise ArtifactError(place, f"it is no OpenLineage event: {error}") from None
    if isinstance(event, DatasetEvent):
        return
    is_run = isinstance(event, RunEvent)
    name = str(event.run.name) if isinstance(event, RunEvent) else str(event.job.name)
    run = runs.setdefault(name, _Run(began=event.time))
    run.began = min(run.began, event.time)
    state = event.state if isinstance(event, RunEvent) else RunState.COMPLETE
    run.ended_well |= state is RunState.COMPLETE or not is_run
    run.failed |= state in (RunState.FAIL, RunState.ABORT)
    edges = [
        renamed_edge(edge, rename)
        for one in derive_lineage_sets(event)
        if one.origin in _REPORTED
        for edge in one.edges
    ]
    for output in event.outputs:
        if report := _report(name, event.job, output, edges, rename):
            run.reports.append(report)


def _report(run: str, job: Job, output: Dataset, edges: Sequence[Edge], rename: Rename) -> RunReport | None:
    """What an event reports of an output; None without its columns."""
    name = rename(output.name)
    own = tuple(one for one in edges if _dataset_of(one.target) == name)
    columns = {one.name: one.type for one in output.fields} or dict.fromkeys(output.reported_columns, "")
    columns = _top_level(columns)
    if not columns or not own:
        return None
    location = next((one.payload for one in job.facets if one.key == "sourceCodeLocation"), "{}")
    lineage = OutputLineage(columns=columns, edges=own)
    return RunReport(job=job.name, output=name, lineage=lineage, location=msgspec.json.decode(location), run=run)


def _top_level(columns: Mapping[str, str]) -> dict[str, str]:
    """Columns without the members of structs, which come after their struct."""
    return {name: type_ for name, type_ in columns.items() if name.rpartition(".")[0] not in columns}


def known_lineage(
    questions: Questions, job: JobName, output: DatasetName, after: OutputLineage
) -> tuple[OutputLineage, OutputLineage] | None:
    """What production has of a job's output, and the run's report by the names that production gives its sources.

    None if that cannot be compared: nothing is known of its columns, or a part of it is hidden.
    """
    try:
        columns = _top_level({one.name: one.type or "" for one in questions.schema(output.namespace, output.name)})
        found = [_upstream(questions, FieldName(output, one)) for one in list(columns or after.columns)[:_MOST_COLUMNS]]
        whole = questions.upstream(str(output), depth=1, types="both")
    except NodeNotFoundError:
        return None
    edges = dict.fromkeys(edge for one in (whole, *found) for edge in _edges(one, str(job)))
    nodes = [node for edge in edges for node in (edge.source, edge.target)]
    if not edges or len(columns) > _MOST_COLUMNS or any(map(is_hidden, nodes)):
        return None
    own = sorted({edge.target.field for edge in edges if isinstance(edge.target, FieldName)})
    if not columns or {one.owner for one in whole.edges} != {str(job)}:  # others may have written the rest
        columns = {name: columns.get(name, "") for name in own}
    names = {alias: name for one in found if one for alias, name in aliases_of(output, one)}
    renamed = tuple(renamed_edge(edge, lambda one: names.get(one, one)) for edge in after.edges)
    before = OutputLineage(columns=columns, edges=tuple(edges))
    return before, OutputLineage(columns=after.columns, edges=renamed)


def _upstream(questions: Questions, column: FieldName) -> Lineage | None:
    try:
        return questions.upstream(str(column), depth=1, types="both")
    except NodeNotFoundError:
        return None


def _edges(found: Lineage | None, job: str) -> Iterator[Edge]:
    for one in found.edges if found else ():
        source, target = parse_node(one.source), parse_node(one.target)
        if one.owner != job or source is None or target is None:
            continue
        for how in one.transformations:
            yield Edge(
                source=source,
                target=target,
                type=how.type,
                subtype=how.subtype,
                masking=how.masking,
                description=how.description,
            )


def _dataset_of(node: Node) -> Node:
    return node.dataset if isinstance(node, FieldName) else node
