"""The reader says of every golden case what the semantics of its dialect say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.accuracy import Score, below, read_floor
from capture.sql.golden_cases import Case, Claim, GoldenError, golden_cases, judge, open_cases

CASES = golden_cases()
OPEN = open_cases()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_golden(case: Case) -> None:
    verdict = judge(case)
    if case.id in OPEN:
        assert not verdict.exact, "passes now: take it out of golden/open.txt"
        return
    assert verdict.exact, f"{case.path}:{case.line}\n{case.sql}\n{verdict}"


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(CASES) >= 600
    assert len({case.dialect for case in CASES}) >= 12


def test_open_cases_exist() -> None:
    assert set(OPEN) <= {case.id for case in CASES}


def test_a_drop_is_named() -> None:
    score = Score(cases=4, exact=3, expected=10, said=8, both=8)
    assert list(below({"all": score}, {"all": (0.75, 1.0, 0.8)})) == []
    assert list(below({"all": score}, {"all": (0.75, 1.0, 0.9)})) == ["all: recall 0.800 is below 0.900"]
    assert len(list(below({}, {"dialect:duckdb": (0.5, 0.5, 0.5)}))) == 3


def test_the_floor_is_read() -> None:
    assert "all" in read_floor()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def written(text: str) -> Path:
        (tmp_path / "duckdb").mkdir()
        (tmp_path / "duckdb" / "star.txt").write_text(text, "utf-8")
        return tmp_path

    return written


def test_a_case_is_read(write: Callable[[str], Path]) -> None:
    head, tail = '# top\n== one\n# why\nschema: t("A b", c)\n', 'd.x <= t."A b", t.c identity masked\nreads: t\n'
    text = f"{head}---\nSELECT 1;\n---\n{tail}"
    (case,) = golden_cases(write(text))
    assert (case.id, case.line, case.sql) == ("duckdb/star::one", 2, "SELECT 1;")
    assert case.columns == {"t": ('"A b"', "c")}
    assert case.claims == {
        Claim("d.x", "t.A b", "DIRECT", "IDENTITY", True),
        Claim("d.x", "t.c", "DIRECT", "IDENTITY", True),
    }
    assert (case.reads, case.writes) == ({"t"}, None)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("== a\n---\nSELECT 1\n", 1, "2 parts"),
        ("== a\nshema: t(a)\n---\nSELECT 1\n---\nwrites: t\n", 2, "'shema'"),
        ("== a\n---\nSELECT 1\n---\nd.x < t.x identity\n", 5, "no edge"),
        ("== a\n---\nSELECT\n1\n---\n# why\nd.x <= t.x filter\n", 7, "does not go with"),
        ("== a\n---\nSELECT 1\n---\nd.x <= t.x identity\nd.x <= t.x identity\n", 6, "twice"),
        ("== a\n---\nSELECT 1\n---\n", 5, "expects nothing"),
        ("== a\n---\nx\n---\nreads: t\n== a\n---\nx\n---\nreads: t\n", 6, "taken in line 1"),
    ],
)
def test_an_error_names_file_and_line(write: Callable[[str], Path], text: str, line: int, what: str) -> None:
    with pytest.raises(GoldenError, match=what) as raised:
        golden_cases(write(text))
    assert f"star.txt:{line}: " in str(raised.value)
