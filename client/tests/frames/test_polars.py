"""Polars as a job uses it: the lineage of its writes, against what the statements say."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from client.tests.frames.sessions import Kept, capturing, describe, is_announced, read_cases

from whence_client.frames.polars import capture
from whence_client.frames.polars.hooks import PolarsCapture

CASES = read_cases("polars.txt")
IS_OLD = pl.__version__ < "2"
"""Whether plans of the release show less, which is announced then: `make nightly-releases`."""


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PolarsCapture()) as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, written before the capture is on."""
    place = tmp_path_factory.mktemp("prod lake ü")
    rows = range(1, 6)
    pl.DataFrame(
        {
            "id": rows,
            "customer": [n % 3 for n in rows],
            "amount": [n * 1.5 for n in rows],
            "region": ["north", "south", "north", None, "south"],
            "tags": [["a"], ["b", "c"], [], ["a"], ["d"]],
            "place": [{"city": "Rome", "zip": str(n)} for n in rows],
        }
    ).write_parquet(place / "orders.parquet")
    customers = {
        "id": [0, 1, 2, 3],
        "name": ["Ann", "Bob", "Cleo", "Dan"],
        "region": ["north", "south", "east", "west"],
    }
    pl.DataFrame(customers).write_csv(place / "customers.csv")
    return place


@pytest.mark.parametrize("name", CASES)
def test_lineage_is_what_the_statement_says(name: str, session: Kept, folder: Path, tmp_path: Path) -> None:
    code, _, expected = CASES[name].partition("\n")
    names = {
        "pl": pl,
        "c": pl.col,
        "orders": pl.scan_parquet(folder / "orders.parquet"),
        "customers": pl.scan_csv(folder / "customers.csv"),
        "eager": pl.read_parquet(folder / "orders.parquet"),
    }
    frame = eval(code, names)
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    session.events.clear()
    frame.write_parquet(tmp_path / "out.parquet")
    (event,) = session.events
    found = describe(event)
    assert found == expected.strip() or (IS_OLD and is_announced(found, expected))
    assert event["job"]["namespace"] == "dev"
    assert event["job"]["name"].endswith(".out")
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == frame.height


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda frame, at: frame.collect().write_csv(at / "x.csv"), "x.csv"),
        (lambda frame, at: frame.collect().write_ndjson(file=str(at / "x.ndjson")), "x.ndjson"),
        (lambda frame, at: frame.sink_parquet(at / "x.parquet"), "x.parquet"),
        (lambda frame, at: frame.sink_csv(path=at / "x.csv", lazy=True).collect(), "x.csv"),
        (lambda frame, at: frame.sink_ipc(at / "x.arrow"), "x.arrow"),
    ],
)
def test_each_way_to_write_is_one_event(write: Any, name: str, session: Kept, folder: Path, tmp_path: Path) -> None:
    frame = pl.scan_parquet(folder / "orders.parquet").filter(pl.col("id") > 1).select("amount")
    write(frame, tmp_path)
    (event,) = session.events
    assert describe(event) == "amount <- orders.amount\n* <- orders.id:FILTER"
    assert event["outputs"][0]["name"] == str(tmp_path / name)
    assert event["inputs"][0]["name"] == str(folder / "orders.parquet")


def test_several_files_are_the_folder_that_they_are_in(session: Kept, tmp_path: Path) -> None:
    for day in ("1", "2"):
        (tmp_path / "lake" / f"day={day}").mkdir(parents=True)
        pl.DataFrame({"v": [1, 2, 3]}).write_parquet(tmp_path / "lake" / f"day={day}" / "part.parquet")
    session.events.clear()
    pl.scan_parquet(tmp_path / "lake/*/*.parquet").sink_parquet(tmp_path / "out.parquet")
    assert [one["name"] for one in session.events[0]["inputs"]] == [str(tmp_path / "lake")]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("way", ["list", "pattern"])
