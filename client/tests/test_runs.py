"""The Python API: runs and jobs that the code declares, whatever the code does."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from client.tests.recording import MemoryOutbox, names, recorded

import whence_client as whence
from whence_client.process.parent import PARENT, parent_of_process
from whence_client.runs.datasets import add_resolver

ORDERS = ("postgres://db:5432", "shop.public.orders")
ID = "01941f29-7c00-7abc-8def-000000000001"


sent = pytest.fixture(recorded)


def edges(event: dict[str, Any], output: int = 0) -> set[tuple[str, str, str, str, str]]:
    """(output column or *, type, subtype, input dataset, input column) of an event's output."""
    facet = event["outputs"][output]["facets"]["columnLineage"]
    fields = {name: one["inputFields"] for name, one in facet["fields"].items()} | {"*": facet.get("dataset", [])}
    return {
        (name, how["type"], how["subtype"], source["name"], source["field"])
        for name, sources in fields.items()
        for source in sources
        for how in source["transformations"]
    }


def test_a_run_reports_what_it_reads_and_writes_column_by_column(sent: MemoryOutbox) -> None:
    with whence.run("daily") as run:
        orders = run.reads(ORDERS, schema={"id": "int", "amount": "decimal", "status": "text", "day": "date"})
        users = run.reads("s3a://lake/silver/users/", schema=["id", "region", "email"])
        run.writes(
            "s3://lake/gold/daily",
            columns={
                "day": orders["day"],
                "total": "sum(amount)",
                "who": "md5(users.email)",
                "label": "case when status = 'paid' then region else 'none' end",
                "loaded": None,
                "score": whence.derived("model.predict", orders["amount"], users["region"]),
                "both": [orders["amount"], users["region"]],
            },
            rows={"FILTER": "status = 'paid'", "JOIN": [orders["id"], users["id"]], "GROUP_BY": "day"},
            row_count=3,
        )
    event = sent.last()
    table, lake = "shop.public.orders", "silver/users"
    assert sent.states() == ["START", "COMPLETE"]
    assert names(event["inputs"]) == [ORDERS, ("s3://lake", lake)]
    assert edges(event) == {
        ("day", "DIRECT", "IDENTITY", table, "day"),
        ("total", "DIRECT", "AGGREGATION", table, "amount"),
        ("who", "DIRECT", "TRANSFORMATION", lake, "email"),
        ("label", "INDIRECT", "CONDITIONAL", table, "status"),
        ("label", "DIRECT", "TRANSFORMATION", lake, "region"),
        ("score", "DIRECT", "TRANSFORMATION", table, "amount"),
        ("score", "DIRECT", "TRANSFORMATION", lake, "region"),
        ("both", "DIRECT", "TRANSFORMATION", table, "amount"),
        ("both", "DIRECT", "TRANSFORMATION", lake, "region"),
        ("*", "INDIRECT", "FILTER", table, "status"),
        ("*", "INDIRECT", "JOIN", table, "id"),
        ("*", "INDIRECT", "JOIN", lake, "id"),
        ("*", "INDIRECT", "GROUP_BY", table, "day"),
    }
    facets = event["outputs"][0]["facets"]
    assert facets["whence_columnEvidence"]["unexplained"] == [{"field": "loaded", "reason": "no_source"}]
    assert facets["columnLineage"]["fields"]["loaded"] == {"inputFields": []}
    assert [one["name"] for one in facets["schema"]["fields"]][:2] == ["day", "total"]
    masked = facets["columnLineage"]["fields"]["who"]["inputFields"][0]["transformations"][0]
    assert (masked["masking"], masked["description"]) == (True, "md5(users.email)")
    formulas = [one["transformations"][0]["description"] for one in facets["columnLineage"]["dataset"]]
    assert formulas == ["status = 'paid'", "id", "id", "day"]
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert event["job"]["facets"]["whence_code"]["path"].endswith("test_runs.py")
    assert "extractionError" not in event["run"]["facets"]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [("nobody.amount", "nobody.amount"), ("amount", "amount"), ("a.b.c.d", "a.b.c.d")],
)
def test_a_column_that_cannot_be_resolved_is_said_and_not_guessed(
    sent: MemoryOutbox, expression: str, problem: str
) -> None:
    with whence.run("x") as run:
        run.reads("a", "b")
        run.writes("c", columns={"total": expression})
    event = sent.last()
    assert sent.states() == ["START", "COMPLETE"]
    evidence = event["outputs"][0]["facets"]["whence_columnEvidence"]
    assert evidence["unexplained"] == [{"field": "total", "reason": "not_captured"}]
    (error,) = event["run"]["facets"]["extractionError"]["errors"]
    assert problem in error["errorMessage"]


@dataclass
class Asset:
    uri: str


@dataclass
class Table:
    namespace: str
    name: str


