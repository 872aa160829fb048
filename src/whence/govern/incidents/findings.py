"""Findings: what is, or was, wrong with one dataset. Values; `sources` reads them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from whence.model.ids import netstrings
from whence.model.names import DatasetName
from whence.model.records.incidents import incident_id
from whence.model.slo_records import NotifyText


class FindingKind(StrEnum):
    """What found it."""

    SLO = "slo"
    RUN = "run"
    CHECK = "check"
    CONTRACT = "contract"
    POLICY = "policy"
    CERTIFICATION = "certification"
    LINEAGE = "lineage"
    CAPTURE = "capture"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with a dataset from `since` (µs) until `until`, None while it is.

    `rule`: what found it, as people read it; `column`: the one that is wrong, empty: the dataset, or not known;
    `ticket_since`, `page_since`: from when on it is that urgent; `notify_rule`: why; `run`: the id of the run in which
    it was found. Findings of the same `source` are one thing seen in several datasets: a failed run that writes three.
    `quiet`: times (from, until) in which the data was good again,
    and an alert was still open.
    """

    id: str
    kind: FindingKind
    rule: str
    dataset: DatasetName
    column: str = ""
    since: int
    until: int | None = None
    ticket_since: int | None = None
    page_since: int | None = None
    notify_rule: str = ""
    reason: str = ""
    run: str | None = None
    source: str = ""
    quiet: tuple[tuple[int, int | None], ...] = ()

    @property
    def family(self) -> str:
        """Findings of one family explain one another; empty: that data is wrong. What a policy forbids, a
        certification that lapsed, lineage that differs, or a source that is silent explains no wrong data.
        """
        match self.kind:
            case FindingKind.POLICY:
                return f"policy {self.rule}"
            case FindingKind.CERTIFICATION:
                return "certification"
            case FindingKind.LINEAGE:
                return "lineage"
            case FindingKind.CAPTURE:
                return "capture"
            case FindingKind.SLO | FindingKind.RUN | FindingKind.CHECK | FindingKind.CONTRACT:
                return ""

    @property
    def notify(self) -> NotifyText | None:
        """How urgent it is, or was at its end."""
        if self.page_since is not None:
            return "page"
        return "ticket" if self.ticket_since is not None else None

    @property
    def incident(self) -> str:
        """The id of the incident that it opens, if it opens one."""
        return incident_id(str(self.dataset), self.id)

    @property
    def order(self) -> tuple[int, str]:
        """The order of findings: by beginning."""
        return self.since, self.id

    def is_open_at(self, at: int) -> bool:
        """Whether it is true at a time (µs)."""
        return self.since <= at and (self.until is None or at < self.until)


def finding_id(kind: FindingKind, dataset: DatasetName, *parts: str) -> str:
    """The id of a finding: `parts` say which of its kind and dataset it is."""
    text = netstrings((str(kind), str(dataset), *parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def findings_at(findings: Iterable[Finding], at: int) -> Iterator[Finding]:
    """What of these was known at a time (µs): later ends and later urgency were not."""
    for one in findings:
        if one.since <= at:
            yield replace(
                one,
                until=_until(one.until, at),
                ticket_since=_until(one.ticket_since, at),
                page_since=_until(one.page_since, at),
                quiet=tuple((begin, _until(end, at)) for begin, end in one.quiet if begin <= at),
            )


def _until(time: int | None, at: int) -> int | None:
    return time if time is not None and time <= at else None
