"""Live enrichment: SQL that an event carries becomes lineage, below what its producer says (docs/how-to/sql.md)."""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.readings_of_events import arrive, empty, readings_of
from fixtures.stores_of_events import apply_bodies
from generators import arrivals, body
from generators.events import run_events
from generators.sql import with_sql
from oracle import comparable
from oracle import dump as oracle_dump
from oracle.stories import column, dataset, run, span_lines
from whence.derive.reading.flat_event import flatten_event
from whence.derive.rows.bounded_cache import BoundedCache
from whence.derive.rows.sql_selection import OWN_PRODUCER
from whence.model.lineage import Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.facets.facet_keys import SQL_COMPARISON, SQL_LINEAGE
from whence.openlineage.json.times import parse_micros
from whence.openlineage.read import read_event
from whence.query.answers.values import Gap, GapReason, Question
from whence.query.questions.impact import impact
from whence.query.questions.lineage import downstream, upstream
from whence.query.questions.why import why
from whence.query.questions.why_not import Reason, why_not
from whence.query.traversal.evidence import prove_all
from whence.store.connection.engine import reading
from whence.store.lifecycle.dump import dump
from whence.store.snapshots.graph import StoreGraph
from whence.store.status.sql_disagreements import count_disagreements

Json = dict[str, Any]
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)
INSERT = "insert into b (x) select a.k as x from a where a.day = '2026-01-01'"
SUM = "insert into b (x) select sum(a.k) as x from a"


def sql(query: str, dialect: str = "spark") -> Json:
    return {"sql": {"query": query, "dialect": dialect}}


def reporting(*fields: Json) -> list[Json]:
    """Output b, with b.x from these."""
    return [dataset("b", {"columnLineage": {"fields": {"x": {"inputFields": list(fields)}}}})]


def direct(path: str) -> Json:
    return column(path, {"type": "DIRECT"})


def spans_of(store: Engine, events: list[Json]) -> list[str]:
    apply_bodies(store, [body(event) for event in events])
    return span_lines(map(json.loads, dump(store)))


def facets_of(event: Json) -> dict[str, Json]:
    facets = [(name, payload) for _, name, _, payload in flatten_event(read_event(event)).repeated.facets if payload]
    return {name: json.loads(payload) for name, payload in facets if name in (SQL_LINEAGE, SQL_COMPARISON)}


@settings(max_examples=examples(40), suppress_health_check=SLOW)
@given(data=st.data())
def test_any_arrival_of_events_with_sql_gives_the_oracles_state(sqlite_store: Engine, data: st.DataObject) -> None:
    history = data.draw(st.lists(run_events().flatmap(with_sql), min_size=1, max_size=6))
    batches = data.draw(arrivals(history))
    empty(sqlite_store)
    arrive(sqlite_store, readings_of([one for batch in batches for one in batch]), [len(batch) for batch in batches])
    expected = comparable(oracle_dump([body(event) for event in history]))
    assert comparable(list(dump(sqlite_store))) == expected


def test_sql_gives_columns_where_the_producer_gives_none(store: Engine) -> None:
    assert spans_of(store, [run(1, "COMPLETE", 1, "a", "b", sql(INSERT))]) == [
        "@j observed 1- sure: ?a.day>b[INDIRECT/FILTER] ?a.k>b.x[DIRECT/IDENTITY/a.k] ?a>b[DIRECT] ?a>b[INDIRECT]"
    ]


def test_what_the_engine_reports_wins_in_the_same_run(store: Engine) -> None:
    events = [run(1, "START", 1, "a", "b", sql(SUM)), run(1, "COMPLETE", 3, "a", reporting(direct("a.z")), sql(SUM))]
    assert spans_of(store, events) == ["@j observed 3- sure: a.z>b.x[DIRECT] a>b[DIRECT]"]


def test_when_the_engine_begins_to_report_the_parsed_columns_end(store: Engine) -> None:
    events = [run(1, "COMPLETE", 1, "a", "b", sql(SUM)), run(2, "COMPLETE", 5, "a", reporting(direct("a.k")), sql(SUM))]
    assert spans_of(store, events) == [
        "@j observed 1-5 sure: ?a.k>b.x[DIRECT/AGGREGATION/SUM(a.k)] ?a>b[DIRECT]",
        "@j observed 5- sure: a.k>b.x[DIRECT] a>b[DIRECT]",
    ]


