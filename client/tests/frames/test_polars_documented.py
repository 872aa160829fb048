"""Pipelines as the documentation of polars has them, over columns of hostile names: each exactly as it was written."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest
from client.tests.frames.sessions import Kept, capturing, describe, is_announced, read_cases

from whence_client.frames.polars.hooks import PolarsCapture

CASES = read_cases("polars_documented.txt")
FIRST = datetime.datetime(2026, 1, 1)


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PolarsCapture()) as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, written before the capture is on."""
    place, rows = tmp_path_factory.mktemp("staging lake ü"), range(1, 7)
    pl.DataFrame(
        {
            "id": rows,
            "net amount": [n * 1.5 for n in rows],
            'say "hi"': [n % 4 for n in rows],
            "größe": [n * 2.0 for n in rows],
            "x.y": [n % 3 for n in rows],
            "when": [FIRST + datetime.timedelta(days=9 * n) for n in rows],
            "tags": [["a"], ["b", "c"], ["a"], ["d"], ["a"], ["e"]],
            "place": [{"city": "Rome", "zip": str(n)} for n in rows],
            "grp": ["a", "b"] * 3,
        }
    ).write_parquet(place / "sales.parquet")
    since = [FIRST + datetime.timedelta(days=days) for days in (0, 20, 30)]
    prices = {"id": [1, 2, 3], "since": since, "rate": [5.0, 6.0, 7.0], "grp": ["a", "b", "a"]}
    pl.DataFrame(prices).write_parquet(place / "prices.parquet")
    return place


@pytest.mark.parametrize("name", CASES)
def test_lineage_is_what_the_statement_says(name: str, session: Kept, folder: Path, tmp_path: Path) -> None:
    code, _, expected = CASES[name].partition("\n")
    names = {
        "pl": pl,
        "c": pl.col,
        "cs": cs,
        "s": pl.scan_parquet(folder / "sales.parquet"),
        "p": pl.scan_parquet(folder / "prices.parquet"),
        "e": pl.read_parquet(folder / "sales.parquet"),
    }
    frame = eval(code, names)
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    session.events.clear()
    frame.write_parquet(tmp_path / "out.parquet")
    (event,) = session.events
    found = describe(event, ", ")
    assert found == expected.strip() or (pl.__version__ < "2" and is_announced(found, expected))
