"""Results of data quality checks: the facet `dataQualityAssertions` of a run's inputs (its schema, 1-1-0)."""

import json
from dataclasses import dataclass

ASSERTIONS = "dataQualityAssertions"
WARN = "warn"
"""The severity of a check whose failure is not an error."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A check, its column (if it is about one), whether it held, and its severity in lower case, if reported."""

    name: str
    column: str | None
    held: bool
    severity: str | None = None


def is_assertions_facet(role: str, key: str) -> bool:
    """Whether a facet of a run holds results of checks on its inputs; `role` as in `store.schema.packed`."""
    return role == "input" and key == ASSERTIONS


def parse_assertions(payload: str) -> tuple[Assertion, ...]:
    """Parse the assertions in a payload; those without a name or a result are left out."""
    facet = json.loads(payload) if payload else None
    entries = facet.get("assertions") if isinstance(facet, dict) else None
    return tuple(
        Assertion(entry["assertion"], _text(entry.get("column")), entry["success"], _severity(entry.get("severity")))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
        and isinstance(entry.get("assertion"), str)
        and isinstance(entry.get("success"), bool)
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _severity(value: object) -> str | None:
    return value.lower() if isinstance(value, str) and value else None
