"""Who may do and see what: pure, and denied unless granted.

A pattern is a text in which `*` stands for any characters; everything else stands for itself. There is nothing more to
the language, so no policy can compute, loop or reach the host.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from whence.model.names import DatasetName, FieldName, JobName, Node


class Action(StrEnum):
    """What a request does. `PUBLIC` asks nobody who they are: that the process lives, how to sign in. `KNOWN` needs
    somebody, with or without a grant: who they are, signing out.
    """

    PUBLIC = "public"
    KNOWN = "known"
    READ = "read"
    WRITE = "write"
    STEWARD = "steward"
    ADMIN = "admin"


SCOPES = frozenset({Action.READ, Action.WRITE, Action.STEWARD, Action.ADMIN})
"""What a key may be limited to."""


class Role(IntEnum):
    """Each may what the one before it may: read lineage, send events, state facts by hand, grant access."""

    READER = 1
    WRITER = 2
    STEWARD = 3
    ADMIN = 4


_LEAST = {Action.READ: Role.READER, Action.WRITE: Role.WRITER, Action.STEWARD: Role.STEWARD, Action.ADMIN: Role.ADMIN}


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in the namespaces that fit a pattern."""

    role: Role
    namespaces: str


@dataclass(frozen=True, slots=True)
class Hiding:
    """Fields that are hidden, from all but the stewards of their namespace: a pattern for each part of their name."""

    namespaces: str
    datasets: str
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Somebody who asks: `key:<id>`, `user:<subject>`, or `open`. `scopes` bound what the grants allow.

    A hiding that they are exempt from wherever it applies is dropped, so it changes no answer of theirs.
    """

    name: str
    grants: tuple[Grant, ...] = ()
    hidings: tuple[Hiding, ...] = ()
    scopes: frozenset[Action] = SCOPES

    def __post_init__(self) -> None:
        # A star of the hiding's pattern fits a star of the grant's only, so `fits` says here that one covers the other.
        in_force = tuple(one for one in self.hidings if not self._keeps(one.namespaces))
        object.__setattr__(self, "hidings", in_force)

    def may(self, action: Action, namespace: str | None = None) -> bool:
        """Whether they may act in a namespace; without one: whether there is any in which they may."""
        if action in (Action.PUBLIC, Action.KNOWN):
            return True
        return action in self.scopes and any(
            grant.role >= _LEAST[action] and (namespace is None or fits(grant.namespaces, namespace))
            for grant in self.grants
        )

    def sees(self, node: Node) -> bool:
        """Whether they may know this name. A field is seen where its dataset is, unless it is hidden."""
        match node:
            case FieldName(dataset, field):
                return self.sees(dataset) and not self.is_hidden(dataset, field)
            case DatasetName(namespace) | JobName(namespace):
                return self.may(Action.READ, namespace)

    def is_hidden(self, dataset: DatasetName, field: str) -> bool:
        """Whether a rule hides this field of a dataset from them."""
        return any(_hides(one, dataset, field) for one in self.hidings) and not self._keeps(dataset.namespace)

    @property
    def sees_all(self) -> bool:
        """Nothing is hidden from them, whatever its name."""
        return not self.hidings and Action.READ in self.scopes and any(one.namespaces == "*" for one in self.grants)

    def _keeps(self, namespace: str) -> bool:
        return any(one.role >= Role.STEWARD and fits(one.namespaces, namespace) for one in self.grants)


OPEN = Viewer(name="open", grants=(Grant(Role.ADMIN, "*"),))
"""Anybody, where Whence runs open: `whence demo`, on loopback."""


def fits(pattern: str, text: str) -> bool:
    """Whether the whole text fits the pattern, letter case and all. Takes the first fit of each part: linear."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _hides(rule: Hiding, dataset: DatasetName, field: str) -> bool:
    return fits(rule.namespaces, dataset.namespace) and fits(rule.datasets, dataset.name) and fits(rule.fields, field)
