"""The states of an incident over time: a pure function of its findings and of what people did about it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from whence.govern.incidents.findings import Finding
from whence.govern.incidents.incident import Act, Change
from whence.model.records.incidents import ActText, IncidentStateText
from whence.model.slo_records import NotifyText

ENDED = "all findings ended"
RECOVERED = "the data is good again, and an alert is still open"
_AFTER: dict[ActText, tuple[frozenset[IncidentStateText], IncidentStateText]] = {
    "acknowledge": (frozenset({"open"}), "acknowledged"),
    "mitigate": (frozenset({"open", "acknowledged"}), "mitigated"),
    "resolve": (frozenset({"open", "acknowledged", "mitigated"}), "resolved"),
    "reopen": (frozenset({"acknowledged", "mitigated", "resolved"}), "open"),
}
"""The acts that change a state: in which states, and to which one."""
_ALWAYS: tuple[ActText, ...] = ("assign", "silence", "confirm", "comment")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """By how much the numbers of open findings, of those that are not quiet, of tickets and of pages change at a time,
    and which finding begins.
    """

    time: int
    open: int = 0
    wrong: int = 0
    tickets: int = 0
    pages: int = 0
    begins: Finding | None = None


@dataclass(slots=True)
class _Walk:
    state: IncidentStateText = "resolved"
    open: int = 0
    wrong: int = 0
    tickets: int = 0
    pages: int = 0
    has_recovered: bool = False
    """Whether it is mitigated by itself: no person said so."""
    changes: list[Change] = field(default_factory=list)

    def pass_moments(self, moments: Sequence[_Moment]) -> None:
        """Apply everything that findings change at one time."""
        was_open, was_wrong = self.open > 0, self.wrong > 0
        self.open += sum(one.open for one in moments)
        self.wrong += sum(one.wrong for one in moments)
        self.tickets += sum(one.tickets for one in moments)
        self.pages += sum(one.pages for one in moments)
        begun = [one.begins for one in moments if one.begins]
        reason = self.changes[-1].reason if self.changes else ""
        if begun and self.state == "resolved":
            self.state, reason = "open", begun[0].reason
        elif was_open and not self.open and self.state != "resolved":
            self.state, reason = "resolved", ENDED
        elif was_wrong and not self.wrong and self.state in ("open", "acknowledged"):
            self.state, reason, self.has_recovered = "mitigated", RECOVERED, True
        elif self.wrong and self.has_recovered and self.state == "mitigated":
            self.state, reason = "open", self.changes[0].reason
        if begun:
            reason = begun[0].reason
        self._note(moments[0].time, reason, "")

    def apply(self, act: Act) -> None:
        """Apply an act; one that the state does not allow changes nothing."""
        befores, after = _AFTER.get(act.record.act, (frozenset(), self.state))
        if self.changes and self.state in befores:
            self.state, self.has_recovered = after, False
            self._note(act.time, act.record.text or act.record.act, act.person)

    def _note(self, time: int, reason: str, by: str) -> None:
        change = Change(time=time, state=self.state, notify=self._notify(), reason=reason, by=by)
        if not self.changes or self.changes[-1].kind != change.kind:
            self.changes.append(change)

    def _notify(self) -> NotifyText | None:
        if self.state == "resolved":
            return None
        if self.pages:
            return "page"
        return "ticket" if self.tickets else None


def find_changes(findings: Iterable[Finding], acts: Iterable[Act]) -> tuple[Change, ...]:
    """The states of an incident with these findings, the first first; empty without one that lasted.

    It is mitigated when only alerts are open any more, and open again when the data is bad again. It is resolved when
    no finding is open any more, or when a person resolves it; the next finding that begins opens it again. An act at
    the time of a finding comes after it.
    """
    walk, waiting = _Walk(), sorted(acts, key=lambda one: one.order)
    for moments in _by_time(findings):
        while waiting and waiting[0].time < moments[0].time:
            walk.apply(waiting.pop(0))
        walk.pass_moments(moments)
    for act in waiting:
        walk.apply(act)
    return tuple(walk.changes)


def possible_acts(state: IncidentStateText) -> tuple[ActText, ...]:
    """The acts that change something about an incident in this state."""
    return (*(act for act, (befores, _) in _AFTER.items() if state in befores), *_ALWAYS)


def _by_time(findings: Iterable[Finding]) -> Iterator[Sequence[_Moment]]:
    moments: dict[int, list[_Moment]] = {}
    for one in sorted(findings, key=lambda one: one.order):
        for moment in _moments(one):
            moments.setdefault(moment.time, []).append(moment)
    for time in sorted(moments):
        yield moments[time]


def _moments(one: Finding) -> Iterator[_Moment]:
    yield _Moment(time=one.since, open=1, wrong=1, begins=one)
    for begin, end in one.quiet:
        yield _Moment(time=begin, wrong=-1)
        if end is not None:
            yield _Moment(time=end, wrong=1)
    if one.until is not None:
        is_quiet = any(end is None or end > one.until for _, end in one.quiet)
        yield _Moment(time=one.until, open=-1, wrong=0 if is_quiet else -1)
    if one.ticket_since is not None:
        yield _Moment(time=one.ticket_since, tickets=1)
        if one.until is not None:
            yield _Moment(time=one.until, tickets=-1)
    if one.page_since is not None:
        yield _Moment(time=one.page_since, pages=1)
        if one.until is not None:
            yield _Moment(time=one.until, pages=-1)
