"""Changes upstream of a node, as values. Times are microseconds UTC."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from whence.model.graph import AssertingEvent
from whence.model.names import JobName, Node, RunName
from whence.query.answers.values import Completeness


class ChangeKind(StrEnum):
    """What kind of thing changed."""

    SCHEMA = "schema"
    LINEAGE = "lineage"
    CONTRACT = "contract"
    OBJECTIVE = "objective"
    QUALITY = "quality"
    RUN = "run"
    CODE = "code"
    OWNERS = "owners"


class Change(StrEnum):
    """How it changed. A column or a dataset is renamed. A run or a check fails or recovers; the rule of a contract, or
    an objective, is violated or fulfilled.
    """

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"
    FAILED = "failed"
    RECOVERED = "recovered"
    VIOLATED = "violated"
    FULFILLED = "fulfilled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that changed: a column, an edge, a check, a rule, a version or the state of a run.

    `name`: of the column, check, rule or objective. Of an edge, `end` is the node from which it comes, and `name` the
    column that it leads to, if the change is at a whole dataset. `before` and `after` are empty where it did not exist.
    Of a renamed column, `before` is its former name and `after` the new one, which is `name`, too.
    """

    change: Change
    name: str = ""
    end: Node | None = None
    before: str = ""
    after: str = ""

    @property
    def order(self) -> tuple[str, ...]:
        """By name."""
        return self.name, str(self.end or ""), self.change, self.before, self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What proves a change: an event by its id, or the last event of a run (0: none) that is not after `time`."""

    event_id: int = 0
    run_id: int = 0
    time: int = 0


NO_PROOF = Proof()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamChange:
    """A change at a node, `distance` hops upstream of the requested one (0: at the node itself).

    `job` and `run` brought it; `event` proves it, and its producer reported it. They are None if they are not known, or
    if retention deleted them.
    """

    time: int
    kind: ChangeKind
    change: Change
    node: Node
    distance: int
    parts: tuple[Part, ...]
    job: JobName | None = None
    run: RunName | None = None
    event: AssertingEvent | None = None
    proof: Proof = NO_PROOF

    @property
    def order(self) -> tuple[object, ...]:
        """The newest first, then the nearest."""
        parts = tuple(one.order for one in self.parts)
        return -self.time, self.distance, self.kind, str(self.node), str(self.job or ""), self.change, parts


class Unknown(StrEnum):
    """Why changes may be missing."""

    HIDDEN = "hidden"
    """Nodes that the viewer may not see."""
    COLUMNS = "no column lineage"
    """Nodes at which column lineage ends."""
    SCHEMA = "no schema"
    """Datasets of which nobody reports the columns."""
    CHECKS_WITHHELD = "checks withheld"
    """Only who may read all namespaces sees checks."""
    CHECKS = "older checks"
    """Only the latest runs are searched for checks."""
    CONTRACTS = "older contract evaluations"
    """A contract is evaluated at its latest times only, and not for all datasets."""
    RUNS = "older runs"
    """Only the latest runs are read."""
    COMMITS = "older commits"
    """Jobs whose versions of the code are not stored, or not all: they are read from the log."""
    OWNERS = "older owners"
    """Datasets and jobs whose earlier owners are not stored, or not all: they are read from the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotKnown:
    """Nodes of which some changes are not known: the nearest, and the number of all (0: it is not about nodes)."""

    reason: Unknown
    nodes: tuple[Node, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamChanges:
    """The changes of a node and upstream of it after `since` and not after `until`, the newest first.

    `datasets` and `jobs` count the datasets and jobs whose changes were searched.
    """

    node: Node
    since: int
    until: int
    datasets: int
    jobs: int
    changes: tuple[UpstreamChange, ...]
    not_known: tuple[NotKnown, ...]
    completeness: Completeness


def joint_change(parts: Iterable[Part]) -> Change:
    """The change that all parts have, or `CHANGED`."""
    found = {one.change for one in parts}
    return found.pop() if len(found) == 1 else Change.CHANGED