def test_parsed_columns_never_replace_reported_ones(store: Engine) -> None:
    events = [run(1, "COMPLETE", 1, "a", reporting(direct("a.z"))), run(2, "COMPLETE", 5, "a", "b", sql(SUM))]
    assert spans_of(store, events)[-1] == "@j observed 5- sure: ?a>b[DIRECT] a.z>b.x[DIRECT]"


def test_an_input_that_the_sql_does_not_name_is_still_inferred(store: Engine) -> None:
    assert spans_of(store, [run(1, "COMPLETE", 1, "a c", "b", sql(SUM))]) == [
        "@j observed 1- sure: ?a.k>b.x[DIRECT/AGGREGATION/SUM(a.k)] ?a>b[DIRECT] ~c>b"
    ]


def test_the_next_days_run_says_nothing_new(store: Engine) -> None:
    days = [INSERT.replace("01-01", f"01-{day:02}") for day in (1, 2, 3)]
    events = [run(place, "COMPLETE", place, "a", "b", sql(query)) for place, query in enumerate(days, 1)]
    assert len(spans_of(store, events)) == 1


def test_disagreements_are_counted_by_job_and_the_latest_comparison_counts(store: Engine) -> None:
    both = "insert into b (x) select a.k + a.z as x from a"
    events = [run(1, "COMPLETE", 1, "a", reporting(direct("a.k"), direct("a.w")), sql(both))]
    apply_bodies(store, [body(event) for event in events])
    with reading(store) as connection:
        found = count_disagreements(connection)
    assert (found.compared, found.jobs, found.missing_in_report, found.missing_in_parse) == (1, 1, 1, 1)
    assert [str(one.job) for one in found.worst] == ["job:n:j"]
    later = run(2, "COMPLETE", 2, "a", reporting(direct("a.k"), direct("a.z")), sql(both))
    apply_bodies(store, [body(event) for event in (later, *events)])
    with reading(store) as connection:
        found = count_disagreements(connection)
    assert (found.compared, found.jobs) == (1, 0)


def test_an_edge_of_no_known_type_agrees_with_an_influence() -> None:
    query = "insert into b (x) select a.k as x from a join c on a.y = c.y"
    reported_columns = [column("a.k"), column("a.y"), column("c.q")]
    found = facets_of(run(1, "COMPLETE", 1, "a c", reporting(*reported_columns), sql(query)))[SQL_COMPARISON]
    assert (found["agreed"], found["missingInReport"], found["missingInParse"]) == (1, 0, 1)


def test_sql_that_was_not_read_whole_misses_nothing() -> None:
    query = "insert into b select * from a"
    found = facets_of(run(1, "COMPLETE", 1, "a", reporting(direct("a.k")), sql(query)))
    assert found[SQL_LINEAGE]["status"] == "partial"
    assert found[SQL_COMPARISON]["missingInParse"] == 0


@pytest.mark.parametrize(
    "query",
    [
        "selec x",
        "(" * 100_000,
        "select " + "a, " * 80_000 + "b from a",
        "'",
        "select 1",
    ],
)
def test_sql_that_cannot_be_read_is_said_and_fails_nothing(query: str) -> None:
    event = run(1, "COMPLETE", 1, "a", "b", sql(query))
    found = facets_of(event)
    origins = {origin for *_, origin, _ in flatten_event(read_event(event)).repeated.sets}
    assert origins == {Origin.BOUNDARY, Origin.INFERRED}
    assert query == "select 1" or found[SQL_LINEAGE]["problems"]


@pytest.mark.parametrize(
    "facet", [{}, {"query": None}, {"query": ["x"]}, {"query": "  "}, {"query": INSERT, "_deleted": True}]
)
def test_no_sql_is_no_reading(facet: Json) -> None:
    assert not facets_of(run(1, "COMPLETE", 1, "a", "b", {"sql": facet}))


def test_a_column_that_no_database_keeps_is_not_named() -> None:
    flat = flatten_event(
        read_event(run(1, "COMPLETE", 1, "a", "b", sql("insert into b (x) select a.`k\0` as x from a")))
    ).repeated
    assert Origin.PARSED in {origin for *_, origin, _ in flat.sets}
    assert "\0" not in str(flat.facets)
    assert not any(b"\0x" in content or b"k\0" in content for *_, content in flat.sets if isinstance(content, bytes))


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, store: Engine) -> None:
    monkeypatch.setenv("WHENCE_READ_SQL", "off")
    assert spans_of(store, [run(1, "COMPLETE", 1, "a", "b", sql(INSERT))]) == ["@j observed 1- sure: ~a>b"]


