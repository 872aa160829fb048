"""Cells of a table in the form of exports: times as text with a zone, numbers as numbers, no bytes."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any


def normalise_row(row: dict[str, Any]) -> dict[str, Any]:
    """Normalise a row: keys in lower case, cells as in exports."""
    return {key.lower(): _normalise_cell(value) for key, value in row.items()}


def _normalise_cell(value: Any) -> Any:
    match value:
        case datetime():
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
        case date():
            return value.isoformat()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return value.decode("utf-8", errors="replace")
        case dict():
            return {key: _normalise_cell(item) for key, item in value.items()}
        case list():
            return [_normalise_cell(item) for item in value]
    return value
