"""The reader says of every golden case what the semantics of its dialect say."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.sql_reader.accuracy import Score, below, read_floor, score_of
from capture.sql.golden_cases import Case, Claim, GoldenError, golden_cases, judge, open_cases
from whence.capture.sql import Catalog, Column, Table, read_script

CASES = golden_cases()
OPEN = open_cases()


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_golden(case: Case) -> None:
    verdict = judge(case)
    if case.id in OPEN:
        assert not verdict.exact, "passes now: take it out of golden/open.txt"
        return
    assert verdict.exact, f"{case.path}:{case.line}\n{case.sql}\n{verdict}"


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_each_source_of_an_edge_is_read(case: Case) -> None:
    catalog = Catalog.from_columns(case.columns, case.dialect) if case.columns else None
    script = read_script(case.sql, case.dialect, catalog)
    for statement in script.statements:
        assert {table_of(edge.source) for edge in statement.edges} <= set(statement.reads)
    assert {table_of(edge.source) for edge in script.collapsed} <= {
        read for statement in script for read in statement.reads
    }


def table_of(end: Column | Table) -> Table:
    return end.table if isinstance(end, Column) else end


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(CASES) >= 600
    assert len({case.dialect for case in CASES}) >= 12


def test_open_cases_exist() -> None:
    assert set(OPEN) <= {case.id for case in CASES}


def test_a_drop_is_named() -> None:
    score = Score(cases=4, exact=3, expected=10, found=8, both=8, silent=1)
    assert list(below({"all": score}, {"all": (0.75, 1.0, 0.8, 0.25)})) == []
    assert list(below({"all": score}, {"all": (0.75, 1.0, 0.9, 0.25)})) == ["all: recall 0.800 is below 0.900"]
    silent = ["all: silent errors 0.2500 are above 0.2000"]
    assert list(below({"all": score}, {"all": (0.75, 1.0, 0.8, 0.2)})) == silent
    assert len(list(below({}, {"dialect:duckdb": (0.5, 0.5, 0.5, 0.0)}))) == 3


def test_an_error_is_silent_when_nothing_warns_of_it(write: Callable[[str], Path]) -> None:
    (wrong,) = golden_cases(write("== a\n---\nSELECT a FROM t\n---\nresult.b <= t.a identity\n"))
    silent = replace(wrong, sql="SELECT * FROM t")
    assert (judge(wrong).silent, judge(silent).silent) == (True, False)
    assert (score_of(judge(wrong)).silent, score_of(judge(silent)).silent) == (1, 0)


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
    assert (case.reads, case.writes) == (frozenset({"t"}), None)


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
