"""The responses of each question in the OpenAPI document: types, statuses, headers."""

from typing import Any

from whence.api.http.problems import MEDIA_TYPE
from whence.api.http.response_types import Envelope
from whence.govern.containment.documents import ContainmentPlanDocument
from whence.govern.containment.rerun_documents import RerunPlanDocument
from whence.govern.containment.rollback_documents import RollbackPointDocument
from whence.query.rendering import documents, report_documents
from whence.query.rendering.blast import Blast
from whence.query.rendering.checks import CheckResults
from whence.query.rendering.data_subject import PersonalData
from whence.query.rendering.diagnosis import RootCauses
from whence.query.rendering.sensitivity import SensitivityLabels
from whence.query.rendering.table_versions import VersionsOfDataset
from whence.query.rendering.timeline import ChangesUpstream

ENVELOPES: dict[str, Any] = {
    "lineage": Envelope[documents.Lineage],
    "impact": Envelope[documents.Impact],
    "paths": Envelope[documents.Paths],
    "why-not": Envelope[documents.WhyNot],
    "diff": Envelope[report_documents.Diff],
    "history": Envelope[report_documents.History],
    "runs": Envelope[report_documents.RunLineage],
    "search": Envelope[documents.Found],
    "measurements": Envelope[report_documents.Measurements],
    "check-results": Envelope[CheckResults],
    "versions": Envelope[VersionsOfDataset],
    "containment": Envelope[ContainmentPlanDocument],
    "rerun": Envelope[RerunPlanDocument],
    "rollback": Envelope[RollbackPointDocument],
    "changes": Envelope[ChangesUpstream],
    "diagnose": Envelope[RootCauses],
    "sensitivity": Envelope[SensitivityLabels],
    "subject": Envelope[PersonalData],
    "blast": Envelope[Blast],
}
"""The type of `data`, by question."""


def documented(question: str) -> dict[int | str, dict[str, Any]]:
    """The responses of a route, by status."""
    problems = {
        400: "The cursor is not of this question, or `wait_for` is no position",
        404: "Nothing has that name; `candidates` are the nearest",
        422: "A parameter is not as it must be, or a name fits several nodes: `candidates`",
        503: "The store cannot serve now, or does not have `wait_for` yet; with Retry-After",
    }
    return {
        200: {
            "model": ENVELOPES[question],
            "description": "The answer; as CSV all of its rows",
            "headers": {"ETag": {"schema": {"type": "string"}, "description": "Changes when the answer may"}},
            "content": {"text/csv": {"schema": {"type": "string"}}},
        },
        304: {"description": "The answer has not changed since the one with this ETag"},
        **{
            status: {"description": description, "content": {MEDIA_TYPE: {}}}
            for status, description in problems.items()
        },
    }