def test_what_whence_captured_is_not_read_again() -> None:
    event = run(1, "COMPLETE", 1, "a", "b", sql(INSERT)) | {"producer": f"{OWN_PRODUCER}tree/0.1.0/src/whence"}
    assert not facets_of(event)


def test_nobody_else_says_how_sql_was_read() -> None:
    forged = {SQL_COMPARISON: {"missingInReport": 9, "missingInParse": 9}, SQL_LINEAGE: {"reader": "me"}}
    assert not facets_of(run(1, "COMPLETE", 1, "a", "b", forged))
    assert facets_of(run(1, "COMPLETE", 1, "a", "b", forged | sql(SUM)))[SQL_LINEAGE]["reader"] != "me"


def test_why_says_who_read_it(store: Engine) -> None:
    apply_bodies(store, [body(run(1, "COMPLETE", 1, "a", "b", sql(SUM)))])
    ends = FieldName(DatasetName("n", "a"), "k"), FieldName(DatasetName("n", "b"), "x")
    with reading(store) as connection:
        graph = StoreGraph(connection)
        (edge,) = (edge for path in why(graph, *ends, Question()).paths for step in path.steps for edge in step.edges)
        assert prove_all(graph, [edge], None) == [edge]
    assert edge.parsed
    assert [one.description for one in edge.transformations] == ["SUM(a.k)"]
    assert all("sqlglot" in one.reader and one.origin == "parsed" for one in edge.evidence)


def test_memory_keeps_the_latest_up_to_its_weight() -> None:
    memory: BoundedCache[tuple[str], str] = BoundedCache(10, lambda key, value: len(key[0]) + len(value))
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return "xxx"

    for key in ("a", "b", "a", "c", "a", "b"):
        memory.get_or_make((key,), partial(make, key))
    assert made == ["a", "b", "c", "b"]
    memory.get_or_make(("d",), lambda: "x" * 100)
    memory.get_or_make(("a",), partial(make, "a"))
    assert made == ["a", "b", "c", "b", "a"]


def airflow(*fields: Json, query: str) -> Json:
    """A task that reads o and c, and writes b (name, total); the producer reports these columns' sources."""
    schemas = {"o": ("id", "customer", "amount"), "c": ("id", "name"), "b": ("name", "total", "loaded_at")}
    facets = {of: {"schema": {"fields": [{"name": one} for one in names]}} for of, names in schemas.items()}
    lineage = {"fields": {"total": {"inputFields": list(fields)}, "loaded_at": {"inputFields": []}}}
    event = run(1, "COMPLETE", 1, "", [dataset("b", facets["b"] | {"columnLineage": lineage})], sql(query, "postgres"))
    return event | {"inputs": [dataset(of, facets[of]) for of in "oc"]}


REPORT = "insert into b select c.name, sum(o.amount) from o join c on o.customer = c.id group by c.name"


def test_sql_completes_what_airflow_reports(store: Engine) -> None:
    apply_bodies(store, [body(airflow(column("o.amount"), query=REPORT))])
    total, name, joined = FieldName(DatasetName("n", "b"), "total"), DatasetName("n", "b"), DatasetName("n", "c")
    with reading(store) as connection:
        graph = StoreGraph(connection)
        (edge,) = upstream(graph, total, Question()).edges
        assert [(one.subtype, one.description) for one in edge.transformations if one.type == "DIRECT"] == [
            ("AGGREGATION", "SUM(o.amount)")
        ]
        assert edge.origins == ("columnLineage", "parsed")
        (edge,) = upstream(graph, FieldName(name, "name"), Question()).edges
        assert (edge.source, edge.parsed) == (FieldName(joined, "name"), True)
        found = impact(graph, FieldName(joined, "id"), Question())
        assert [one.name for one in found.nodes()] == [name]
        assert found.completeness.complete


def test_what_the_sql_contradicts_stays_the_producers(store: Engine) -> None:
    apply_bodies(store, [body(airflow(column("o.id"), query=REPORT))])
    total = FieldName(DatasetName("n", "b"), "total")
    with reading(store) as connection:
        found = upstream(StoreGraph(connection), total, Question())
        counted = count_disagreements(connection)
    assert [(str(edge.source), edge.origins) for edge in found.edges] == [("datasetField:n:o:id", ("columnLineage",))]
    # The SQL has amount and name, the report has id.
    assert (counted.jobs, counted.missing_in_report, counted.missing_in_parse) == (1, 2, 1)


