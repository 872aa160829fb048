"""The types of answers about gates, for the OpenAPI document; tests compare answers with them."""

from typing_extensions import TypedDict

from whence.model.gate_records import PromotionRecord, VerdictRecord, VerdictText


class VerdictRow(TypedDict):
    """A recorded verdict, with counts of what the caller may see and may not."""

    repository: str
    commit: str
    verdict: VerdictText
    pull: str
    recorded_at: str
    recorded_by: str
    changes: int
    affected: int
    hidden: int


class ApprovalRow(TypedDict):
    """A person's approval of one commit."""

    repository: str
    commit: str
    person: str
    recorded_at: str


class WaiverRow(TypedDict):
    """A change that may pass until the end of a day (UTC). The reason is empty for who may not see everything."""

    repository: str
    change: str
    owner: str
    reason: str
    expires: str
    is_expired: bool
    recorded_at: str


class RecordedVerdict(TypedDict):
    """A verdict as it was recorded, and the approvals of its commit so far."""

    repository: str
    recorded_at: str
    recorded_by: str
    verdict: VerdictRecord
    approvals: list[ApprovalRow]


class PromotionRow(TypedDict):
    """The last verdict on the promotion of a dataset, a model or a job."""

    node: str
    recorded_at: str
    recorded_by: str
    promotion: PromotionRecord


class PromotionWritten(TypedDict):
    """The verdict that is recorded now; `transition`: whether it differs from the one before."""

    transition: bool
    promotion: PromotionRecord


class VerdictWritten(TypedDict):
    """The verdict that is recorded now; `transition`: whether it differs from the one before."""

    transition: bool
    verdict: VerdictRecord
