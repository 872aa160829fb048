"""Numbers as people read them: six digits, or as many as it takes to see why a rule is violated."""

from typing import Any

import pytest

from whence.govern.contracts.evaluation.verdicts import Range, number_text


@pytest.mark.parametrize(
    ("value", "operators", "text"),
    [
        (1 / 3, {"mustBeLessThan": 0.3}, "0.333333"),
        (7 / 1_234_567, {"mustBeLessThan": 0.5}, "5.67e-06"),
        (12_345_678, {"mustBe": 12_345_679}, "12345678"),
        (0.5 + 1e-8, {"mustBeLessOrEqualTo": 0.5}, "0.50000001"),
        (0.1 + 0.2, {"mustBe": 0.3}, "0.30000000000000004"),
        (1e300 / 3, {"mustBeLessThan": 5}, "3.33333e+299"),
        (-2.5, {}, "-2.5"),
    ],
)
def test_the_text_of_a_number_says_what_the_verdict_says(value: float, operators: dict[str, Any], text: str) -> None:
    assert Range(value, value).describe(operators) == text


def test_a_range() -> None:
    assert Range(1 / 3, 2 / 3).describe() == "0.333333 to 0.666667"
    assert Range(2.0, float("inf")).describe({"mustBeLessThan": 5}) == "at least 2"
    assert number_text(float("inf")) == "inf"