def test_a_text_of_another_job_is_marked_and_ends_its_comparison(store: Engine) -> None:
    apply_bodies(store, [body(airflow(column("o.id"), query=REPORT))])
    foreign = airflow(column("o.id"), query="create view pv as select id, amount from o")
    foreign["eventTime"] = run(1, "COMPLETE", 2)["eventTime"]
    apply_bodies(store, [body(foreign)], first=9)
    assert facets_of(foreign)[SQL_LINEAGE]["status"] == "unrelated"
    with reading(store) as connection:
        assert count_disagreements(connection).compared == 0


def spark_udf(*named: str) -> list[Json]:
    """Output b of a DataFrame: id is reported, `named` are reported to have no source, the others are not reported."""
    schema = {"schema": {"fields": [{"name": one} for one in ("id", "uname", "lit", "st")]}}
    fields = {"id": {"inputFields": [direct("a.id")]}} | {one: {"inputFields": []} for one in named}
    return [dataset("b", schema | {"columnLineage": {"fields": fields}})]


def test_a_column_that_is_not_reported_is_a_gap_in_both_directions(store: Engine) -> None:
    event = run(1, "COMPLETE", 1, "", spark_udf("lit", "st"))
    event["inputs"] = [dataset("a", {"schema": {"fields": [{"name": "id"}, {"name": "name"}]}})]
    apply_bodies(store, [body(event)])
    a, b = DatasetName("n", "a"), DatasetName("n", "b")
    job = JobName("n", "j")
    with reading(store) as connection:
        graph = StoreGraph(connection)
        up = {name: upstream(graph, FieldName(b, name), Question()) for name in ("id", "uname", "lit")}
        down = downstream(graph, FieldName(a, "name"), Question())
        blamed = why_not(graph, "n.a.name", "n.b.uname", Question())
        counted = impact(graph, FieldName(a, "name"), Question())
    gap = Gap(at=FieldName(b, "uname"), owner=job, datasets=(a,), reason=GapReason.UNREPORTED)
    assert {name: one.gaps for name, one in up.items()} == {"id": (), "uname": (gap,), "lit": ()}
    assert {name: one.completeness.complete for name, one in up.items()} == {"id": True, "uname": False, "lit": True}
    assert up["uname"].completeness.stopped_by == "columns"
    assert down.gaps == (Gap(at=FieldName(a, "name"), owner=job, datasets=(b,), reason=GapReason.UNREPORTED),)
    assert (blamed.reason, blamed.nearest) == (Reason.NO_COLUMN_LINEAGE, (str(job),))
    assert (counted.counts.nodes, counted.completeness.complete) == (0, False)


def test_a_gap_lasts_until_the_column_is_reported(store: Engine) -> None:
    events = [run(1, "COMPLETE", 1, "a", spark_udf()), run(2, "COMPLETE", 5, "a", spark_udf("uname", "lit", "st"))]
    apply_bodies(store, [body(event) for event in (*events[::-1], events[0])])
    uname, then = FieldName(DatasetName("n", "b"), "uname"), parse_micros(events[0]["eventTime"])[0]
    with reading(store) as connection:
        graph = StoreGraph(connection)
        asked = [upstream(graph, uname, Question(at=at)).gaps for at in (None, then, then - 1)]
    assert [len(gaps) for gaps in asked] == [0, 1, 0]


def test_a_statement_that_was_read_whole_says_which_columns_have_no_source(store: Engine) -> None:
    query = "insert into b select a.id, upper(a.name), 'x', a.id is null from a"
    event = run(1, "COMPLETE", 1, "a", spark_udf(), sql(query))
    event["inputs"] = [dataset("a", {"schema": {"fields": [{"name": "id"}, {"name": "name"}]}})]
    apply_bodies(store, [body(event)])
    with reading(store) as connection:
        graph = StoreGraph(connection)
        found = {
            one: upstream(graph, FieldName(DatasetName("n", "b"), one), Question()) for one in ("uname", "lit", "st")
        }
    assert {one: (len(answer.edges), answer.gaps) for one, answer in found.items()} == {
        "uname": (1, ()),
        "lit": (0, ()),
        "st": (1, ()),
    }
