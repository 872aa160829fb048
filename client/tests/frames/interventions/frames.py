"""Trials of pandas and polars, both captured: frames pass from one to the other."""

import warnings
from pathlib import Path

from client.tests.frames.interventions.trials import Engine, Pipeline, Trial, run_trial
from client.tests.frames.sessions import Kept

from whence_client.captures.contract import Undo
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture


def run_trials(engine: Engine, seeds: range, folder: Path) -> list[Trial]:
    """The trials of the seeds whose steps fit together. No hook may fail."""
    session = Kept()

    def install() -> Undo:
        of_pandas, of_polars = PandasCapture().install(session), PolarsCapture().install(session)

        def undo() -> None:
            of_polars()
            of_pandas()

        return undo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pipelines' own
        drawn = [run_trial(Pipeline(engine, seed, folder), install, session.events) for seed in seeds]
    failed = {name: session.guard(name).counts for name in ("pandas", "polars")}
    assert failed == {"pandas": {}, "polars": {}}, failed
    return [one for one in drawn if one is not None]
