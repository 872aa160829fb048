"""Run facets as templates and variables: nothing of a payload is lost, and the runs of a job share a template."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from fixtures.confidential_events import facet_with as facet_by_tool
from fixtures.stores_of_events import apply_bodies
from oracle import dump as oracle_dump
from whence.store.connection.engine import reading
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.lifecycle.dump import dump
from whence.store.lifecycle.purge import enforce_horizon
from whence.store.schema.facet_templates import (
    RunFacet,
    encode_variables,
    has_facet,
    join_facets,
    join_payload,
    make_template,
    split_facets,
    split_payload,
)
from whence.store.schema.tables import facet_template, run_facets

UUID = "019b3a1c-0000-7000-8000-00000000000"
DAY = 86_400_000_000
FIRST_DAY = 1_767_225_600_000_000
"""2026-01-01."""

fragments = st.one_of(
    st.sampled_from(
        [
            *("\x00", "\x01", ":", ",", "}", "]", "-", "Z", "٣٣٣٣", "0", "-0", "0012", "1.50", "1e400"),
            *(UUID + "1", UUID + "2", (UUID + "a").upper(), "f" * 36, "deadbeefdeadbeef"),
            *("2026-02-31T00:00:00Z", "2026-02-28T00:00:00.000000001Z", "2026-02-28T00:00:00.10Z"),
            *("1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0000-00-00T00:00:00Z"),
            *("2026-02-28T24:00:00Z", "2026-02-28 10:00:00+02:00", "2026-02-28", "application_1700000000000_0001"),
        ]
    ),
    st.uuids().map(str),
    st.datetimes().map(lambda at: f"{at.isoformat()}Z"),
    st.integers().map(str),
    st.text(max_size=8),
)
payloads = st.one_of(st.lists(fragments, max_size=12).map("".join), st.lists(fragments).map(json.dumps))
facets = st.lists(
    st.tuples(st.sampled_from(["", "input", "output"]), st.integers(-(2**63), 2**63 - 1), st.text(), payloads)
)


@given(payloads)
@example(f'{{"root":"{UUID}1","run":"{UUID}1","other":"{UUID}2","again":"{UUID}1"}}')
def test_a_payload_is_whole_again(payload: str) -> None:
    assert join_payload(split_payload(payload)) == payload


@given(facets)
def test_packed_facets_are_whole_again(reported: list[RunFacet]) -> None:
    parts, variables = split_facets(reported)
    content, encoded = make_template(parts).content, encode_variables(variables)
    assert list(join_facets(content, encoded)) == reported
    for key in {"nominalTime", *(one[2] for one in reported)} - {""}:
        wanted = [one for one in reported if one[2] == key]
        assert list(join_facets(content, encoded, key)) == wanted
        assert has_facet(content, key) == bool(wanted)


def test_variables_are_short() -> None:
    _, variables = split_facets([("", 0, "parent", json.dumps({"root": UUID + "1", "run": UUID + "1", "rows": 5_000}))])
    assert len(encode_variables(variables)) == 1 + (2 + 16) + 3
    _, variables = split_facets([("", 0, "nominalTime", '{"nominalStartTime":"2026-01-01T00:00:00Z"}')])
    assert len(encode_variables(variables)) == 1 + (2 + 1 + 4)


def body(day: int, *, message: str = "", state: str = "COMPLETE") -> bytes:
    """The end of a run whose facets say which run contains it, and how many rows it wrote."""
    container = {"run": {"runId": UUID + str(day)}, "job": {"namespace": "n", "name": "dag"}}
    facets: dict[str, Any] = {
        "parent": facet_by_tool(**container, root=container),
        "nominalTime": facet_by_tool(nominalStartTime=f"2026-01-0{day}T00:00:00Z"),
    }
    if message:
        facets["errorMessage"] = facet_by_tool(message=message, programmingLanguage="SQL")
    event = {
        "eventType": state,
        "eventTime": f"2026-01-0{day}T01:00:00Z",
        "producer": "https://example.org/tool",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"019b3a1c-0000-7000-8000-0000000000f{day}", "facets": facets},
        "job": {"namespace": "n", "name": "load"},
        "inputs": [],
        "outputs": [
            {"namespace": "n", "name": "t", "outputFacets": {"outputStatistics": facet_by_tool(rowCount=10**day)}}
        ],
    }
    return json.dumps(event).encode()


BODIES = [body(1), body(2), body(3, message="no table quagga", state="FAIL"), body(4)]


def count(engine: Engine, table: Any) -> int:
    with reading(engine) as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def test_the_runs_of_a_job_share_a_template(store: Engine) -> None:
    apply_bodies(store, BODIES)
    assert (count(store, run_facets), count(store, facet_template)) == (4, 2)
    assert list(dump(store)) == oracle_dump(BODIES)


@pytest.mark.parametrize("first_kept", [3, 4])
def test_templates_are_forgotten_with_their_last_run(store: Engine, first_kept: int) -> None:
    apply_bodies(store, BODIES)
    horizon = FIRST_DAY + (first_kept - 1) * DAY
    purged = enforce_horizon(store, RetentionHorizon(runs=horizon, keep=1, history=horizon))
    assert purged["facet_template"] == first_kept - 3
    assert count(store, facet_template) == 5 - first_kept
    kept = [line for line in map(json.loads, dump(store)) if line.get("fact") == "facet" and line["role"] == ""]
    assert len([line for line in kept if line["name"] == "nominalTime"]) == 5 - first_kept
