"""Access rules: who may do and see what. Pure functions; everything is denied unless it is granted.

In a pattern, `*` matches any characters and every other character matches itself. The language has nothing else, so no
policy can compute, loop or reach the host.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from hashlib import sha256

from whence.model.names import DatasetName, FieldName, JobName, Node


class Action(StrEnum):
    """What a request does. `PUBLIC` needs no identity: liveness, the sign-in methods. `KNOWN` needs an identity but no
    grant: the current user, signing out.
    """

    PUBLIC = "public"
    KNOWN = "known"
    READ = "read"
    WRITE = "write"
    STEWARD = "steward"
    ADMIN = "admin"


SCOPES = frozenset({Action.READ, Action.WRITE, Action.STEWARD, Action.ADMIN})
"""The actions that a key can be limited to."""
GRANT_COMMAND = "whence access grant"
"""The remedy that a refusal names when only a grant is missing."""


class Role(IntEnum):
    """Each role includes the one before it: read lineage, send events, assert facts by hand, grant access."""

    READER = 1
    WRITER = 2
    STEWARD = 3
    ADMIN = 4


_MINIMUM_ROLE = {
    Action.READ: Role.READER,
    Action.WRITE: Role.WRITER,
    Action.STEWARD: Role.STEWARD,
    Action.ADMIN: Role.ADMIN,
}


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in the namespaces that match a pattern."""

    role: Role
    namespaces: str


@dataclass(frozen=True, slots=True)
class Hiding:
    """Fields hidden from everybody but the stewards of their namespace: one pattern for each part of their names."""

    namespaces: str
    datasets: str
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRestriction:
    """Columns that a policy hides from everybody but the stewards of their namespace and its `readers` (subjects)."""

    policy: str
    readers: tuple[str, ...] = ()
    fields: frozenset[FieldName] = field(repr=False)
    version: str = field(init=False, compare=False)
    """What changes with the columns."""
    namespaces: frozenset[str] = field(init=False, repr=False, compare=False)
    """Of the columns."""

    def __post_init__(self) -> None:
        names = "\n".join(sorted(map(str, self.fields)))
        object.__setattr__(self, "version", sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:16])
        object.__setattr__(self, "namespaces", frozenset(one.dataset.namespace for one in self.fields))

    def is_for(self, subjects: Sequence[str]) -> bool:
        """Whether it hides anything from somebody with these subjects: their own, and those of their groups."""
        return bool(self.fields) and not set(self.readers) & set(subjects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The identity of a request: `key:<id>`, `user:<subject>`, or `open`. `scopes` limit what the grants allow.

    A hiding or restriction that never applies to the viewer, because they are a steward wherever it does, is dropped:
    it changes none of their answers.
    """

    name: str
    grants: tuple[Grant, ...] = ()
    hidings: tuple[Hiding, ...] = ()
    scopes: frozenset[Action] = SCOPES
    restrictions: tuple[ReadingRestriction, ...] = ()

    def __post_init__(self) -> None:
        # A `*` in the hiding's pattern matches only a `*` in the grant's, so this tests whether the grant covers it.
        in_force = tuple(hiding for hiding in self.hidings if not self._is_steward_of(hiding.namespaces))
        object.__setattr__(self, "hidings", in_force)
        restricting = tuple(one for one in self.restrictions if not all(map(self._is_steward_of, one.namespaces)))
        object.__setattr__(self, "restrictions", restricting)

    def is_allowed(self, action: Action, namespace: str | None = None) -> bool:
        """Whether the viewer may act in a namespace, or in any namespace at all if None."""
        if action in (Action.PUBLIC, Action.KNOWN):
            return True
        if action not in self.scopes:
            return False
        least = _MINIMUM_ROLE[action]
        for grant in self.grants:
            if grant.role >= least and (namespace is None or matches_pattern(grant.namespaces, namespace)):
                return True
        return False

    def can_see(self, node: Node) -> bool:
        """Whether the viewer may see this name. A field is visible if its dataset is and no rule hides it."""
        match node:
            case FieldName(dataset, field):
                return self.can_see(dataset) and not self.is_hidden(dataset, field)
            case DatasetName(namespace) | JobName(namespace):
                return self.is_allowed(Action.READ, namespace)

    def is_hidden(self, dataset: DatasetName, field: str) -> bool:
        """Whether a rule or a policy hides this field of a dataset from the viewer."""
        if not self.hidings and not self.restrictions:
            return False
        is_covered = any(_is_covered(hiding, dataset, field) for hiding in self.hidings)
        is_covered = is_covered or any(FieldName(dataset, field) in one.fields for one in self.restrictions)
        return is_covered and not self._is_steward_of(dataset.namespace)

    @property
    def can_see_all(self) -> bool:
        """Whether no field of any name is hidden from the viewer."""
        return (
            not (self.hidings or self.restrictions)
            and Action.READ in self.scopes
            and any(grant.namespaces == "*" for grant in self.grants)
        )

    def _is_steward_of(self, namespace: str) -> bool:
        return any(grant.role >= Role.STEWARD and matches_pattern(grant.namespaces, namespace) for grant in self.grants)


OPEN = Viewer(name="open", grants=(Grant(Role.ADMIN, "*"),))
"""The viewer of every request when Whence runs open: `whence demo`, on loopback."""


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether the whole text matches the pattern, case-sensitively. Matches each part at its first place: linear."""
    if pattern == "*":
        return True
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    start, end = len(first), len(text) - len(last)
    for part in middle:
        match = text.find(part, start, end)
        if match < 0:
            return False
        start = match + len(part)
    return True


def _is_covered(rule: Hiding, dataset: DatasetName, field: str) -> bool:
    return (
        matches_pattern(rule.namespaces, dataset.namespace)
        and matches_pattern(rule.datasets, dataset.name)
        and matches_pattern(rule.fields, field)
    )
