"""When incidents began, were detected, explained and resolved, and how long that took in a period. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whence.govern.incidents.incident import MINUTE, Incident
from whence.govern.reports.durations import Durations, collect_durations
from whence.govern.reports.period import ReportPeriod

IN_TIME = 30 * MINUTE
"""How soon after its detection the cause of an incident should be confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTimes:
    """Times of an incident (µs). `detected`: when the log received its first recorded transition, None if that is not
    known; `identified`: when a person first confirmed its cause; `resolved`: None while it is not. `pages`: whether it
    was ever to page somebody.
    """

    since: int
    detected: int | None = None
    identified: int | None = None
    resolved: int | None = None
    pages: bool = False

    @property
    def is_over_unseen(self) -> bool:
        """Whether it was over before it was detected."""
        return self.detected is not None and self.resolved is not None and self.resolved <= self.detected

    @property
    def to_detect(self) -> int | None:
        """From its beginning to its detection; a clock that is ahead takes nothing away."""
        return None if self.detected is None else max(0, self.detected - self.since)

    @property
    def to_identify(self) -> int | None:
        """From its detection to the confirmation of its cause; none if that came first."""
        if self.detected is None or self.identified is None:
            return None
        return max(0, self.identified - self.detected)

    @property
    def to_resolve(self) -> int | None:
        """From its detection to its end."""
        return None if self.detected is None or self.resolved is None else self.resolved - self.detected


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseTimes:
    """Incidents in a period: how many began (and `paged`), were resolved, and are open at its end.

    `confirmed`: how many of those that were detected in it, `confirmable`, had a confirmed cause in time; of
    `undecided` more that is not known yet. `over_unseen`: resolved ones that were over before they were detected.
    """

    began: int = 0
    paged: int = 0
    resolved: int = 0
    open: int = 0
    detection: Durations = field(default_factory=Durations)
    identification: Durations = field(default_factory=Durations)
    resolution: Durations = field(default_factory=Durations)
    over_unseen: int = 0
    confirmed: int = 0
    confirmable: int = 0
    undecided: int = 0


def times_of(one: Incident, received: Mapping[str, int], at: int) -> IncidentTimes:
    """The times of an incident until a time (µs). `received`: when the log received the first transition of an
    incident, by the incident's id.
    """
    known = [received[id_] for id_ in one.ids if id_ in received and received[id_] <= at]
    confirmed = [act.time for act in one.acts if act.record.act == "confirm" and act.record.cause and act.time <= at]
    return IncidentTimes(
        since=one.since,
        detected=min(known, default=None),
        identified=min(confirmed, default=None),
        resolved=one.changes[-1].time if one.state == "resolved" else None,
        pages=any(change.notify == "page" for change in one.changes),
    )


def measure_response(incidents: Iterable[IncidentTimes], period: ReportPeriod) -> ResponseTimes:
    """What happened to incidents in a period: each duration counts in the period in which it ends."""
    several = list(incidents)
    began = [one for one in several if period.has(one.since)]
    resolved = [one for one in several if period.has(one.resolved)]
    # What began in the period, and was never recorded, was detected at a time that is not known.
    found = [one for one in several if period.has(one.since if one.detected is None else one.detected)]
    confirmable = [one for one in several if period.has(one.detected) and not _is_undecided(one, period)]
    return ResponseTimes(
        began=len(began),
        paged=sum(one.pages for one in began),
        resolved=len(resolved),
        open=sum(one.resolved is None for one in several),
        detection=collect_durations(one.to_detect for one in found),
        identification=collect_durations(one.to_identify for one in several if period.has(one.identified)),
        resolution=collect_durations(one.to_resolve for one in resolved if not one.is_over_unseen),
        over_unseen=sum(one.is_over_unseen for one in resolved),
        confirmed=sum(_is_in_time(one) for one in confirmable),
        confirmable=len(confirmable),
        undecided=sum(period.has(one.detected) for one in several) - len(confirmable),
    )


def _is_in_time(one: IncidentTimes) -> bool:
    return one.to_identify is not None and one.to_identify <= IN_TIME


def _is_undecided(one: IncidentTimes, period: ReportPeriod) -> bool:
    """Whether its cause is not confirmed, and there was still time for that at the end."""
    return one.identified is None and one.detected is not None and one.detected + IN_TIME > period.at
