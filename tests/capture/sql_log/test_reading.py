"""Logs in bad shape and of any size: every line that can be read is read, and the others are named."""

import gzip
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.capture.sql import Catalog
from whence.capture.sql_log import FORMATS, Flaw, Query, Settings, capture_log, capture_logs, capture_scripts, format_of
from whence.capture.sql_log.batch import event_lines
from whence.capture.sql_log.fingerprint import fingerprint
from whence.capture.sql_log.postgres import stderr_log
from whence.capture.sql_log.prefix import prefix_pattern
from whence.capture.sql_log.rows import rows
from whence.capture.sql_log.times import moment
from whence.errors import ArtifactError
from whence.model.events import JobEvent
from whence.model.names import FieldName
from whence.openlineage.accept import accept

GOLDEN = Path(__file__).parent / "golden"
texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)
records = st.lists(st.fixed_dictionaries({"query": texts, "user": texts}), min_size=1, max_size=8)


def settings() -> Settings:
    return Settings(dialect="postgres", namespace="pg", jobs="pg", time=0, catalog=Catalog.from_columns({}, "postgres"))


def read(text: str) -> list[tuple[str, dict[str, object]] | Flaw]:
    return list(rows(io.StringIO(text), "f"))


@hypothesis_settings(suppress_health_check=[HealthCheck.too_slow])
@given(records, st.sampled_from([None, 2]))
def test_json_in_both_forms_is_the_same_rows(some: list[dict[str, str]], indent: int | None) -> None:
    array = read(json.dumps(some, indent=indent))
    lines = read("".join(json.dumps(one) + "\n" for one in some))
    assert [one[1] for one in array if not isinstance(one, Flaw)] == some
    assert [line[1] for line in lines if not isinstance(line, Flaw)] == some


@hypothesis_settings(suppress_health_check=[HealthCheck.too_slow])
@given(records, st.data())
def test_a_bad_line_costs_no_other_line(some: list[dict[str, str]], data: st.DataObject) -> None:
    lines = [json.dumps(one) for one in some]
    at = data.draw(st.integers(1, len(lines)))
    found = read("\n".join([*lines[:at], '{"query": ', *lines[at:]]))
    assert [one.place for one in found if isinstance(one, Flaw)] == [f"f:{at + 1}"]
    assert [one[1] for one in found if not isinstance(one, Flaw)] == some


KEYS = sorted({key for path in GOLDEN.iterdir() for key in re.findall(r"[A-Za-z_]\w+", path.read_text("utf-8"))})
CELLS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1e999", "9" * 400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("name", FORMATS)
@hypothesis_settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), CELLS, max_size=8), max_size=3), st.text(max_size=60))
def test_nothing_that_a_log_holds_stops_it(name: str, some: list[dict[str, object]], noise: str) -> None:
    form = format_of(name)
    given_settings = Settings(dialect=form.dialect, namespace="x", jobs="x", time=0)
    last = json.dumps({"query": "select 1"})
    for text in ("\n".join([*map(json.dumps, some), last]), json.dumps(some), noise, f"{','.join(KEYS[:5])}\n{noise}"):
        for line in event_lines(form.read(io.StringIO(text), "f"), given_settings, 1):
            assert isinstance(line, Flaw) or accept(line, strict=True).event


def test_an_array_that_is_cut_off_says_where() -> None:
    found = read('[{"query": "select 1"}, {"query": "sel')
    assert [one.place if isinstance(one, Flaw) else one[0] for one in found] == ["f[0]", "f[1]"]


@pytest.mark.parametrize(
    ("prefix", "line"),
    [
        ("%m [%p] ", "2026-02-01 10:00:00.123 UTC [42] "),
        (
            "%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
            "2026-02-01 10:00:00 CET [42]: [3-1] user=ada,db=shop,app=my app,client=10.0.0.1 ",
        ),
        ("%n %-10u|%d|%c %q%a ", "1769940000.123 ada       |shop|65f.2a psql "),
        ("%n %-10u|%d|%c %q%a ", "1769940000.123 ada       |shop|65f.2a "),
    ],
)
def test_prefixes(prefix: str, line: str) -> None:
    found = prefix_pattern(prefix).match(f"{line}LOG:  statement: select 1")
    assert found
    assert found.end() == len(line)
    groups = found.groupdict()
    assert groups.get("user", "ada").strip() == "ada"
    assert moment(groups.get("time") or groups.get("epoch")) // 1_000_000 in (1_769_940_000, 1_769_936_400)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (
            "select a from t where b = 'x' and c in (1, 2, 3)",
            "SELECT a\nFROM t -- so\nWHERE b = '' AND c IN ($1)",
            True,
        ),
        ("select a from t1", "select a from t2", False),
        ("select a, b from t", "select a from t", False),
    ],
)
def test_fingerprints(one: str, other: str, equal: bool) -> None:
    assert (fingerprint(one) == fingerprint(other)) is equal


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-01 18:00:00.5 UTC",
        "2026-02-01 10:00:00.5 -0800",
        "2026-02-01 10:00:00.5 PST",
        "2026-02-01 19:00:00.5 CET",
        "2026-02-02 03:30:00.5 ACST",
        "2026-02-01 13:00:00.5 America/New_York",
        "1769968800.500000000",
        "1769968800500",
        "1769968800500000",
        "1769968800500000000",
        1_769_968_800.5,
        1_769_968_800_500_000,
    ],
)
def test_times_of_all_zones_and_units(text: object) -> None:
    assert moment(text) == 1_769_968_800_500_000


