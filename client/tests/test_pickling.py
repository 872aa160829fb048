"""Functions of libraries that captures replace can be pickled, as a pool of processes, joblib and Spark do."""

import concurrent.futures
import importlib
import multiprocessing
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from client.tests.frames.sessions import Kept

from whence_client.captures.registry import registered_captures

_ARROW = ("csv", "dataset", "feather", "json", "orc", "pandas_compat", "parquet")
LIBRARIES = ("pandas", "polars", "duckdb", "sklearn.base", "numpy", "joblib", *(f"pyarrow.{one}" for one in _ARROW))


@pytest.fixture(scope="module", autouse=True)
def captured() -> Iterator[None]:
    for name in LIBRARIES:
        importlib.import_module(name)
    undone = [
        one.capture.install(Kept())
        for one in registered_captures()
        if one.entry.partition(".")[0] in ("pandas", "polars", "pyarrow", "duckdb", "sklearn")
    ]
    yield
    for undo in reversed(undone):
        undo()


def replaced() -> dict[str, FunctionType]:
    """The functions of modules that are wrappers of ours, by their place."""
    found = {}
    for module in [one for one in list(sys.modules.values()) if isinstance(one, ModuleType)]:
        if module.__name__.partition(".")[0] in {one.partition(".")[0] for one in LIBRARIES}:
            for name, value in list(vars(module).items()):
                if isinstance(value, FunctionType) and value.__code__.co_filename.find("whence_client") >= 0:
                    found[f"{module.__name__}.{name}"] = value
    return found


def test_every_function_that_is_replaced_is_pickled_by_its_place() -> None:
    found = replaced()
    assert {
        "pandas.read_csv",
        "pandas.concat",
        "polars.read_csv",
        "duckdb.sql",
        "pyarrow.parquet.read_table",
    } <= found.keys()
    assert [place for place, function in found.items() if pickle.loads(pickle.dumps(function)) is not function] == []


def test_a_pool_of_new_processes_reads_files(tmp_path: Path) -> None:
    import pandas as pd

    paths = [tmp_path / f"{one}.csv" for one in "ab"]
    for path in paths:
        path.write_text("x\n1\n")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert [list(one["x"]) for one in pool.map(pd.read_csv, paths)] == [[1], [1]]
