"""Frames that pass from one library to another keep their lineage."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from client.tests.frames.sessions import Kept, capturing, describe

from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PandasCapture(), PolarsCapture()) as made:
        yield made


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    place = tmp_path / "orders.csv"
    place.write_text("id,amount\n1,2.5\n2,3.5\n3,4.5\n")
    return place


def test_from_pandas_to_polars_and_back(session: Kept, orders: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(orders)
    for made in (pl.from_pandas(frame), pl.DataFrame(frame)):
        doubled = made.filter(pl.col("id") > 1).select(twice=pl.col("amount") * 2)
        doubled.to_pandas().rename(columns={"twice": "total"}).to_csv(tmp_path / "out.csv", index=False)
        assert describe(session.events[-1]) == "total <- orders.amount\n* <- orders.id:FILTER"


def test_by_arrays(session: Kept, orders: Path, tmp_path: Path) -> None:
    amounts = pd.read_csv(orders)["amount"].to_numpy()
    frame = pl.read_csv(orders).with_columns(pl.Series("copied", amounts), lost=pl.Series(np.sqrt(amounts)))
    frame.write_parquet(tmp_path / "out.parquet")
    assert describe(session.events[-1]).splitlines()[2:] == ["copied <- orders.amount", "lost <- ! left_the_engine"]
    pl.DataFrame({"a": amounts, "b": [1, 2, 3]}).write_csv(tmp_path / "out.csv")
    assert describe(session.events[-1]) == "a <- orders.amount\nb <- ! left_the_engine"
    values = pl.read_csv(orders).to_numpy()
    pd.DataFrame(values, columns=["x", "y"]).to_csv(tmp_path / "back.csv", index=False)
    assert describe(session.events[-1]) == "x <- orders.id\ny <- orders.amount"


def test_a_changed_array_lends_nobody_its_lineage(session: Kept, orders: Path, tmp_path: Path) -> None:
    amounts = pd.read_csv(orders)["amount"].to_numpy().copy()
    values = pd.read_csv(orders).to_numpy()
    values[0, 1] = 0
    frame = pd.DataFrame(values, columns=["id", "amount"]).assign(copied=amounts)
    frame.to_csv(tmp_path / "out.csv", index=False)
    reasons = [line.partition(" <- ")[2] for line in describe(session.events[-1]).splitlines()]
    assert reasons == ["! left_the_engine"] * 3
