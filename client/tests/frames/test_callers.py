"""What depends on its caller acts as without captures: variables found by name, and the line that a warning names."""

import inspect
import pickle
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import duckdb
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from client.tests.frames.sessions import capturing
from sklearn.neural_network import MLPRegressor

from whence_client.duckdb.hooks import DuckdbCapture
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture
from whence_client.sklearn.hooks import SklearnCapture

LEAST = 2
"""Expressions name it."""
FEW = pl.DataFrame({"x": [1, 2, 3]})


def both_ways(run: Callable[[], Any]) -> tuple[Any, Any]:
    """What a program gives without captures, and with all of them."""
    plain = run()
    with capturing(PandasCapture(), PolarsCapture(), DuckdbCapture(), SklearnCapture()):
        return plain, run()


def frame() -> pd.DataFrame:
    return pd.DataFrame({"x": [1, 2, 3], "y": [3.0, 2.0, None]})


def query_locals() -> Any:
    most = 3  # noqa: F841
    kept = frame().query("@LEAST <= x <= @most")
    kept.query("x < @most", inplace=True)
    return kept["x"].tolist()


def query_in_a_function_of_assign() -> Any:
    return frame().assign(z=lambda f, factor=2: f.eval("x * @factor")).query("z > @LEAST")["x"].tolist()


def query_at_a_level() -> Any:
    least = 1

    def deeper() -> Any:
        least = 2
        return (
            frame().query("x > @least", level=0)["x"].tolist(),
            frame().query("x > @least", level=1)["x"].tolist(),
            least,
        )

    return deeper(), least


def eval_of_the_module() -> Any:
    mine = frame()  # noqa: F841
    return pd.eval("mine.x + LEAST").tolist()


def names_that_are_not_there() -> Any:
    with pytest.raises(pd.errors.UndefinedVariableError) as found:
        frame().query("x > @absent")
    return str(found.value)


def scan_frames() -> Any:
    local = frame()
    inner = duckdb.execute("select sum(x) from local").fetchall()
    return inner, duckdb.execute("select sum(x) from FEW").fetchall(), local.shape


def read_sql_of_polars() -> Any:
    local = FEW.filter(pl.col("x") > 1)  # noqa: F841
    context = pl.SQLContext(register_globals=True, eager=True)
    return pl.sql("select sum(x) from local", eager=True).rows(), context.execute("select sum(x) from local").rows()


VARIABLES = (
    *(query_locals, query_in_a_function_of_assign, query_at_a_level, eval_of_the_module, names_that_are_not_there),
    *(scan_frames, read_sql_of_polars),
)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 3.1
@pytest.mark.parametrize("run", VARIABLES)
def test_variables_are_found_as_without_captures(run: Callable[[], Any]) -> None:
    plain, captured = both_ways(run)
    assert plain == captured


def write_to_a_part() -> None:
    whole = frame()
    part = whole[whole["x"] > 1]
    part["z"] = 1


def apply_to_groups() -> None:
    frame().groupby("x").apply(lambda group: group)


def fill_by_an_old_name() -> None:
    frame()["y"].fillna(method="ffill")


def drop_in_place() -> None:
    frame().drop(columns="y", inplace=True)


def read_odd_dates() -> None:
    pd.to_datetime(pd.Series(["a b", "3 4"]), errors="coerce")


def read_with_an_old_option() -> None:
    pd.DataFrame({"x": pd.Series(["1"])}).applymap(int)


def join_unordered() -> None:
    table = pl.DataFrame({"k": [1, 1], "t": [1, 2]})
    table.join_asof(table, on="t", by="k")


def divide_by_nothing() -> None:
    np.select([np.array([True])], [1 / np.array([0.0])])


def end_too_early() -> None:
    MLPRegressor(max_iter=1, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])


BEFORE_PANDAS_3 = (apply_to_groups, write_to_a_part, fill_by_an_old_name, read_with_an_old_option)
OF_PANDAS = BEFORE_PANDAS_3 if pd.__version__ < "3" else (drop_in_place,)
WARNING = (*OF_PANDAS, read_odd_dates, join_unordered, divide_by_nothing, end_too_early)


@pytest.mark.parametrize("run", WARNING)
def test_warnings_name_the_line_of_the_job(run: Callable[[], None]) -> None:
    def lines() -> list[tuple[str, int]]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            run()
        return [(one.filename, one.lineno) for one in found]

    plain, captured = both_ways(lines)
    assert plain == captured != []


def test_warnings_at_a_fixed_level_name_the_line_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """As pandas 3.1 warns of `inplace`."""
    source = "def rename(self, *args):\n    warnings.warn('old', FutureWarning, stacklevel=2)\n    return self\n"
    names: dict[str, Any] = {"warnings": warnings, "__name__": "pandas.core.frame"}
    exec(compile(source, inspect.getfile(pd.DataFrame), "exec"), names)
    monkeypatch.setattr(pd.DataFrame, "rename", names["rename"])

    def lines() -> list[tuple[str, int]]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            frame().rename({"x": "z"})
        return [(one.filename, one.lineno) for one in found]

    plain, captured = both_ways(lines)
    assert plain == captured != []


def test_filters_by_module_hold() -> None:
    def failing() -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", module=__name__)
            try:
                read_odd_dates()
            except UserWarning:
                return True
        return False

    assert both_ways(failing) == (True, True)


def test_functions_are_pickled_by_their_names() -> None:
    """A process that unpickles them may have no captures."""

    def pickled() -> list[bytes]:
        functions = (pd.read_csv, pd.concat, np.where, pl.read_csv, pl.scan_parquet, duckdb.sql, joblib.dump)
        texts = [pickle.dumps(one) for one in (*functions, pd.DataFrame.merge)]
        assert [pickle.loads(one) for one in texts] == [*functions, pd.DataFrame.merge]
        return texts

    plain, captured = both_ways(pickled)
    assert [pickle.loads(one) for one in captured] == [pickle.loads(one) for one in plain]


def test_signatures_and_defaults_are_those_of_the_libraries() -> None:
    def read() -> Any:
        several: tuple[Any, ...] = (pd.read_csv, pd.merge, pl.concat, pl.read_csv)
        return [(inspect.getfullargspec(one), one.__defaults__, one.__kwdefaults__) for one in several]

    plain, captured = both_ways(read)
    assert captured == plain


class Arrays:
    """What other libraries do: they answer for the functions of numpy that they found when they were imported."""

    known: ClassVar[dict[Any, str]] = {}

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        return self.known.get(function, NotImplemented)


def test_functions_of_numpy_stay_of_their_class_for_arrays_of_other_libraries() -> None:
    before = np.where
    with capturing(PandasCapture()):
        assert (type(np.where), np.where is before) == (type(before), False)
        for registered in (before, np.where):
            Arrays.known = {registered: "answer"}
            assert np.where(Arrays(), 1, 2) == "answer"  # type: ignore[call-overload]
        Arrays.known = {}
        with pytest.raises(TypeError, match="no implementation found"):
            np.where(Arrays(), 1, 2)  # type: ignore[call-overload]


def test_numba_finds_the_functions_of_numpy_that_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba compiles the functions that were there when it was imported."""
    monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    before = np.where
    with capturing(PandasCapture()):
        assert np.where is before
