"""Results of data quality checks: the facet `dataQualityAssertions` of a run's inputs and outputs."""

import json
from dataclasses import dataclass
from typing import NamedTuple

ASSERTIONS = "dataQualityAssertions"
WARN = "warn"
"""The severity of a check whose failure is not an error."""

MOST_TEXT = 200
"""Characters of an expectation or finding: longer ones may quote the data."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A check, its column (if it is about one), and whether it held. If reported: its severity in lower case, what was
    expected and found, at most MOST_TEXT characters of each, and how many rows failed.
    """

    name: str
    column: str | None
    held: bool
    severity: str | None = None
    expected: str | None = None
    actual: str | None = None
    failures: int | None = None


class RunChecks(NamedTuple):
    """The checks of a dataset in a run, and the time of the run's last event (µs)."""

    time: int
    run_id: int
    dataset_id: int
    checks: tuple[Assertion, ...]


class ChecksPage(NamedTuple):
    """Checks of datasets, the latest run first. `stopped_by`: why they are not all, `checks` (only the latest runs were
    read) or `access` (the viewer may not read them); None if they are all.
    """

    found: tuple[RunChecks, ...] = ()
    stopped_by: str | None = None


def is_assertions_facet(role: str, key: str) -> bool:
    """Whether a facet of a run holds results of checks on a dataset; `role` as in `store.schema.packed`."""
    return role in ("input", "output") and key == ASSERTIONS


def parse_assertions(payload: str) -> tuple[Assertion, ...]:
    """Parse the assertions in a payload; those without a name or a result are left out."""
    facet = json.loads(payload) if payload else None
    entries = facet.get("assertions") if isinstance(facet, dict) else None
    return tuple(
        Assertion(
            entry["assertion"],
            _text(entry.get("column")),
            entry["success"],
            _severity(entry.get("severity")),
            _value(entry.get("expected")),
            _value(entry.get("actual")),
            _count(entry.get("failures")),
        )
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
        and isinstance(entry.get("assertion"), str)
        and isinstance(entry.get("success"), bool)
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _value(value: object) -> str | None:
    return str(value)[:MOST_TEXT] if isinstance(value, str | int | float) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _severity(value: object) -> str | None:
    return value.lower() if isinstance(value, str) and value else None
