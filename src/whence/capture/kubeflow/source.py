"""The runs below a pipeline root of kfp's local runner as a capture: those whose tasks wrote something."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from whence.capture.kubeflow.events import record_events
from whence.capture.kubeflow.outcomes import read_run
from whence.capture.kubeflow.pipelines import read_pipelines
from whence.capture.kubeflow.records import Artifact, RunRecord, Unread
from whence.capture.kubeflow.runs import RunFolder, digest_of, has_cache, list_cached, list_runs
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window
from whence_client.events.runs import COMPLETE, RUNNING

VERSIONS = Versions("2.17.3", "2.17.3")
"""Of kfp, whose files were read; no package of it is needed."""
QUIET = timedelta(minutes=30)


def utc_now() -> datetime:
    """The time that a run has been quiet until."""
    return datetime.now(UTC)


Record = RunRecord | Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRuns:
    """One pipeline root, and the compiled pipelines whose runs are in it.

    A run that is not complete is still running, unless its files have not changed for `quiet`.
    """

    root: Path
    pipelines: Path
    quiet: timedelta = QUIET
    clock: Callable[[], datetime] = utc_now
    name: str = "kubeflow"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The folder of the runs."""
        return self.root.absolute().as_uri()

    def check(self) -> Findings:
        """Whether both folders are there."""
        missing = [one for one in (self.root, self.pipelines) if not one.exists()]
        return Findings(problems=tuple(f"there is no {one}" for one in missing))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """The files that are no pipelines, then the runs in the window that changed since the cursor.

        The cursor has a digest of each run. Raises ArtifactError without any pipeline.
        """
        pipelines, flaws = read_pipelines(self.pipelines)
        if not pipelines:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in flaws.items())
            raise ArtifactError(str(self.pipelines), reasons or "there are no compiled pipelines (*.yaml) below it")
        before: Json = dict(cursor) if isinstance(cursor, dict) else {}
        folders = list(list_runs(self.root))
        known = {one: before[one] for one in ("", *(each.path.name for each in folders)) if one in before}
        if flaws and known.get("") != (digest := digest_of(sorted(flaws.items()))):
            known = {**known, "": digest}
            yield Unread(at=self.clock(), digest=digest, flaws=flaws), known
        for folder in folders:
            state, is_over = folder.digest, self.clock() - folder.changed > self.quiet
            if not _is_in(folder, window) or known.get(folder.path.name) in (state, state if is_over else f"{state}+"):
                continue
            record = read_run(folder, pipelines, self._cached())
            if record.state != COMPLETE and not is_over:
                record = replace(record, state=RUNNING, failure="")
            known = {**known, folder.path.name: f"{state}+" if record.state == RUNNING else state}
            yield record, known

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a run, or of files that are not read."""
        return record_events(record, naming)

    def _cached(self) -> tuple[tuple[datetime, tuple[Artifact, ...]], ...] | None:
        return tuple(list_cached(self.root)) if has_cache(self.root) else None


def _is_in(folder: RunFolder, window: Window) -> bool:
    is_late = window.since is None or folder.started >= window.since
    return is_late and (window.until is None or folder.started < window.until)


@dataclass(frozen=True, slots=True)
class KubeflowCapture:
    """What the entry point `kubeflow` names."""

    name: str = "kubeflow"
    kind: str = READ
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "root": "the pipeline root of the local runner, with a folder of each run",
            "pipelines": "the folder of compiled pipelines, or one file",
            "quiet": "the minutes after which a run that is not complete has failed; 30 if not given",
        }
    )

    def check(self) -> Findings:
        """No package is needed: pipelines are YAML, and what runs leave is JSON."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """As of any root."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> LocalRuns:
        """The capture of one root. Raises ValueError for an option that is missing or wrong."""
        for one in ("root", "pipelines"):
            if not options.get(one):
                raise ValueError(f"no {one} is given: set {one}=DIRECTORY, {self.options[one]}")
        minutes = options.get("quiet") or "30"
        if not minutes.isascii() or not minutes.isdigit() or len(minutes) > 6:
            raise ValueError(f"quiet={minutes} is no number of minutes")
        return LocalRuns(
            root=Path(options["root"]), pipelines=Path(options["pipelines"]), quiet=timedelta(minutes=int(minutes))
        )


capture = KubeflowCapture()
