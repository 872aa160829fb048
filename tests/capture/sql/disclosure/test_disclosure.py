"""What expressions show of a column, as pairs; and what must hold of every one that could be written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.capture.sql.disclosure.expressions import disclosure_of
from whence.model.sensitivity import Disclosure, Grade

GOLDEN = [
    tuple(part.strip() for part in line.rsplit("|", 2))
    for line in (Path(__file__).parent / "expressions.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("text", "column", "shown"), GOLDEN)
def test_what_an_expression_shows(text: str, column: str, shown: str) -> None:
    grade, _, assumed = shown.partition(", ")
    assert disclosure_of(text, column) == Disclosure(Grade[grade.upper()], bool(assumed))


def test_every_grade_is_in_the_pairs() -> None:
    assert {shown.split(",")[0] for _, _, shown in GOLDEN} == {one.word for one in Grade if one is not Grade.NONE}


KEEPING = ("LOWER({})", "CAST({} AS TEXT)", "COALESCE({}, 'x')", "MAX({})", "({})", "{} || 'a'", "REVERSE({})")
NARROWING = {
    "MD5({})": Grade.PSEUDONYMOUS,
    "LEFT({}, 2)": Grade.PARTIAL,
    "AVG({})": Grade.STATISTIC,
    "({} IS NULL)": Grade.INFLUENCED,
}
steps = st.lists(st.sampled_from([*KEEPING, *NARROWING]), max_size=6)


@given(steps, st.booleans())
def test_the_narrowest_step_decides(several: list[str], has_unknown: bool) -> None:
    text = "email"
    for step in several:
        text = step.format(text)
    text = f"some_udf({text})" if has_unknown else text
    least = min((NARROWING.get(step, Grade.FULL) for step in several), default=Grade.FULL)
    assert disclosure_of(text, "email") == Disclosure(least, has_unknown)


@given(st.text(max_size=60), st.text(max_size=10))
def test_any_text_has_an_answer_and_what_is_not_read_is_assumed(text: str, column: str) -> None:
    found = disclosure_of(text, column)
    assert found.grade in Grade
    if not text:
        assert found == Disclosure(Grade.FULL, assumed=True)
