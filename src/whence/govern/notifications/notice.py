"""What receivers are notified of: an incident after one of its transitions."""

from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from whence.govern.gate.impact import is_hidden, subject_of
from whence.model.access import Viewer
from whence.model.ids import netstrings
from whence.model.names import DatasetName, Node

_HIDDEN = "hidden"
_HIDDEN_TITLE = "An incident of a dataset that this receiver may not see"


class State(StrEnum):
    """The state of an incident."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    MITIGATED = "mitigated"
    RESOLVED = "resolved"
    MERGED = "merged"

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do. A merged incident goes on in another one."""
        return self in (State.RESOLVED, State.MERGED)


class Severity(StrEnum):
    """How urgent an incident is: somebody is woken, or somebody has a task."""

    PAGE = "page"
    TICKET = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """A finding of an incident. `rule`: what is violated; `text`: what was observed; `until`: None while it holds.

    `plain`: what is violated without the name of a check or of a rule of a contract, which may name anything; empty if
    `rule` is no such name.
    """

    node: Node
    rule: str
    text: str = ""
    plain: str = ""
    since: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A line of the payload, such as the last successful run. `nodes`: all that it names; none: that is not known.

    `plain`: the text without names; empty: without them nothing is left of it.
    """

    label: str
    text: str
    nodes: tuple[Node, ...] = ()
    plain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A page of Whence. `path`: from the address of the server on."""

    title: str
    path: str
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An incident as it is after a transition at the time `at`; times are in µs.

    `unseen`: how many symptoms a receiver may not see; `runbook`: its address, or a text; `resolved_at`: None until it
    is over; `silence`: the command that silences it. `origin`: the incident whose place this one took, as receivers
    know it; its own id if it is empty. `goes_on`: it was merged, and receivers know the other one by the same name.
    `plain_title`: the title without such names as `Symptom.plain` leaves out; empty if it has none.
    """

    incident: str
    transition: str
    state: State
    severity: Severity
    title: str
    root: Node
    at: int
    since: int
    plain_title: str = ""
    symptoms: tuple[Symptom, ...] = ()
    owners: tuple[str, ...] = ()
    tier: str = ""
    domain: str = ""
    resolved_at: int | None = None
    details: tuple[Detail, ...] = ()
    links: tuple[Link, ...] = ()
    runbook: str = ""
    silence: str = ""
    unseen: int = 0
    origin: str = ""
    goes_on: bool = False

    @property
    def is_over(self) -> bool:
        """Whether receivers may close what they know it by."""
        return self.state.is_over and not self.goes_on

    @property
    def environment(self) -> str:
        """The namespace of the root."""
        return subject_of(self.root).namespace

    def seen_by(self, viewer: Viewer) -> "Notice":
        """The notice without whatever a viewer may not see: counted, and not named. Free texts may name anything, so
        only those who see everything get them.
        """

        def can_see(*nodes: Node) -> bool:
            return all(_can_see(one, viewer) for one in nodes)

        if viewer.can_see_all:
            return self
        symptoms = tuple(
            replace(one, rule=one.plain or one.rule, text="") for one in self.symptoms if can_see(one.node)
        )
        shown = replace(
            self,
            title=self.plain_title or self.title,
            symptoms=symptoms,
            unseen=self.unseen + len(self.symptoms) - len(symptoms),
            details=tuple(
                one if one.nodes and can_see(*one.nodes) else replace(one, text=one.plain, nodes=())
                for one in self.details
                if one.plain or (one.nodes and can_see(*one.nodes))
            ),
            links=tuple(one for one in self.links if can_see(*one.nodes)),
        )
        if can_see(self.root):
            return shown
        token = DatasetName(_HIDDEN, f"hidden-{self.incident[:16]}")
        nameless = replace(shown, root=token, title=_HIDDEN_TITLE, details=(), links=())
        return replace(nameless, owners=(), domain="", runbook="", silence="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The delivery of a notice to a receiver. `earlier`: the incident's notices before this one, in order.

    `reference`: what the adapter returned for the incident's first act; empty for the first. `is_repeated`: an earlier
    attempt may have succeeded without anybody having noticed.
    """

    notice: Notice
    receiver: str
    earlier: tuple[Notice, ...] = ()
    reference: str = ""
    is_repeated: bool = False

    @property
    def at(self) -> int:
        """The time of the notice (µs)."""
        return self.notice.at

    @property
    def id(self) -> str:
        """The act's name: the same for every attempt."""
        return digest(self.notice.incident, self.notice.transition, self.receiver)

    @property
    def thread(self) -> str:
        """The name of all acts of the incident for this receiver."""
        return digest(self.notice.origin or self.notice.incident, self.receiver)


def digest(*parts: str) -> str:
    """A name for the parts: 32 hexadecimal digits."""
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _can_see(node: Node, viewer: Viewer) -> bool:
    return not is_hidden(node) and viewer.can_see(node)