def test_a_few_files_are_each_a_dataset(way: str, lazy: bool, session: Kept, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.parquet" for name in ("a", "b")]
    for file in files:
        pl.DataFrame({"v": [1, 2, 3]}).write_parquet(file)
    session.events.clear()
    source: Any = files if way == "list" else str(tmp_path / "[ab].parquet")
    frame = pl.scan_parquet(source).collect() if lazy else pl.read_parquet(source)
    frame.write_parquet(tmp_path / "out.parquet")
    assert [one["name"] for one in session.events[0]["inputs"]] == [str(one) for one in files]
    assert describe(session.events[0]) == "v <- a.v b.v"


@pytest.mark.parametrize(
    ("condition", "deciding"),
    [
        (pl.col("region") == "north", ["region"]),
        (pl.col("region").is_in(["north", "south"]) & (pl.col("amount") > 3), ["amount", "region"]),
    ],
)
def test_a_filter_by_a_column_of_folders_decides_on_the_rows(
    condition: pl.Expr, deciding: list[str], session: Kept, folder: Path, tmp_path: Path
) -> None:
    pl.read_parquet(folder / "orders.parquet").drop_nulls().write_parquet(tmp_path / "parts", partition_by="region")
    session.events.clear()
    parts = pl.scan_parquet(tmp_path / "parts", hive_partitioning=True)
    parts.filter(condition).select("id").sink_parquet(tmp_path / "out.parquet")
    (event,) = session.events
    rows = " ".join(f"parts.{name}:FILTER" for name in deciding)
    found = describe(event)
    assert found == (expected := f"id <- parts.id\n* <- {rows}") or (IS_OLD and is_announced(found, expected))


def test_frames_that_are_gone_lend_nobody_their_lineage(session: Kept, folder: Path, tmp_path: Path) -> None:
    for _ in range(50):
        frame = pl.read_parquet(folder / "orders.parquet").select("id", "amount")
        del frame
        made = pl.DataFrame({"id": [1, 2, 3, 4, 5], "amount": [0.0] * 5})
        made.write_parquet(tmp_path / "made.parquet")
    assert {describe(one) for one in session.events} == {"id <- ! left_the_engine\namount <- ! left_the_engine"}


def test_threads_keep_their_frames_apart(session: Kept, folder: Path, tmp_path: Path) -> None:
    def work(column: str) -> None:
        for _ in range(20):
            frame = pl.read_parquet(folder / "orders.parquet").with_columns(out=pl.col(column)).select("out")
            frame.write_parquet(tmp_path / f"{column}.parquet")

    threads = [threading.Thread(target=work, args=(column,)) for column in ("id", "amount", "customer")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    found = {(Path(one["outputs"][0]["name"]).stem, describe(one)) for one in session.events}
    assert found == {(one, f"out <- orders.{one}") for one in ("id", "amount", "customer")}


def test_a_failing_query_fails_as_without_the_capture(session: Kept, tmp_path: Path) -> None:
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        pl.DataFrame({"a": [1]}).select("b")
    with pytest.raises(FileNotFoundError):
        pl.read_parquet(tmp_path / "none.parquet")
    assert session.events == []


def test_what_cannot_be_read_of_a_plan_changes_nothing(
    session: Kept, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("whence_client.frames.polars.hooks.read_plan", lambda plan: 1 / 0)
    with caplog.at_level(logging.WARNING):
        frame = pl.scan_parquet(folder / "orders.parquet").select("id").collect()
    assert frame.height == 5
    assert "ZeroDivisionError" in caplog.text


def test_undo_leaves_the_very_objects_that_were_there() -> None:
    before = {owner: dict(vars(owner)) for owner in (pl, pl.DataFrame, pl.LazyFrame)}
    session = Kept()
    undo = capture.install(session)
    capture.install(session)()
    assert pl.read_csv is not before[pl]["read_csv"]
    undo()
    for owner, members in before.items():
        assert [name for name, one in vars(owner).items() if members.get(name) is not one] == []
        assert list(members) == list(vars(owner))


def test_without_polars_it_says_so_and_imports_nothing() -> None:
    code = (
        "import sys; from whence_client.captures import Versions, check_package\n"
        "from whence_client.frames.polars import capture\n"
        "print('polars' in sys.modules, check_package('no-such-polars', capture.versions).problems)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False ('no-such-polars is not installed here',)"
