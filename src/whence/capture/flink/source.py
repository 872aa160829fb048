"""A folder of compiled plans as a capture: what the jobs whose plans changed read and write."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whence.capture.flink.plans import Plan, Written, list_plans, read_plan
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window
from whence_client.events.datasets import Dataset
from whence_client.events.runs import COMPLETE, extraction_error_facet, job_event, job_type_facet, run_event
from whence_client.lineage.facets import lineage_facets

VERSIONS = Versions("2.3.0", "2.3.0")
"""Of Flink, whose plans were read; no package of it is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord:
    """A plan that is new or changed: the job is named as its file, without `.json`. `gaps`: why it is incomplete."""

    job: str
    at: datetime
    digest: str
    plan: Plan | None
    gaps: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFolder:
    """The plans below a folder, or one file."""

    plans: Path
    name: str = "flink"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The folder."""
        return self.plans.absolute().as_uri()

    def check(self) -> Findings:
        """Whether the folder is there."""
        return Findings() if self.plans.exists() else Findings(problems=(f"there is no folder {self.plans}",))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[PlanRecord, Json]]:
        """The plans that changed since the cursor, which has their digests. Raises ArtifactError without any plan.

        Files keep nothing of the past: there is nothing in a window that ends.
        """
        if window.until is not None:
            return
        paths = list(list_plans(self.plans))
        if not paths:
            raise ArtifactError(str(self.plans), "there are no plans (*.json) below it")
        known: Json = dict(cursor) if isinstance(cursor, dict) else {}
        for path in paths:
            record = self._read(path)
            if known.get(record.job) != record.digest:
                known = {**known, record.job: record.digest}
                yield record, known

    def translate(self, record: PlanRecord, naming: Naming) -> Iterator[Json]:
        """The events of a plan."""
        return plan_events(record, naming)

    def _read(self, path: Path) -> PlanRecord:
        root = self.plans if self.plans.is_dir() else self.plans.parent
        job = path.relative_to(root).with_suffix("").as_posix()
        try:
            content, at = path.read_bytes(), datetime.fromtimestamp(path.stat().st_mtime, UTC)
            plan = read_plan(path)
        except ArtifactError as error:
            return PlanRecord(job=job, at=at, digest=_digest(content), plan=None, gaps={path.name: error.reason})
        return PlanRecord(job=job, at=at, digest=_digest(content), plan=plan, gaps=plan.gaps)


def plan_events(record: PlanRecord, naming: Naming) -> Iterator[Json]:
    """What is declared of the job, and if something is not known, a run that says what."""
    kind = {"jobType": job_type_facet("JOB", "FLINK", "STREAMING")}
    if record.plan is not None:
        outputs = [_output(one) for one in record.plan.outputs]
        inputs = record.plan.inputs
        yield job_event(naming.namespace, record.job, record.at, facets=kind, inputs=inputs, outputs=outputs)
    if record.gaps:
        errors = {place: f"{record.job}: {place}: {reason}" for place, reason in record.gaps.items()}
        run = naming.run(f"flink.{naming.instance}", record.job, record.digest)
        facets = {"extractionError": extraction_error_facet(errors)}
        reading = {"jobType": job_type_facet("READING", "FLINK")}
        yield run_event(COMPLETE, run, record.at, parent=naming.parent, run_facets=facets, job_facets=reading)


def _output(written: Written) -> Dataset:
    return replace(written.dataset, facets=lineage_facets(written.columns, written.influences))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class FlinkCapture:
    """What the entry point `flink` names."""

    name: str = "flink"
    kind: str = READ
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {"plans": "the folder of compiled plans, JOB.json each; one file, too"}
    )

    def check(self) -> Findings:
        """No package is needed: plans are JSON."""
        return Findings()

    def translate(self, record: PlanRecord, naming: Naming) -> Iterator[Json]:
        """As of any plan."""
        return plan_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> PlanFolder:
        """The capture of one folder. Raises ValueError for an option that is missing."""
        if not options.get("plans"):
            raise ValueError(f"no plans are given: set plans=DIRECTORY, {self.options['plans']}")
        return PlanFolder(plans=Path(options["plans"]))


capture = FlinkCapture()
