"""Golden grades of results of SQL: what the reader, the edges and the labels make of them together."""

from collections import Counter

import pytest

from capture.sql.disclosure.standard_golden import Golden, grade_of, read_golden
from whence.model.sensitivity import Grade

CASES = tuple(read_golden())


@pytest.mark.parametrize("case", [pytest.param(one, id=f"{one.select} | {one.column}") for one in CASES])
def test_a_result_has_the_grade_that_its_functions_imply(case: Golden) -> None:
    assert grade_of(case) == (case.grade, case.is_assumed)


def test_each_grade_has_ten_cases_at_least() -> None:
    counts = Counter(one.grade for one in CASES)
    assert all(counts[grade] >= 10 for grade in Grade)
