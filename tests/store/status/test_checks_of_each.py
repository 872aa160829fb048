"""The checks of many groups of datasets, read at once, are those of each group read alone."""

import json
import random
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import reading
from whence.store.status import data_quality
from whence.store.status.data_quality import read_checks, read_checks_of_each

HOUR = 3_600_000_000
DATASETS = [DatasetName("prod", name) for name in "abcdefgh"]


def runs(dice: random.Random) -> Iterator[bytes]:
    """Runs that read and write datasets; most of them check one."""
    for number in range(80):
        run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("spark", f"job{number % 5}"))
        ends = dice.sample(DATASETS, 3)
        checks = [{"assertion": dice.choice(["fresh", "unique"]), "success": dice.random() < 0.5}]
        found = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=checks)}
        reads = [dataset(one, inputFacets=found if dice.random() < 0.6 else {}) for one in ends[:2]]
        event = run_event(dice.randrange(40) * HOUR, RunState.COMPLETE, run, inputs=reads, outputs=[dataset(ends[2])])
        yield json.dumps(event).encode()


@pytest.mark.parametrize("most", [500, 7])
def test_pages_are_those_of_each_group(store: Engine, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(data_quality, "MOST_RUNS", most)
    monkeypatch.setattr(data_quality, "_GROUPS_PER_BATCH", 3)
    dice = random.Random(4)
    apply_bodies(store, list(runs(dice)))
    groups = [frozenset(map(node_id, dice.sample(DATASETS, dice.randrange(1, 4)))) for _ in range(10)]
    groups += [frozenset(), frozenset([12_345])]
    with reading(store) as connection:
        for at in (None, 20 * HOUR):
            found = read_checks_of_each(connection, groups, at)
            assert found == [read_checks(connection, group, at) for group in groups]
            assert any(one.found for one in found)
            assert any(one.stopped_by for one in found) is (most == 7)
