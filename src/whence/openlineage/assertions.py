"""What data quality checks found: the facet `dataQualityAssertions` of a run's inputs (its schema, 1-1-0)."""

import json
from dataclasses import dataclass

ASSERTIONS = "dataQualityAssertions"
WARN = "warn"
"""The severity of a check that is no error where it does not hold."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """What was checked, of which column if of one, whether it held, and its severity in lower case, if reported."""

    name: str
    column: str | None
    held: bool
    severity: str | None = None


def is_assertions(role: str, key: str) -> bool:
    """Whether a facet of a run is about checks of what it read; `role` as in `store.packed`."""
    return role == "input" and key == ASSERTIONS


def assertions_in(payload: str) -> tuple[Assertion, ...]:
    """Those of a payload that say what they checked and how it ended."""
    facet = json.loads(payload) if payload else None
    said = facet.get("assertions") if isinstance(facet, dict) else None
    return tuple(
        Assertion(one["assertion"], _text(one.get("column")), one["success"], _severity(one.get("severity")))
        for one in (said if isinstance(said, list) else ())
        if isinstance(one, dict) and isinstance(one.get("assertion"), str) and isinstance(one.get("success"), bool)
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _severity(value: object) -> str | None:
    return value.lower() if isinstance(value, str) and value else None
