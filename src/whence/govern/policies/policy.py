"""A policy, its examples, and what it says of a node."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum

from whence.govern.policies.conditions import Condition
from whence.govern.policies.estate import Estate, Subject
from whence.model.names import Node
from whence.model.sensitivity import Grade


class Outcome(StrEnum):
    """What a policy says of a node."""

    OK = "ok"
    VIOLATED = "violated"
    NOT_EVALUATED = "not evaluated"


HIDDEN, SHOWN = "hidden", "shown"
"""What a policy that restricts reading says of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A node, and what the policy must say of it."""

    estate: Estate
    subject: Subject
    outcome: Outcome
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Each node of which `where` holds is a violation, if `required` does not hold and none of `unless` does. Without
    `required`, `where` itself is what is forbidden.

    With `restricts_reading` it forbids nothing: columns of which `where` holds, or may hold, are hidden from everybody
    but the stewards of their namespace and `readers` (subjects, as `group:privacy`).

    `namespaces`: only of nodes of these; none: of all. `texts`: by namespace, the policy as it is declared there, as
    canonical JSON of the form of `policies.yaml`; `place`: where it is written.
    """

    name: str
    reason: str
    owner: str
    where: Condition
    required: Condition | None = None
    unless: tuple[Condition, ...] = ()
    examples: tuple[Example, ...] = ()
    namespaces: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    place: str = ""
    restricts_reading: bool = False
    readers: tuple[str, ...] = ()
    scope: Condition = field(init=False)
    """Which nodes it is about, whatever data they show."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", self.where.scope)

    def is_about(self, namespace: str) -> bool:
        """Whether it judges nodes of a namespace."""
        return not self.namespaces or namespace in self.namespaces

    def at(self, day: date) -> "Policy":
        """The policy on a day (UTC), without the exceptions that are over."""
        left = tuple(one for one in self.unless if one.expires is None or day <= one.expires)
        return self if left == self.unless else replace(self, unless=left)

    def outcome_word(self, outcome: Outcome) -> str:
        """How an outcome is named: what may be is hidden, too."""
        if not self.restricts_reading:
            return outcome.value
        return SHOWN if outcome is Outcome.OK else HIDDEN

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All that it has."""
        return (self.where, *([self.required] if self.required else []), *self.unless)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declassifier:
    """A function that leaves at most `grade` of its arguments, as somebody answers for."""

    function: str
    grade: Grade
    reason: str
    owner: str


Categories = dict[str, frozenset[str]]
"""The tags that mark each category that the file adds, as `key` or `key=value`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """The policies of a file, and what they know of functions."""

    policies: tuple[Policy, ...] = ()
    categories: Categories
    declassifiers: tuple[Declassifier, ...] = ()

    @property
    def functions(self) -> frozenset[tuple[str, Grade]]:
        """What each declassifying function leaves, by its lower-case name."""
        return frozenset((one.function.casefold(), one.grade) for one in self.declassifiers)

    def at(self, time: int) -> "PolicyFile":
        """The policies at a time (µs), without the exceptions that are over."""
        day = datetime.fromtimestamp(time // 1_000_000, UTC).date()
        return replace(self, policies=tuple(one.at(day) for one in self.policies))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A node of which a policy does not hold, or may not. `path`: the way that shows it. `unknown`: why it may not.

    `blocks`: it is violated, or it is not evaluated and the node is on a way to a certified dataset.
    """

    policy: Policy
    node: Node
    outcome: Outcome
    path: tuple[Node, ...] = ()
    unknown: str = ""
    blocks: bool = False
