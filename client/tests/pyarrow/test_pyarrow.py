"""Tables of PyArrow: what is read and written, what passes unchanged, and what is announced."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.json as pajson
import pyarrow.orc as orc
import pyarrow.pandas_compat
import pyarrow.parquet as pq
import pytest
from client.tests.frames.sessions import Kept, capturing, describe, reasons_of

from whence_client import pyarrow as captures
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture

ALL = [getattr(captures, name) for name in captures.__all__]


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PandasCapture(), PolarsCapture(), *ALL) as made:
        yield made


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    place = tmp_path / "orders.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "who": ["a", "b", "a"], "amount": [2.5, 3.5, 4.5]}), place)
    return place


def test_columns_that_pass_unchanged_keep_their_sources(session: Kept, orders: Path, tmp_path: Path) -> None:
    table = pq.read_table(orders)
    chosen = table.select(["amount", "who"]).append_column("twice", pc.multiply(table["amount"], 2))
    pq.write_table(chosen, tmp_path / "out.parquet")
    assert describe(session.events[-1]) == ("amount <- orders.amount\nwho <- orders.who\ntwice <- ! left_the_engine")
    assert [one["name"] for one in session.events[-1]["inputs"]] == [str(orders)]
    assert session.events[-1]["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 3


def test_a_whole_table_passes_through_every_format(session: Kept, orders: Path, tmp_path: Path) -> None:
    table = pq.read_table(orders, columns=["id", "amount"])
    expected = "id <- {0}.id\namount <- {0}.amount"
    orc.write_table(table, tmp_path / "a.orc")
    assert describe(session.events[-1]) == expected.format("orders")
    pacsv.write_csv(orc.read_table(tmp_path / "a.orc"), tmp_path / "b.csv")
    assert describe(session.events[-1]) == expected.format("a")
    feather.write_feather(pacsv.read_csv(tmp_path / "b.csv"), str(tmp_path / "c.feather"))
    assert describe(session.events[-1]) == expected.format("b")
    (tmp_path / "d.json").write_text('{"id": 1, "amount": 2.5}\n')
    for place, read in (("c.feather", feather.read_table), ("d.json", pajson.read_json)):
        pq.write_table(read(str(tmp_path / place)), tmp_path / "out.parquet")
        assert describe(session.events[-1]) == expected.format(place[0])


def test_filters_decide_rows(session: Kept, orders: Path, tmp_path: Path) -> None:
    chosen = pq.read_table(orders, columns=["who"], filters=[("amount", ">", 3)])
    pq.write_table(chosen, tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "who <- orders.who\n* <- orders.amount:FILTER"
    hidden = pq.read_table(orders, columns=["who"], filters=ds.field("amount") > 3)
    pq.write_table(hidden, tmp_path / "out.parquet")
    assert reasons_of(session.events[-1]) == {"who": "not_captured"}


def test_a_dataset_that_is_written_as_it_is(session: Kept, orders: Path, tmp_path: Path) -> None:
    ds.write_dataset(ds.dataset(orders), tmp_path / "out", format="parquet")
    assert describe(session.events[-1]) == "id <- orders.id\nwho <- orders.who\namount <- orders.amount"
    assert session.events[-1]["outputs"][0]["name"] == str(tmp_path / "out")


def test_what_reads_a_dataset_is_not_seen_and_announced(session: Kept, orders: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"unrelated": [1]}), other)
    opened, _ = ds.dataset(orders), ds.dataset(other)
    pq.write_table(opened.to_table(columns=["amount"]), tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "amount <- ! left_the_engine"
    assert [one["name"] for one in session.events[-1]["inputs"]] == [str(orders)]


def test_a_file_that_was_read_may_be_the_source_of_a_column_that_is_not_known(session: Kept, tmp_path: Path) -> None:
    (tmp_path / "beds.csv").write_text("ward,beds\nW1,10\nW2,20\n")
    (tmp_path / "other.csv").write_text("unrelated\n1\n")
    beds, _ = pacsv.read_csv(tmp_path / "beds.csv"), pacsv.read_csv(tmp_path / "other.csv")
    pq.write_table(beds.slice(1).select(["beds"]).filter(pc.field("beds") > 10), tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "beds <- ! left_the_engine"
    assert [one["name"] for one in session.events[-1]["inputs"]] == [str(tmp_path / "beds.csv")]


def test_a_table_of_the_program_has_no_input(session: Kept, tmp_path: Path) -> None:
    pq.write_table(pa.table({"made": [1, 2]}), tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "made <- ! left_the_engine"
    assert session.events[-1]["inputs"] == []


def test_a_file_that_is_read_and_written_in_parts_is_one_write(session: Kept, orders: Path, tmp_path: Path) -> None:
    source = pq.ParquetFile(orders)
    with pq.ParquetWriter(tmp_path / "out.parquet", source.schema_arrow) as writer:
        for _ in range(3):
            writer.write_table(source.read_row_group(0))
    (written,) = session.events[-1:]
    assert len([one for one in session.events if one["outputs"][0]["name"] == str(tmp_path / "out.parquet")]) == 1
    assert describe(written) == "id <- orders.id\nwho <- orders.who\namount <- orders.amount"
    pq.write_table(pq.ParquetDataset(orders).read(columns=["id"]), tmp_path / "two.parquet")
    assert describe(session.events[-1]) == "id <- orders.id"


def test_tables_become_frames_and_frames_tables(session: Kept, orders: Path, tmp_path: Path) -> None:
    frame = pq.read_table(orders).to_pandas()
    frame["gross"] = frame["amount"] * 1.2
    pq.write_table(pa.Table.from_pandas(frame[["who", "gross"]]), tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "who <- orders.who\ngross <- orders.amount"
    pl.from_arrow(pq.read_table(orders)).select(twice=pl.col("amount") * 2).write_csv(tmp_path / "out.csv")  # type: ignore[union-attr]
    assert describe(session.events[-1]) == "twice <- orders.amount"
    pq.write_table(pl.read_parquet(orders).to_arrow(), tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "id <- orders.id\nwho <- orders.who\namount <- orders.amount"


def test_a_table_that_gives_its_memory_away_is_not_touched_after_it(
    session: Kept, orders: Path, tmp_path: Path
) -> None:
    frame = pq.read_table(orders).to_pandas(self_destruct=True, split_blocks=True)
    pq.write_table(pa.Table.from_pandas(frame[["who"]]), tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "who <- orders.who"
    pl.read_parquet(orders).to_pandas(use_pyarrow_extension_array=True)[["id"]].to_parquet(tmp_path / "out.parquet")
    assert describe(session.events[-1]) == "id <- orders.id"


def test_what_pandas_does_within_is_its_own(session: Kept, orders: Path, tmp_path: Path) -> None:
    before = len(session.events)
    pd.read_parquet(orders).to_parquet(tmp_path / "out.parquet")
    assert len(session.events) == before + 1
    assert session.events[-1]["job"]["facets"]["jobType"]["integration"] == "PANDAS"


def test_places_without_a_name_are_not_reported(session: Kept, orders: Path, tmp_path: Path) -> None:
    before = len(session.events)
    pq.write_table(pq.read_table(orders), pa.BufferOutputStream())
    assert len(session.events) == before


def test_a_file_system_names_the_bucket(session: Kept, orders: Path, tmp_path: Path) -> None:
    from pyarrow import fs

    pq.write_table(pq.read_table(orders, filesystem=fs.LocalFileSystem()), tmp_path / "out.parquet")
    assert [one["name"] for one in session.events[-1]["inputs"]] == [str(orders)]
    inner = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    before = len(session.events)
    pq.write_table(pa.table({"a": [1]}), "inner.parquet", filesystem=inner)
    assert len(session.events) == before
    assert "its file system is not known here" in str(session.guard("pyarrow.parquet").take_errors())


@pytest.mark.parametrize("name", ["prod lake ü", "a%20b", 'it\'s "odd"', "dot.ted#1", "naïve\\n", "select;--"])
def test_files_of_any_name_are_named_by_their_paths(session: Kept, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    pacsv.write_csv(pa.table({name: [1, 2], "other": [3, 4]}), folder / f"{name}.csv")
    pq.write_table(pacsv.read_csv(folder / f"{name}.csv"), folder / f"{name}.parquet")
    event = session.events[-1]
    assert [one["name"] for one in event["inputs"]] == [str(folder / f"{name}.csv")]
    assert event["outputs"][0]["name"] == str(folder / f"{name}.parquet")
    (source,) = event["outputs"][0]["facets"]["columnLineage"]["fields"][name]["inputFields"]
    assert (source["name"], source["field"]) == (str(folder / f"{name}.csv"), name)


@pytest.mark.parametrize("stage", ["dev", "staging", "prod"])
def test_each_stage_has_its_own_datasets_and_jobs(tmp_path: Path, stage: str) -> None:
    for one in ("dev", "staging", "prod"):
        (tmp_path / one).mkdir()
        pacsv.write_csv(pa.table({"amount": [1.5]}), tmp_path / one / "orders.csv")
    with capturing(*ALL) as session:
        session.outbox.settings = replace(session.outbox.settings, namespace=stage)
        tables = {one: pacsv.read_csv(tmp_path / one / "orders.csv") for one in ("dev", "staging", "prod")}
        pq.write_table(tables[stage], tmp_path / stage / "orders.parquet")
    (event,) = session.events
    assert event["job"]["namespace"] == stage
    assert [one["name"] for one in event["inputs"]] == [str(tmp_path / stage / "orders.csv")]


def test_what_fails_is_not_reported_and_fails_as_before(session: Kept, orders: Path, tmp_path: Path) -> None:
    before = len(session.events)
    table = pq.read_table(orders)
    with pytest.raises(FileNotFoundError):
        pq.write_table(table, tmp_path / "absent" / "out.parquet")
    with pytest.raises(FileNotFoundError):
        pq.read_table(tmp_path / "absent.parquet")
    with pytest.raises(TypeError):
        pq.write_table()
    assert len(session.events) == before
    pq.write_table(table, tmp_path / "out.parquet")  # hooks observe again after a call that failed
    assert len(session.events) == before + 1


def test_an_error_of_a_hook_is_the_runs_and_not_the_jobs(session: Kept, tmp_path: Path) -> None:
    class Odd:
        """A path that fails when it is asked a second time."""

        asked = 0

        def __fspath__(self) -> str:
            self.asked += 1
            if self.asked > 1:
                raise OSError("asked again")
            return str(tmp_path / "odd.csv")

    pacsv.write_csv(pa.table({"a": [1]}), Odd())
    assert (tmp_path / "odd.csv").read_text() == '"a"\n1\n'
    assert session.guard("pyarrow.csv").take_errors() == {"pyarrow.csv: write_csv": "OSError: asked again"}


def test_threads_read_and_write_at_once(session: Kept, tmp_path: Path) -> None:
    def convert(number: int) -> None:
        source, target = tmp_path / f"in{number}.csv", tmp_path / f"out{number}.parquet"
        source.write_text(f"a,b\n{number},2\n")
        pq.write_table(pacsv.read_csv(source).select(["a"]), target)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(convert, range(40)))
    assert sorted(map(describe, session.events)) == sorted(f"a <- in{number}.a" for number in range(40))


def test_undo_leaves_no_trace() -> None:
    modules = [sys.modules[one.name] for one in ALL]
    owners = [*modules, pq.ParquetFile, pq.ParquetDataset, pq.ParquetWriter]
    before = [dict(vars(one)) for one in owners]
    with capturing(*ALL) as session:
        with_hooks = [dict(vars(one)) for one in owners]
        for one in ALL:
            one.install(session)()
        assert [dict(vars(one)) for one in owners] == with_hooks
    assert [dict(vars(one)) for one in owners] == before
    assert pyarrow.pandas_compat.table_to_dataframe is before[ALL.index(captures.pandas_compat)]["table_to_dataframe"]
