"""Polls of Snowflake and Databricks: the lineage of their histories, written by hand from the statements; the cursor,
pages, refusals, and a warehouse that is busy.
"""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.warehouses.emulators import TOKEN, Emulator, emulating_databricks, emulating_snowflake, read_tables
from fixtures.captured_lineage import store_events
from whence.capture.sql_log import FORMATS, Settings
from whence.capture.sql_log.events import query_events
from whence.capture.warehouses import statements
from whence.capture.warehouses.databricks.source import capture as databricks
from whence.capture.warehouses.snowflake.source import capture as snowflake
from whence.capture.warehouses.source import WarehouseServer
from whence.errors import SourceError
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A warehouse. `direct` are its column edges in a database, `history` and `access` its own tables."""

    emulating: Callable[[], AbstractContextManager[Emulator]]
    connect: Callable[[str], WarehouseServer]
    databases: tuple[str, ...]
    direct: frozenset[str]
    history: str
    access: str
    columns: str
    form: str


SNOWFLAKE = Case(
    emulating_snowflake,
    lambda url: snowflake.configure({"url": url, "namespace": "snowflake://acme-prod", "role": "GOVERNANCE"}),
    ("PROD", "STAGING"),
    frozenset(
        (
            "RAW.ORDERS.CUSTOMER -> MART.TOTALS.WHO",
            "RAW.ORDERS.AMOUNT -> MART.TOTALS.GROSS",
            "MART.TOTALS.WHO -> MART.V_TOTALS.WHO",
            "MART.TOTALS.GROSS -> MART.V_TOTALS.GROSS",
            "MART.V_TOTALS.WHO -> MART.COPIES.W",
            "MART.V_TOTALS.GROSS -> MART.COPIES.G",
            'RAW.Input ü.a.b -> MART.Weird; drop "x" ü.a.b',
            "RAW.ORDERS.AMOUNT -> MART.LATE.LATE",
        )
    ),
    "query_history",
    "access_history",
    "columns",
    "snowflake",
)
DATABRICKS = Case(
    emulating_databricks,
    lambda url: databricks.configure({"url": url, "namespace": "databricks://acme", "warehouse": "w1"}),
    ("prod", "staging"),
    frozenset(
        (
            "raw.orders.customer -> mart.totals.who",
            "raw.orders.amount -> mart.totals.gross",
            "mart.totals.who -> mart.v_totals.who",
            "mart.totals.gross -> mart.v_totals.gross",
            "mart.v_totals.who -> mart.copies.w",
            "mart.v_totals.gross -> mart.copies.g",
            "raw.input ü.a b -> mart.weird; drop ü.a b",
            "raw.orders.amount -> mart.late.late",
            "mart.copies.g -> mart.features.spend",
        )
    ),
    "history",
    "column_lineage",
    "columns",
    "databricks",
)


@pytest.fixture(params=(SNOWFLAKE, DATABRICKS), ids=("snowflake", "databricks"))
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setenv("WHENCE_SNOWFLAKE_TOKEN", TOKEN)
    monkeypatch.setenv("WHENCE_DATABRICKS_TOKEN", TOKEN)
    found: Case = request.param
    return found


@pytest.fixture
def emulator(case: Case) -> Iterator[Emulator]:
    with case.emulating() as made:
        yield made


@pytest.fixture
def server(case: Case, emulator: Emulator) -> WarehouseServer:
    found = case.connect(emulator.url)
    found.warehouse.api.source.pause = lambda seconds: None  # type: ignore[attr-defined]  # no Warehouse needs one
    return found


def poll(server: WarehouseServer, cursor: Any = None, window: Window | None = None) -> tuple[list[Json], Any]:
    """The events of a poll, and the cursor as its file keeps it."""
    records = list(server.records(cursor, window or Window()))
    naming = Naming("prod", server.instance)
    events = list(chain.from_iterable(server.translate(record, naming) for record, _ in records))
    return events, json.loads(json.dumps(records[-1][1])) if records else cursor


def ends(events: list[Json]) -> list[Json]:
    return [one for one in events if one.get("eventType") not in ("START", None)]


def direct_edges(events: list[Json]) -> set[str]:
    """The DIRECT edges between columns that events report, by the whole names of tables."""
    return {
        f"{source['name']}.{source['field']} -> {output['name']}.{column}"
        for event in events
        for output in event["outputs"]
        for column, field in output["facets"].get("columnLineage", {}).get("fields", {}).items()
        for source in field["inputFields"]
        if any(one["type"] == "DIRECT" for one in source["transformations"])
    }


def expected(case: Case) -> set[str]:
    own = {
        " -> ".join(f"{database}.{end}" for end in edge.split(" -> "))
        for edge in case.direct
        for database in case.databases
    }
    temporary = {
        "DEV.RAW.ORDERS.AMOUNT -> DEV.temp-7.scratch.AMOUNT",
        "DEV.temp-7.scratch.AMOUNT -> DEV.MART.KEPT.TWICE",
    }
    return own | (temporary if case is SNOWFLAKE else set())


def test_columns_are_those_that_the_statements_say(case: Case, server: WarehouseServer) -> None:
    events, _ = poll(server)
    assert direct_edges(events) == expected(case)
    for event in events:
        require_valid(event)
        assert set(accept(json.dumps(event).encode(), strict=True).warnings) <= {"/: 1 secret redacted"}


def test_runs_have_users_ids_ends_and_messages(case: Case, server: WarehouseServer) -> None:
    runs = ends(poll(server)[0])
    states = [one["eventType"] for one in runs]
    assert (states.count("FAIL"), states.count("ABORT")) == (2, 2)
    failed = next(one for one in runs if one["eventType"] == "FAIL")
    assert "missing" in failed["run"]["facets"]["errorMessage"]["message"].lower()
    assert failed["outputs"] == []
    readers = [one for one in runs if not one["outputs"] and one["eventType"] == "COMPLETE"]
    assert {one["run"]["facets"]["whence_query"]["user"] for one in readers} == {
        "LOOKER" if case is SNOWFLAKE else "bi@acme.example"
    }
    assert all(one["run"]["facets"]["externalQuery"]["externalQueryId"] for one in runs)


def test_one_text_in_two_databases_is_two_jobs(server: WarehouseServer) -> None:
    totals = [one for one in ends(poll(server)[0]) if one["job"]["name"].lower().startswith("write.totals")]
    assert len({one["job"]["name"] for one in totals if one["outputs"]}) == 2


def test_a_poll_does_not_read_itself(case: Case, emulator: Emulator, server: WarehouseServer) -> None:
    events, _ = poll(server)
    assert emulator.statements
    assert not [
        one for one in events if "account_usage" in json.dumps(one) or "query.history" in json.dumps(one["job"])
    ]


def test_pages_and_parts_of_results_change_nothing(
    emulator: Emulator, server: WarehouseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = poll(server)
    emulator.page, emulator.slow = 1, 2
    monkeypatch.setattr(statements, "PAGE", 2)
    assert poll(server)[0] == whole


def test_a_poll_goes_on_where_the_last_one_ended(
    case: Case, emulator: Emulator, server: WarehouseServer, sqlite_store: Engine
) -> None:
    whole, _ = poll(server)
    tables = read_tables(case.form)
    rows = tables[case.history]
    emulator.load({case.history: rows[:5]})
    first, cursor = poll(server)
    emulator.load({case.history: rows})
    second, _ = poll(server, cursor)
    assert len(second) < len(whole)
    both = [*first, *second]
    random.Random(11).shuffle(both)
    assert store_events(sqlite_store, both) == store_events(sqlite_store, whole)


def test_a_window_has_what_ended_in_it(server: WarehouseServer) -> None:
    since = datetime(2026, 11, 1, tzinfo=UTC)
    window = Window(since=since, until=since + timedelta(minutes=3))
    times = {one["eventTime"] for one in ends(poll(server, None, window)[0])}
    assert {one[:16] for one in times} == {"2026-11-01T00:01", "2026-11-01T00:02"}


def test_what_ended_just_now_waits_until_its_lineage_is_there(
    case: Case, emulator: Emulator, server: WarehouseServer
) -> None:
    before, _ = poll(server)
    rows = read_tables(case.form)[case.history]
    now = datetime.now(UTC).isoformat()
    late = {**rows[0], "start_time": now, "end_time": now, "query_id": "01bd-new", "statement_id": "01f0-new"}
    emulator.load({case.history: [*rows, {key: late[key] for key in rows[0]}]})
    assert poll(server)[0] == before


def test_without_the_engine_s_lineage_the_text_is_read_and_the_run_says_so(
    case: Case, emulator: Emulator, server: WarehouseServer
) -> None:
    emulator.refused = {f".{case.access}"}
    events, _ = poll(server)
    found = direct_edges(events)
    assert {one for one in expected(case) if ".LATE" in one or ".late" in one} <= found
    (written, *_) = (one for one in ends(events) if one["outputs"])
    (error,) = written["run"]["facets"]["extractionError"]["errors"]
    assert "the columns are those of the SQL text" in error["errorMessage"]
    (doubt,) = server.check().doubts
    assert "the columns are those of the SQL text" in doubt


def test_the_engine_s_columns_do_not_need_those_of_tables(
    case: Case, emulator: Emulator, server: WarehouseServer
) -> None:
    emulator.refused = {f".{case.columns}"}
    assert {one for one in expected(case) if ".COPIES." in one or ".copies." in one} <= direct_edges(poll(server)[0])


def test_a_warehouse_that_is_busy_is_asked_again(emulator: Emulator, server: WarehouseServer) -> None:
    whole, _ = poll(server)
    emulator.failures = [503, 0, 429]
    assert poll(server)[0] == whole
    emulator.failures = [500] * 10
    with pytest.raises(SourceError, match="HTTP 500"):
        poll(server)


def test_a_token_that_is_wrong_or_missing_is_a_sentence(
    server: WarehouseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WHENCE_SNOWFLAKE_TOKEN", "WHENCE_DATABRICKS_TOKEN"):
        monkeypatch.setenv(name, "wrong")
    assert "401" in server.check().problems[0]
    for name in ("WHENCE_SNOWFLAKE_TOKEN", "WHENCE_DATABRICKS_TOKEN"):
        monkeypatch.delenv(name)
    assert "_TOKEN" in server.check().problems[0]


def test_an_export_of_the_history_names_the_same_runs(case: Case, server: WarehouseServer) -> None:
    form = FORMATS[case.form]
    assert form.row is not None
    settings = Settings(dialect=form.dialect, namespace=server.namespace, jobs="prod", time=0)
    exported = {
        event["run"]["runId"]
        for row in read_tables(case.form)[case.history]
        if row["end_time"] and (query := form.row(dict(row), "export"))
        for event in query_events(query, settings)
    }
    polled = {one["run"]["runId"] for one in ends(poll(server)[0])}
    assert len(exported & polled) >= 10


@pytest.mark.parametrize(
    ("capture", "options", "message"),
    [
        (snowflake, {}, "WHENCE_SNOWFLAKE_URL"),
        (snowflake, {"url": "https://acme.example", "settle": "soon"}, "number of minutes"),
        (databricks, {"url": "https://acme.example"}, "the id of the SQL warehouse"),
    ],
)
def test_wrong_options_are_sentences(capture: Any, options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        capture.configure(options)


def test_names_of_accounts() -> None:
    server = snowflake.configure({"url": "https://acme-prod.snowflakecomputing.com"})
    assert server.instance == "snowflake://acme-prod"
    assert databricks.configure({"url": "https://dbc-1.cloud.databricks.com", "warehouse": "w"}).instance == (
        "databricks://dbc-1.cloud.databricks.com"
    )
