"""Interventions: change an input column, run again, see which outputs move. Each influence seen must be in the lineage.

An output column moves if any of its values, or its number of rows, differs. What was announced as not known is excused.
Pipelines are drawn at random from operations that compose, so the oracle is the library itself. These are a few;
`make nightly-interventions` runs more.
"""

from pathlib import Path

import pytest
from client.tests.frames.interventions.engines import PANDAS, POLARS
from client.tests.frames.interventions.frames import run_trials
from client.tests.frames.interventions.trials import Engine


@pytest.mark.parametrize(
    ("engine", "seeds"), [(PANDAS, range(0, 170, 7)), (POLARS, range(0, 160, 4))], ids=["pandas", "polars"]
)
def test_every_influence_that_is_seen_is_in_the_lineage(engine: Engine, seeds: range, tmp_path: Path) -> None:
    trials = run_trials(engine, seeds, tmp_path)
    assert [one for one in trials if one.missed] == []
    assert len(trials) > len(seeds) * 0.6
    assert sum(one.seen for one in trials) > len(seeds) * 5
    assert sum(one.announced for one in trials) < sum(one.seen for one in trials) * 0.5
