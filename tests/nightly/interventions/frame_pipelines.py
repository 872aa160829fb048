"""A thousand random pipelines of pandas and of polars: which inputs move which outputs, against their lineage."""

import logging
from pathlib import Path

import pytest

from client.tests.frames.interventions.engines import PANDAS, POLARS
from client.tests.frames.interventions.frames import run_trials
from client.tests.frames.interventions.trials import Engine, summarize

log = logging.getLogger(__name__)


@pytest.mark.parametrize("engine", [PANDAS, POLARS], ids=["pandas", "polars"])
def test_every_influence_that_is_seen_is_in_the_lineage(engine: Engine, tmp_path: Path) -> None:
    trials = run_trials(engine, range(1000), tmp_path)
    log.info("%s", summarize(trials))
    assert [one for one in trials if one.missed] == []
    assert len(trials) > 700
