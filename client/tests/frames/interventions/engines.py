"""The libraries that random pipelines are made of."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
from client.tests.frames.interventions import pandas_joins, pandas_steps, polars_steps
from client.tests.frames.interventions.draws import Unfit
from client.tests.frames.interventions.trials import Engine, Outputs

_ERRORS = (Unfit, KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)


def _show_pandas(frame: Any) -> Outputs:
    return {str(one): [repr(value) for value in frame.iloc[:, at]] for at, one in enumerate(frame.columns)}


def _write_pandas(frame: Any, path: Any) -> None:
    frame.to_csv(path, index=False)


def _show_polars(frame: Any) -> Outputs:
    made = frame.collect()
    return {one: [repr(value) for value in made[one].to_list()] for one in made.columns}


def _write_polars(frame: Any, path: Any) -> None:
    frame.collect().write_parquet(path)


def _read_pandas(path: Path) -> Any:
    return pd.read_parquet(path)  # looked up at each call: a capture replaces it


def _read_polars(path: Path) -> Any:
    return pl.scan_parquet(path)


PANDAS = Engine(
    (*pandas_steps.STEPS, *pandas_joins.STEPS), _read_pandas, _write_pandas, _show_pandas, (*_ERRORS, NameError)
)
POLARS = Engine(polars_steps.STEPS, _read_polars, _write_polars, _show_polars, (*_ERRORS, pl.exceptions.PolarsError))
