"""Pipelines as the documentation of pandas has them, over columns of hostile names: each exactly as it was written."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from client.tests.frames.sessions import Kept, capturing, describe, read_cases

from whence_client.frames.pandas.hooks import PandasCapture

CASES = read_cases("pandas_documented.txt")
FIRST = pd.Timestamp("2026-01-01")


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PandasCapture()) as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, written before the capture is on."""
    place, rows = tmp_path_factory.mktemp("staging lake ü"), range(1, 7)
    sales = {
        "id": rows,
        "net amount": [n * 1.5 for n in rows],
        'say "hi"': [n % 4 for n in rows],
        "größe": [n * 2.0 for n in rows],
        "x.y": [n % 3 for n in rows],
        "when": [FIRST + pd.Timedelta(days=9 * n) for n in rows],
        "tags": ["a", "b;c", "a", "d", "a", "e"],
        "grp": ["a", "b"] * 3,
    }
    pd.DataFrame(sales).to_csv(place / "sales.csv", index=False)
    since = [FIRST + pd.Timedelta(days=days) for days in (0, 20, 30)]
    prices = {"id": [1, 2, 3], "since": since, "rate": [5.0, 6.0, 7.0], "grp": ["a", "b", "a"]}
    pd.DataFrame(prices).to_csv(place / "prices.csv", index=False)
    return place


@pytest.mark.parametrize("name", CASES)
def test_lineage_is_what_the_statement_says(name: str, session: Kept, folder: Path, tmp_path: Path) -> None:
    code, _, expected = CASES[name].partition("\n")
    s = pd.read_csv(folder / "sales.csv", parse_dates=["when"])
    p = pd.read_csv(folder / "prices.csv", parse_dates=["since"])
    frame = eval(code, {"pd": pd, "np": np, "s": s, "p": p})
    session.events.clear()
    frame.to_csv(tmp_path / "out.csv", index=False)
    (event,) = session.events
    assert describe(event, ", ") == expected.strip()