def test_datasets_by_what_is_at_hand(sent: MemoryOutbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.bin").write_text("")
    with whence.run("x") as run, open("x.bin") as file:
        run.reads("orders", "orders.csv", "data/orders", Path("p"), ORDERS, Asset("s3://b/k"), Table("n", "t"), file)
        run.reads(whence.Dataset("n", "u"), whence.table("sqlite:////crm.db", "calls"))
        missing = run.reads(object())
        run.writes("out", columns={"a": missing["a"]})
    event = sent.last()
    assert names(event["inputs"]) == [
        ("shop", "orders"),
        ("file", f"{tmp_path}/orders.csv"),
        ("file", f"{tmp_path}/data/orders"),
        ("file", f"{tmp_path}/p"),
        ORDERS,
        ("s3://b", "k"),
        ("n", "t"),
        ("file", f"{tmp_path}/x.bin"),
        ("n", "u"),
        ("sqlite:///crm.db", "calls"),
    ]
    assert "object does not name a dataset" in event["run"]["facets"]["extractionError"]["errors"][0]["errorMessage"]


def test_frames_are_resolved_by_captures_and_give_their_schema(sent: MemoryOutbox) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1], "name": ["a"]})
    remove = add_resolver(lambda thing: whence.Dataset(*ORDERS) if thing is frame else None)
    with whence.run("x") as run:
        run.reads(frame, schema=frame)
    remove()
    (dataset,) = sent.last()["inputs"]
    assert names([dataset]) == [ORDERS]
    assert [one["name"] for one in dataset["facets"]["schema"]["fields"]] == ["id", "name"]


@pytest.mark.parametrize(
    ("error", "state", "message"),
    [
        (ValueError("no rows"), "FAIL", "ValueError: no rows"),
        (SystemExit(0), "COMPLETE", ""),
        (SystemExit(None), "COMPLETE", ""),
        (SystemExit(3), "FAIL", "the process ended with 3"),
        (SystemExit("bad"), "FAIL", "the process ended with 'bad'"),
        (KeyboardInterrupt(), "ABORT", "KeyboardInterrupt: "),
        (asyncio.CancelledError(), "ABORT", "CancelledError: "),
    ],
)
def test_endings(sent: MemoryOutbox, error: BaseException, state: str, message: str) -> None:
    with pytest.raises(type(error)) as raised, whence.run("x"):
        raise error
    assert raised.value is error
    event = sent.last()
    assert sent.states() == ["START", state]
    assert event["run"]["facets"].get("errorMessage", {}).get("message", "") == message
    if state == "FAIL" and isinstance(error, ValueError):
        stack = event["run"]["facets"]["errorMessage"]["stackTrace"]
        assert "raise error" in stack
        assert "whence_client" not in stack


def test_a_secret_in_an_error_is_masked(sent: MemoryOutbox) -> None:
    def work() -> None:
        with whence.run("x") as run:
            run.parameters({"db_password": "hunter2", "day": "2026-01-01"})
            raise OSError("cannot reach postgres://bob:hunter2@db/shop")

    with pytest.raises(OSError, match="cannot reach"):
        work()
    text = str(sent.events)
    assert "hunter2" not in text
    assert "2026-01-01" in text


def test_nested_runs_are_parent_and_child_of_one_root(sent: MemoryOutbox) -> None:
    with whence.run("outer") as outer, whence.run("middle") as middle, whence.run("inner") as inner:
        assert whence.current_run() is inner
    assert whence.current_run() is None
    parent = sent.last("inner")["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == middle.ref.run_id
    assert parent["root"]["run"]["runId"] == outer.ref.run_id
    assert "parent" not in sent.last("outer")["run"]["facets"]


def test_the_parent_of_the_environment(sent: MemoryOutbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PARENT, f"airflow/dag.task/{ID}")
    with whence.run("x") as run:
        inside = parent_of_process()
        assert inside is not None
        assert inside.run_id == run.ref.run_id
        with whence.run("y"):
            pass
    assert os.environ[PARENT] == f"airflow/dag.task/{ID}"
    assert sent.last("x")["run"]["facets"]["parent"]["job"] == {"namespace": "airflow", "name": "dag.task"}
    assert sent.last("y")["run"]["facets"]["parent"]["root"]["run"]["runId"] == ID


def test_threads_and_tasks_are_within_the_run_that_started_them(sent: MemoryOutbox) -> None:
    def work(name: str) -> None:
        with whence.run(name), whence.run(f"{name}-inner"):
            pass

    async def work_async(name: str) -> None:
        async with whence.run(name):
            await asyncio.sleep(0)
            with whence.run(f"{name}-inner"):
                await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(work_async("t1"), work_async("t2"))

    with whence.run("outer") as outer:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, ("a", "b")))
        asyncio.run(both())
    for name in ("a", "b", "t1", "t2"):
        assert sent.last(name)["run"]["facets"]["parent"]["run"]["runId"] == outer.ref.run_id
        inner = sent.last(f"{name}-inner")["run"]["facets"]["parent"]
        assert inner["job"]["name"] == name
    asyncio.run(both())
    assert "parent" not in sent.last("t1")["run"]["facets"]
    assert PARENT not in os.environ


def test_many_threads_declare_on_one_run(sent: MemoryOutbox) -> None:
    with whence.run("x") as run:
        threads = [threading.Thread(target=run.reads, args=(f"in-{number}",)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(sent.last()["inputs"]) == 20
