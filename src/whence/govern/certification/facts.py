"""What is known of a dataset at a time, as far as rules of certification ask for it."""

from dataclasses import dataclass
from datetime import date

from whence.govern.certification.coverage import Coverage
from whence.govern.slos.evaluation.facts import Facts as ObjectiveFacts
from whence.govern.slos.objectives import Objective

NOTHING_HAPPENED = ObjectiveFacts()
NO_COVERAGE = Coverage()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldContract:
    """A contract that holds. `violations`: None if its columns are not known; `unevaluated`: rules that nothing
    decides; `last_day`: the last one on which anybody may rely on it.
    """

    version: str
    violations: int | None
    unevaluated: int
    last_day: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredObjective:
    """An objective of the dataset, with what happened. `objective`: None if this version of Whence cannot read it."""

    name: str
    objective: Objective | None
    facts: ObjectiveFacts = NOTHING_HAPPENED


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCheck:
    """The last result of a check. A check that only warns has none."""

    name: str
    column: str
    held: bool
    time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a dataset. `owners_since`: when the owners were asserted that are known (µs): who it belonged to
    before is not. `are_all_checks`: no budget cut the reading.
    """

    owners: frozenset[str] = frozenset()
    owners_since: int = 0
    contract: HeldContract | None = None
    coverage: Coverage = NO_COVERAGE
    objectives: tuple[DeclaredObjective, ...] = ()
    checks: tuple[LastCheck, ...] = ()
    are_all_checks: bool = True
