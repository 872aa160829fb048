"""An incident: the findings that one root explains, and what people did about them. Values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from whence.govern.incidents.findings import Finding
from whence.model.names import DatasetName
from whence.model.records.incidents import IncidentActRecord, IncidentStateText
from whence.model.slo_records import NotifyText

MINUTE, HOUR = 60_000_000, 3_600_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRules:
    """How findings become incidents (µs). `slack`: how much later than a finding its cause may become visible, or may
    have ended. `grace`: a finding that begins at most so long after the end of the last one of its dataset continues
    it.
    """

    slack: int = HOUR
    grace: int = HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRelation:
    """Which datasets with findings are upstream of which: for each, all of them, however far. A dataset may be upstream
    of itself.

    `representatives`: the name that stands for another name of the same dataset. `unfinished`: datasets of which
    something upstream was not read.
    """

    upstream: Mapping[DatasetName, frozenset[DatasetName]] = field(default_factory=dict)
    representatives: Mapping[DatasetName, DatasetName] = field(default_factory=dict)
    unfinished: frozenset[DatasetName] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What a person did about an incident at a time (µs). `person` is empty if their name is not verified; `namespace`:
    the one whose stewards may act so.
    """

    id: str
    time: int
    namespace: str
    person: str
    record: IncidentActRecord

    @property
    def order(self) -> tuple[int, str]:
        """The order of acts: by time."""
        return self.time, self.id


class Recorded(NamedTuple):
    """When an incident was recorded first (µs), and whether it was merged into another since."""

    time: int
    is_merged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The state of an incident from a time on (µs), why, and who made it so (empty: nobody)."""

    time: int
    state: IncidentStateText
    notify: NotifyText | None = None
    reason: str = ""
    by: str = ""

    @property
    def kind(self) -> tuple[IncidentStateText, NotifyText | None]:
        """What makes it another state than others."""
        return self.state, self.notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Findings with the same root, and the acts about them, all in order; `changes`: its states, the first first.

    `root`: the dataset of the finding that opened it; `roots`: with those of the same cycle, or written by the same
    failed run. `other_roots`: what may also be the root of some of its findings. `merged`: the recorded incidents that
    are now part of it. `until` (µs): None while a finding is open. `cause`: a node id that a person confirmed.
    `is_complete`: whether everything upstream of the root was read.
    """

    id: str
    root: DatasetName
    opened_by: Finding
    roots: tuple[DatasetName, ...]
    findings: tuple[Finding, ...]
    symptoms: tuple[DatasetName, ...] = ()
    other_roots: tuple[DatasetName, ...] = ()
    merged: tuple[str, ...] = ()
    changes: tuple[Change, ...]
    acts: tuple[Act, ...] = ()
    assignee: str = ""
    silenced_until: int | None = None
    cause: str = ""
    is_complete: bool = True

    @property
    def state(self) -> IncidentStateText:
        """Its last state."""
        return self.changes[-1].state

    @property
    def notify(self) -> NotifyText | None:
        """How urgent its most urgent open finding is; None if it is resolved."""
        return self.changes[-1].notify

    @property
    def since(self) -> int:
        """When the first of its findings became true (µs)."""
        return self.findings[0].since

    @property
    def until(self) -> int | None:
        """When the last of its findings ended (µs), or None."""
        ends = [one.until for one in self.findings if one.until is not None]
        return max(ends) if len(ends) == len(self.findings) else None

    @property
    def ids(self) -> frozenset[str]:
        """Its id, and those of the incidents that its findings would have opened."""
        return frozenset({self.id, *(one.incident for one in self.findings)})
