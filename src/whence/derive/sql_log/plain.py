"""Cells of a table as the readers of exports know them: times as text with their zone, numbers as numbers, no bytes."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its keys in lower case."""
    return {key.lower(): _cell(value) for key, value in row.items()}


def _cell(value: Any) -> Any:
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
            return {key: _cell(one) for key, one in value.items()}
        case list():
            return [_cell(one) for one in value]
    return value
