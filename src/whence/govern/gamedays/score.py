"""The score of a scenario: what was found beside what was expected. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.govern.gamedays.scenario import Expected, Scenario
from whence.model.names import DatasetName, JobName

TOP = 3
"""Of the possible causes, so many count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found in a scenario. Times in µs of the scenario.

    `detected_at`: when an incident first named something that the fault is upstream of, None if none did; `incidents`:
    the roots of all incidents of that kind; `unrelated`: those of others. `causes`: the possible causes of the symptom,
    the most probable first. `owners`: of the root of the incident. `contained`: the jobs of the containment plan.
    `open_at_end`: the roots of incidents that were still open.
    """

    detected_at: int | None
    incidents: tuple[DatasetName, ...]
    unrelated: tuple[DatasetName, ...]
    causes: tuple[DatasetName, ...]
    owners: tuple[str, ...]
    contained: frozenset[JobName]
    open_at_end: tuple[DatasetName, ...]
    closed_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that was expected, and whether it was found. `observed`: what was, as people read it."""

    name: str
    passed: bool
    expected: str
    observed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The criteria of one scenario."""

    scenario: Scenario
    criteria: tuple[Criterion, ...]

    @property
    def passed(self) -> bool:
        """Whether everything was found."""
        return all(one.passed for one in self.criteria)


def score(scenario: Scenario, found: Findings) -> Report:
    """Compare what was found in a scenario with what is expected."""
    return Report(scenario=scenario, criteria=tuple(_criteria(scenario, scenario.expected, found)))


def _criteria(scenario: Scenario, expected: Expected, found: Findings) -> Iterator[Criterion]:
    root = scenario.tables[expected.root[0]].name
    took = None if found.detected_at is None else found.detected_at - scenario.fault_at
    yield Criterion(
        name="detected",
        passed=took is not None and took <= expected.detected_within,
        expected=f"within {length_text(expected.detected_within)}",
        observed="not" if took is None else f"after {length_text(took)}",
    )
    yield Criterion(
        name="one incident",
        passed=found.incidents == (root,) and not found.unrelated,
        expected=root.name,
        observed=_names((*found.incidents, *found.unrelated)),
    )
    yield Criterion(
        name="cause",
        passed=root in found.causes[:TOP],
        expected=f"{root.name} in the first {TOP}",
        observed=f"{_place(root, found.causes)}: {_names(found.causes[:TOP])}",
    )
    yield Criterion(
        name="owner",
        passed=expected.owner in found.owners,
        expected=expected.owner,
        observed=", ".join(found.owners) or "nobody",
    )
    yield Criterion(
        name="containment",
        passed=found.contained == expected.contained,
        expected=_jobs(expected.contained),
        observed=_jobs(found.contained),
    )
    closed = None if found.closed_at is None else max(0, found.closed_at - scenario.fixed_at)
    yield Criterion(
        name="closed",
        passed=closed is not None and not found.open_at_end,
        expected=f"within {length_text(expected.closed_within)} of the fix",
        observed=f"open: {_names(found.open_at_end)}" if closed is None else f"after {length_text(closed)}",
    )


def length_text(length: int) -> str:
    """A length of time (µs) as people read it: `2 h 15 min`."""
    hours, minutes = divmod(length // 60_000_000, 60)
    parts = [f"{hours} h" if hours else "", f"{minutes} min" if minutes or not hours else ""]
    return " ".join(part for part in parts if part)


def _place(root: DatasetName, causes: Sequence[DatasetName]) -> str:
    return f"place {causes.index(root) + 1}" if root in causes else "not among them"


def _names(names: Sequence[DatasetName]) -> str:
    return ", ".join(one.name for one in names) or "none"


def _jobs(jobs: frozenset[JobName]) -> str:
    return ", ".join(sorted(one.name for one in jobs)) or "none"
