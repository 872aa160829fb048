"""The runs upstream of a run, for Marquez clients: the same runs as those of `/api/v2/runs/{run}/lineage`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from api.process import Api, Serving
from marquez.conftest import prepare
from marquez.shop import DAY, HOUR, RUNS
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event

TABLE = DatasetName("hive://prod:9083", "db.orders")
PATH = DatasetName("s3://lake", "wh/orders")
RAW = DatasetName("s3://staging.lake", "raw/orders '%")
EARLY, BROKEN, LATE, READER = (f"0190b3a1-0000-7000-8000-00000000010{number}" for number in range(4))


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a job from one hour to another."""

    run: str
    job: str
    hours: tuple[float, float]
    state: RunState
    reads: DatasetName
    writes: DatasetName | None

    def bodies(self) -> Iterator[bytes]:
        run = RunName(self.run, JobName("prod", self.job))
        touched: dict[str, Any] = {
            "inputs": [self._dataset(self.reads)],
            "outputs": [self._dataset(self.writes)] if self.writes else [],
        }
        for hour, state in zip(self.hours, (RunState.START, self.state), strict=True):
            yield json.dumps(run_event(DAY + int(hour * HOUR), state, run, **touched)).encode()

    def _dataset(self, name: DatasetName) -> dict[str, Any]:
        if name != TABLE:
            return dataset(name)
        other = {"namespace": PATH.namespace, "name": PATH.name, "type": "LOCATION"}
        return dataset(name, facets={"symlinks": facet("SymlinksDatasetFacet", identifiers=[other])})


STORY = (
    Part(EARLY, "load", (0, 1), RunState.COMPLETE, RAW, PATH),
    Part(BROKEN, "load", (1.1, 1.5), RunState.FAIL, RAW, PATH),
    Part(LATE, "load", (1.9, 3), RunState.COMPLETE, RAW, PATH),
    Part(READER, "sum", (2, 4), RunState.COMPLETE, TABLE, None),
)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A reader that began while the next run wrote its table, which the writers call by its path."""
    base = tmp_path_factory.mktemp("story")
    prepare(base, [body for part in STORY for body in part.bodies()])
    serving = Serving(base)
    yield serving()
    serving.end()


def upstream(api: Api, run: str, depth: int = 20) -> Any:
    return api.ask("GET", f"/api/v1/runlineage/upstream?runId={run}&depth={depth}").json


def test_a_run_read_what_was_complete_when_it_began(story: Api) -> None:
    found = upstream(story, READER)
    assert [one["run"]["id"] for one in found["runs"]] == [READER, EARLY]
    [of_reader], [of_writer] = (one["inputs"] for one in found["runs"])
    assert (of_reader["namespace"], of_reader["name"]) in ((TABLE.namespace, TABLE.name), (PATH.namespace, PATH.name))
    assert of_reader["producedByRunId"] == EARLY
    assert (of_writer["name"], of_writer["producedByRunId"], of_writer["version"]) == (RAW.name, None, None)
    assert found["complete"]


@pytest.mark.parametrize("run", [part.run for part in STORY])
def test_it_is_the_answer_of_the_other_route(story: Api, run: str) -> None:
    other = story.ask("GET", f"/api/v2/runs/{run}/lineage?direction=upstream").json
    found = {
        (read["producedByRunId"], one["run"]["id"], read["name"])
        for one in upstream(story, run)["runs"]
        for read in one["inputs"]
        if read["producedByRunId"]
    }
    expected = {
        (one["writer"].removeprefix("run:"), one["reader"].removeprefix("run:"), one["dataset"].rpartition(":")[2])
        for one in other["data"]["handovers"]
    }
    assert found == expected


def test_at_depth_zero_are_the_writers_of_its_inputs(story: Api) -> None:
    found = upstream(story, READER, depth=0)
    assert [one["run"]["id"] for one in found["runs"]] == [READER]
    assert found["runs"][0]["inputs"][0]["producedByRunId"] == EARLY
    assert not found["complete"]


def test_an_unknown_run_is_not_found(story: Api) -> None:
    assert story.ask("GET", f"/api/v1/runlineage/upstream?runId={RUNS[0]}").status == 404
