"""A rollback point as JSON: the trusted run, and the runs that it rests on, with commits and versions where known."""

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import TypedDict

from whence.govern.containment.rollback import RollbackPoint, TrustedRun, runs_of
from whence.model.names import DatasetName, RunName
from whence.query.answers.instants import iso
from whence.query.rendering import report_documents
from whence.query.rendering.listings import Whole
from whence.query.rendering.reports import commit_document
from whence.query.runs.commits import Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What a run itself reported: its commit, and the versions of what it wrote (of Delta, of Iceberg)."""

    commit: Commit | None = None
    versions: Mapping[DatasetName, str]


class TrustedRunDocument(TypedDict):
    """A run that can be trusted. `version`: of the dataset that it wrote; None if the run did not report it: then there
    is the commit only. `reads`: the runs that wrote its inputs; `origins`: its inputs that no known run wrote.
    """

    run: str
    job: str
    dataset: str
    written_at: str
    commit: report_documents.Commit | None
    version: str | None
    reads: list[str]
    origins: list[str]


class RejectedRunDocument(TypedDict):
    """A newer run that cannot be trusted."""

    run: str
    job: str
    written_at: str
    reason: str


class RollbackPointDocument(TypedDict):
    """Where to roll a dataset back to, and all runs that this rests on, the nearest first. `rejected`: newer runs, the
    latest first. `checked`: whether the caller may read the results of checks; `hidden`: inputs that they may not see.
    """

    node: str
    since: str
    point: str | None
    runs: list[TrustedRunDocument]
    rejected: list[RejectedRunDocument]
    checked: bool
    hidden: int


def rollback_document(found: RollbackPoint, reported: Mapping[RunName, Reported]) -> Whole:
    """The answer."""
    runs = list(runs_of(found.point)) if found.point else []
    head: RollbackPointDocument = {
        "node": str(found.dataset),
        "since": iso(found.since),
        "point": None if found.point is None else str(found.point.run),
        "runs": [_run(one, reported.get(one.run)) for one in runs],
        "rejected": [
            {
                "run": str(one.run),
                "job": str(one.run.job),
                "written_at": iso(one.written_at),
                "reason": one.reason,
            }
            for one in found.rejected
        ],
        "checked": found.checked,
        "hidden": found.hidden,
    }
    return Whole({**head}, found.completeness)


def _run(one: TrustedRun, reported: Reported | None) -> TrustedRunDocument:
    commit = reported.commit if reported else None
    return {
        "run": str(one.run),
        "job": str(one.run.job),
        "dataset": str(one.dataset),
        "written_at": iso(one.written_at),
        "commit": None if commit is None else commit_document(commit),
        "version": reported.versions.get(one.dataset) if reported else None,
        "reads": [str(source.run) for source in one.reads],
        "origins": [str(origin) for origin in one.origins],
    }
