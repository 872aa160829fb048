"""The numbers in a facet that measures (state.md, "Measurements")."""

import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

OF_DATASET = {
    "inputStatistics": {"rowCount", "size", "fileCount"},
    "outputStatistics": {"rowCount", "size", "fileCount"},
    "dataQualityMetrics": {"rowCount", "bytes", "fileCount"},
}
OF_COLUMN = {"nullCount", "distinctCount", "sum", "count", "min", "max"}


def measured(facet: str, facet_json: Json) -> Iterator[tuple[str | None, str, float]]:
    """Column (None: the whole dataset), metric and value."""
    yield from (
        (None, name, value) for name, value in facet_json.items() if name in OF_DATASET[facet] and _is_number(value)
    )
    columns = facet_json.get("columnMetrics") if facet == "dataQualityMetrics" else None
    for column, metrics in columns.items() if isinstance(columns, dict) else ():
        if column and isinstance(metrics, dict):
            quantiles = metrics.get("quantiles")
            named = [(name, value) for name, value in metrics.items() if name in OF_COLUMN]
            for place, value in quantiles.items() if isinstance(quantiles, dict) else ():
                if re.fullmatch("[0-9]{1,3}([.][0-9]{1,15})?", place):
                    named.append((f"quantiles.{place}", value))
            yield from ((column, name, value) for name, value in named if _is_number(value))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not isinstance(value, int) or -(1 << 63) <= value <= (1 << 63) - 1