def test_times_in_words_have_seconds() -> None:
    assert moment("Sun, 01 Feb 2026 10:00:00 -0800") == 1_769_968_800_000_000
    assert moment("no time") == 0


def test_another_catalog_gives_another_answer() -> None:
    query = Query(text="insert into t select * from s", place="x", ended=1)
    known = [Catalog.from_columns({"s": [name]}, "postgres") for name in ("a", "b")]
    found = ["".join(map(str, event_lines([query], replace(settings(), catalog=one)))) for one in known]
    assert ['"field":"a"' in found[0], '"field":"b"' in found[1]] == [True, True]


def test_what_may_not_be_seen_is_named() -> None:
    (flaw,) = format_of("pg-stat-statements").read(io.StringIO("queryid,query\n1,<insufficient privilege>\n"), "f")
    assert isinstance(flaw, Flaw)
    assert "pg_read_all_stats" in flaw.reason


ENDED, BEGAN = "LOG:  duration: 4.2 ms  statement: ", "LOG:  statement: "
MADE, OTHER = "create table a as select x from b", "select * from c"


@pytest.mark.parametrize(
    ("lines", "queries"),
    [
        ((ENDED + MADE, "ERROR:  no", f"STATEMENT:  {OTHER}"), [(MADE, ""), (OTHER, "no")]),
        ((BEGAN + MADE, "ERROR:  no", f"STATEMENT:  {OTHER}"), [(MADE, ""), (OTHER, "no")]),
        ((ENDED + OTHER, "ERROR:  no", f"STATEMENT:  {OTHER}"), [(OTHER, ""), (OTHER, "no")]),
        ((BEGAN + OTHER, "ERROR:  no", f"STATEMENT:  {OTHER}"), [(OTHER, "no")]),
        ((ENDED + MADE, "ERROR:  no"), [(MADE, "")]),
        ((BEGAN + MADE, "ERROR:  no"), [(MADE, "no")]),
    ],
)
def test_an_error_costs_no_query_before_it(lines: tuple[str, ...], queries: list[tuple[str, str]]) -> None:
    """With `log_min_duration_statement` a statement is logged when it has ended, and one that fails is not."""
    log = "".join(f"2026-11-27 06:00:0{second} UTC [17]: {line}\n" for second, line in enumerate(lines))
    found = [one for one in stderr_log(io.StringIO(log), "log", "%t [%p]: ") if isinstance(one, Query)]
    assert [(one.text, one.error) for one in found] == queries


def test_several_logs_and_one_that_is_not_there(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.log", "nowhere.log", "b.log.gz")]
    paths[0].write_text("".join(log(300)), "utf-8")
    paths[2].write_bytes(gzip.compress("".join(log(290)).encode())[:-9])
    one, two = (list(capture_logs(paths, format_of("postgres"), settings(), processes)) for processes in (1, 2))
    assert one == two
    flaws = [line for line in one if isinstance(line, Flaw)]
    assert [Path(flaw.place).name for flaw in flaws if "cannot be read" in flaw.reason] == ["nowhere.log", "b.log.gz"]
    assert len(one) - len(flaws) > 2 * 300


def log(count: int) -> Iterator[str]:
    for number in range(count):
        at = f"2026-02-01 10:{number // 60 % 60:02}:{number % 60:02}.000 UTC"
        query = f"insert into t{number} select a, sum(b) as b from s{number % 3} group by a"
        yield f"{at} [{number % 7}] LOG:  statement: {query}\n"
        if number % 100 == 50:
            yield "nonsense\n"


def test_all_cores_give_what_one_gives(tmp_path: Path) -> None:
    path = tmp_path / "big.log.gz"
    path.write_bytes(gzip.compress("".join(log(1_200)).encode()))
    form = format_of("postgres")
    alone, together = (list(capture_log(path, form, settings(), processes)) for processes in (1, 2))
    assert alone == together
    assert sum(isinstance(line, Flaw) for line in alone) == 12
    assert sum(not isinstance(line, Flaw) for line in alone) == 2_400


def test_the_same_log_under_another_name_is_the_same_runs(tmp_path: Path) -> None:
    def runs(name: str) -> set[str]:
        path = tmp_path / name
        path.write_text("".join(log(20)), "utf-8")
        lines = list(capture_log(path, format_of("postgres"), settings()))
        return {json.loads(line)["run"]["runId"] for line in lines if not isinstance(line, Flaw)}

    assert runs("a.log") == runs("b.log")


def test_a_log_is_read_as_a_stream() -> None:
    """What comes first is said before the end is there to be read."""

    class Endless(io.StringIO):
        def __init__(self) -> None:
            super().__init__()
            self.lines = log(10**12)

        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # typeshed ignores it, too
            return next(self.lines)

    found = format_of("postgres").read(Endless(), "endless")
    assert isinstance(next(found), Query)


def test_files_of_sql_are_jobs_that_are_declared(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "daily.sql").write_text(
        "create temp table x as select id from crm.people;\ninsert into mart.ids (id) select id from x;\n", "utf-8"
    )
    (line,) = capture_scripts(tmp_path, settings())
    assert isinstance(line, bytes)
    event = accept(line, strict=True).event
    assert isinstance(event, JobEvent)
    assert (event.job.name.name, [dataset.name.name for dataset in event.inputs]) == ("sub/daily.sql", ["crm.people"])
    (output,) = event.outputs
    (edge,) = output.edges
    assert isinstance(edge.source, FieldName)
    assert isinstance(edge.target, FieldName)
    assert (edge.source.field, edge.target.field) == ("id", "id")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ArtifactError, match=r"nowhere\.log"):
        list(capture_log(Path("nowhere.log"), format_of("postgres"), settings()))
