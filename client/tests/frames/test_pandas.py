"""Pandas as a job uses it: the lineage of its writes, against what the statements say."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from client.tests.frames.sessions import Kept, capturing, describe, read_cases

from whence_client.frames.pandas.hooks import PandasCapture

CASES = read_cases("pandas.txt")


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PandasCapture()) as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, written before the capture is on."""
    place = tmp_path_factory.mktemp("prod lake ü")
    orders = {
        "id": range(1, 6),
        "customer": [1, 2, 0, 1, 2],
        "amount": [1.5, 3, 4.5, 6, 7.5],
        "region": ["n", "s", "n", None, "s"],
        "day": pd.date_range("2026-01-01", periods=5),
    }
    pd.DataFrame(orders).to_csv(place / "orders.csv", index=False)
    customers = {"id": [0, 1, 2, 3], "name": ["Ann", "Bob", "Cleo", "Dan"], "region": ["n", "s", "e", "w"]}
    pd.DataFrame(customers).to_csv(place / "customers.csv", index=False)
    return place


@pytest.mark.parametrize("name", CASES)
def test_lineage_is_what_the_statement_says(name: str, session: Kept, folder: Path, tmp_path: Path) -> None:
    code, _, expected = CASES[name].partition("\n")
    o, c = pd.read_csv(folder / "orders.csv"), pd.read_csv(folder / "customers.csv")
    frame = eval(code, {"pd": pd, "np": np, "o": o, "c": c})
    session.events.clear()
    frame.to_csv(tmp_path / "out.csv", index=False)
    (event,) = session.events
    assert describe(event) == expected.strip()
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == len(frame)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 3.1
def test_a_frame_that_is_changed_in_place(session: Kept, folder: Path, tmp_path: Path) -> None:
    o = pd.read_csv(folder / "orders.csv")
    o["double"] = o["amount"] * 2
    o.loc[o["region"] == "n", "double"] = 0
    o["amount"] += o["id"]
    o.columns = [one.upper() for one in o.columns]
    del o["DAY"]
    o.drop(columns=["CUSTOMER"], inplace=True)
    o.insert(0, "KEY", o["ID"].astype(str))
    o.rename(columns={"REGION": "R"}, inplace=True)
    o.sort_values("R", inplace=True)
    o.pop("ID")
    o.to_json(tmp_path / "o.json")
    assert describe(session.events[-1]).splitlines() == [
        "KEY <- orders.id",
        "AMOUNT <- orders.amount orders.id",
        "R <- orders.region",
        "DOUBLE <- orders.amount orders.region:CONDITIONAL",
        "* <- orders.region:SORT",
    ]


def test_columns_change_places_by_an_array(session: Kept, folder: Path, tmp_path: Path) -> None:
    o = pd.read_csv(folder / "orders.csv")
    o[["amount", "id"]] = o[["id", "amount"]].to_numpy()
    o[["some", "more"]] = o[o["customer"] > 1][["amount", "id"]]
    o.loc[lambda f: f["region"] == "n", "customer"] = 0
    o.drop(columns=["region", "day"]).to_json(tmp_path / "o.json")
    assert describe(session.events[-1]).splitlines() == [
        "id <- orders.amount",
        "customer <- orders.customer orders.region:CONDITIONAL",
        "amount <- orders.id",
        "some <- orders.customer:FILTER orders.id",
        "more <- orders.amount orders.customer:FILTER",
    ]


def test_tables_are_named_as_everyone_names_them(session: Kept, folder: Path, tmp_path: Path) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    pd.read_csv(folder / "orders.csv")[["id", "amount"]].to_sql("orders", engine, index=False)
    pd.read_sql_table("orders", engine).rename(columns={"amount": "total"}).to_csv(tmp_path / "out.csv")
    written, exported = session.events
    assert written["outputs"][0]["name"].endswith("orders")
    assert [(one["namespace"], one["name"]) for one in exported["inputs"]] == [
        (written["outputs"][0]["namespace"], written["outputs"][0]["name"])
    ]
    pd.read_sql("select amount + 1 as more from orders", engine).to_csv(tmp_path / "more.csv")
    assert describe(session.events[-1]) == "more <- ! not_captured"
    engine.dispose()


def test_a_file_of_sqlite_is_named_as_by_sqlalchemy(session: Kept, folder: Path, tmp_path: Path) -> None:
    orders = pd.read_csv(folder / "orders.csv")[["id", "amount"]]
    with sqlite3.connect(tmp_path / "sh#p.db") as connection:
        orders.to_sql("orders", connection, index=False)
    connection.close()
    (event,) = session.events
    (written,) = event["outputs"]
    assert (written["namespace"], written["name"]) == (f"sqlite://{tmp_path / 'sh#p.db'}", "orders")
    assert describe(event) == "id <- orders.id\namount <- orders.amount"


def test_a_connection_without_a_url_is_announced(session: Kept, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("create table t (a)")
        pd.read_sql("select a from t", connection).to_csv(tmp_path / "out.csv")
    connection.close()
    assert describe(session.events[-1]) == "a <- ! not_captured"


LEAST = 2
"""Expressions of `query` and `eval` name it."""


def test_variables_of_the_program_are_found_in_expressions(session: Kept, folder: Path, tmp_path: Path) -> None:
    o, c = pd.read_csv(folder / "orders.csv"), pd.read_csv(folder / "customers.csv")

    def lines(frame: pd.DataFrame) -> list[str]:
        frame.to_csv(tmp_path / "out.csv", index=False)
        return describe(session.events[-1]).splitlines()

    def like(values: object) -> pd.DataFrame:
        return o[["id"]].query("id in @values")

    assert len(o.query("amount > @LEAST")) == 4
    assert lines(o[["id"]].query("id > @LEAST")) == ["id <- orders.id", "* <- orders.id:FILTER"]
    assert lines(like(c["id"])) == ["id <- orders.id", "* <- customers.id:FILTER orders.id:FILTER"]
    assert lines(like(c["id"].to_numpy() + 1)) == ["id <- orders.id ! left_the_engine", "* <- orders.id:FILTER"]
    assert lines(o[["amount"]].eval("more = amount + @LEAST"))[1] == "more <- orders.amount"
    assert lines(o[["amount"]].eval("more = amount + @o.id"))[1] == "more <- orders.amount orders.id"

    def deeper(least: float) -> pd.DataFrame:
        return (lambda: o.query("amount > @least", level=1))()

    assert len(deeper(4)) == 3


def test_errors_are_those_of_pandas(session: Kept, folder: Path) -> None:
    o = pd.read_csv(folder / "orders.csv")
    with pytest.raises(KeyError, match="none"):
        o["none"]
    with pytest.raises(ZeroDivisionError):
        o["id"].map(lambda value: 1 / 0)
    with pytest.raises(FileNotFoundError):
        pd.read_csv(folder / "none.csv")
    assert list((o["id"] + 1)[:2]) == [2, 3]
    assert session.guard("pandas").counts == {}


def test_undo_leaves_the_very_objects_that_were_there() -> None:
    from pandas.core.generic import NDFrame
    from pandas.core.groupby import DataFrameGroupBy
    from pandas.core.indexing import _LocationIndexer

    owners = (pd, pd.DataFrame, pd.Series, NDFrame, DataFrameGroupBy, _LocationIndexer)
    before = {owner: dict(vars(owner)) for owner in owners}
    undo = PandasCapture().install(Kept())
    PandasCapture().install(Kept())()
    assert pd.DataFrame.merge is not before[pd.DataFrame]["merge"]
    undo()
    for owner, members in before.items():
        assert [name for name, one in vars(owner).items() if members.get(name) is not one] == []
