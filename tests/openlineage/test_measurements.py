"""The numbers in facets that measure: those of the oracle, and never a text from the data."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from generators.facets import metrics, statistics
from oracle.measuring import measured
from whence.openlineage.facets.measurements import is_measurement_facet, parse_measurements
from whence.openlineage.json.wire import encode_canonical


@settings(max_examples=examples(300))
@given(key=st.sampled_from(["inputStatistics", "outputStatistics", "dataQualityMetrics"]), facet=metrics | statistics)
def test_the_numbers_are_those_of_the_oracle(key: str, facet: dict[str, Any]) -> None:
    expected = sorted((column or "", metric, value) for column, metric, value in measured(key, facet))
    assert list(parse_measurements(key, encode_canonical(facet).decode())) == expected


@pytest.mark.parametrize("value", ["ada@example.org", "5", True, None, [1], {"a": 1}, 2**63, -(2**63) - 1])
def test_what_is_no_number_is_left_out(value: object) -> None:
    facet = {"rowCount": value, "columnMetrics": {"mail": {"min": value, "max": 5, "quantiles": {"0.5": value}}}}
    assert parse_measurements("dataQualityMetrics", json.dumps(facet)) == (("mail", "max", 5),)


@pytest.mark.parametrize("key", ["0.5\n", "p50", "1.", "", ".5", "1234", "0.1234567890123456", "٣"])
def test_a_quantile_is_named_by_a_number(key: str) -> None:
    facet = {"columnMetrics": {"": {"max": 1}, "total": {"quantiles": {key: 1, "0.99": 2}}}}
    assert parse_measurements("dataQualityMetrics", json.dumps(facet)) == (("total", "quantiles.0.99", 2),)


def test_which_facets_measure() -> None:
    keys = ("inputStatistics", "outputStatistics", "dataQualityMetrics", "dataQualityAssertions")
    found = {role: [key for key in keys if is_measurement_facet(role, key)] for role in ("input", "output", "")}
    assert found == {
        "input": ["inputStatistics", "dataQualityMetrics"],
        "output": ["outputStatistics", "dataQualityMetrics"],
        "": ["dataQualityMetrics"],
    }
