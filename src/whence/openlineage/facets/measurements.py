"""Measurements in facets: `inputStatistics`, `outputStatistics` and `dataQualityMetrics`, as numbers."""

import re
from collections.abc import Iterator
from math import isfinite

import msgspec

from whence.openlineage.json.wire import Json

METRICS = "dataQualityMetrics"

Measured = tuple[str, str, int | float]
"""Column (empty: the dataset), metric, value."""

_MEMBERS = {
    "inputStatistics": ("rowCount", "size", "fileCount"),
    "outputStatistics": ("rowCount", "size", "fileCount"),
    METRICS: ("rowCount", "bytes", "fileCount"),
}
_COLUMN_MEMBERS = ("nullCount", "distinctCount", "sum", "count", "min", "max")
_QUANTILE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,15})?")
_PLACES = {"inputStatistics": ("input",), "outputStatistics": ("output",), METRICS: ("input", "output", "")}

_decode = msgspec.json.Decoder().decode


def is_measurement_facet(role: str, key: str) -> bool:
    """Whether a facet contains measurements. `role`: `input` or `output` of a run; empty for a dataset event."""
    return role in _PLACES.get(key, ())


def parse_measurements(key: str, payload: str) -> tuple[Measured, ...]:
    """Parse the numbers in the payload of such a facet, sorted. Anything that is not a 64-bit number is left out:
    a measurement is never a text from the data.
    """
    facet = _decode(payload)
    found = [("", member, value) for member, value in _numbers(facet, _MEMBERS[key])]
    columns = facet.get("columnMetrics") if key == METRICS else None
    if type(columns) is dict:
        found += [(column, *one) for column, metrics in columns.items() if column for one in _column_numbers(metrics)]
    return tuple(sorted(found))


def _column_numbers(metrics: object) -> Iterator[tuple[str, int | float]]:
    if type(metrics) is not dict:
        return
    yield from _numbers(metrics, _COLUMN_MEMBERS)
    quantiles = metrics.get("quantiles")
    if type(quantiles) is dict:
        for quantile, value in _numbers(quantiles, tuple(filter(_QUANTILE.fullmatch, quantiles))):
            yield f"quantiles.{quantile}", value


def _numbers(entity: Json, members: tuple[str, ...]) -> Iterator[tuple[str, int | float]]:
    for member in members:
        value = entity.get(member)
        if (type(value) is int and -(2**63) <= value < 2**63) or (type(value) is float and isfinite(value)):
            yield member, value
