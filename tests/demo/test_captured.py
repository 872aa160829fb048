"""What the capture and the pipeline really send is what the code does: no edge lost, none invented."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.expected import STEPS, Derivation, Variant
from demo.recorder import recording

Event = dict[str, Any]
Edge = tuple[str, str, str]
"""Source column, type, target: a column, or a whole dataset."""

VARIANTS: tuple[Variant, ...] = ("first", "altered")
STAGES = ("churn_ingest", "churn_clean", "churn_features", "churn_train", "churn_score")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("churn").resolve()


@pytest.fixture(scope="module")
def captured(data: Path) -> dict[Variant, list[Event]]:
    """All events of the pipeline, which runs twice in one process, by variant."""
    command = [sys.executable, "-m", "whence.demo.pipeline", "--data", str(data), "--run", *VARIANTS]
    with recording() as recorder:
        done = subprocess.run(
            [*command, "--url", recorder.url, "--api-key", "secret"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    assert recorder.paths <= {"/api/v1/lineage", "/api/v1/lineage/batch"}
    assert recorder.authorizations == {"Bearer secret"}
    of_pipeline = [event for event in recorder.events if "job" in event and event["job"]["namespace"] == "demo"]
    roots = list(dict.fromkeys(event["run"]["runId"] for event in of_pipeline if _job(event) == "churn_pipeline"))
    by_root = {root: [event for event in of_pipeline if _root(event) == root] for root in roots}
    assert sum(map(len, by_root.values())) == len(of_pipeline)
    return dict(zip(VARIANTS, by_root.values(), strict=True))


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> Variant:
    """Each variant of the pipeline in turn."""
    variant: Variant = request.param
    return variant


@pytest.fixture
def events(captured: dict[Variant, list[Event]], variant: Variant) -> list[Event]:
    """The events of one run of the pipeline."""
    return captured[variant]


def test_the_column_lineage_is_that_of_the_code(events: list[Event], variant: Variant, data: Path) -> None:
    found = {edge for event in events for edge in _edges(event, data)}
    assert found == _wanted(variant)


def test_every_run_ends_and_belongs_to_the_pipeline(events: list[Event]) -> None:
    states = {run: {e["eventType"] for e in events if e["run"]["runId"] == run} for run in _runs(events)}
    assert all({"START", "COMPLETE"} <= seen for seen in states.values())
    parents = {_job(event): event["run"]["facets"].get("parent") for event in events}
    assert parents.pop("churn_pipeline") is None
    assert {name: parents[name]["job"]["name"] for name in STAGES} == dict.fromkeys(STAGES, "churn_pipeline")
    assert {parent["root"]["job"]["name"] for parent in parents.values()} == {"churn_pipeline"}


def test_each_stage_is_one_application(events: list[Event]) -> None:
    runs = Counter(job for job, _ in {(_job(event), event["run"]["runId"]) for event in events})
    assert {stage: runs[stage] for stage in STAGES} == dict.fromkeys(STAGES, 1)


def test_nothing_is_declared_that_can_be_captured(events: list[Event]) -> None:
    assert not [event for event in events if "lineage" in event["job"]["facets"]]


def test_training_reads_features_and_writes_a_model(events: list[Event], data: Path) -> None:
    (training,) = (e for e in events if _job(e) == "churn_train.models.churn" and e["eventType"] == "COMPLETE")
    assert [_short(dataset["name"], data) for dataset in training["inputs"]] == ["gold/features"]
    (model,) = training["outputs"]
    assert _short(model["name"], data) == "models/churn"
    assert model["facets"]["datasetType"]["datasetType"] == "MODEL"


def test_scoring_reads_features_and_the_model(events: list[Event], data: Path) -> None:
    (scoring,) = (e for e in events if _job(e) == "churn_score.gold.predictions" and e["eventType"] == "COMPLETE")
    assert [_short(dataset["name"], data) for dataset in scoring["inputs"]] == ["gold/features", "models/churn"]


def _job(event: Event) -> str:
    name: str = event["job"]["name"]
    return name


def _root(event: Event) -> str:
    parent = event["run"]["facets"].get("parent", {"root": event})
    root: str = parent["root"]["run"]["runId"]
    return root


def _wanted(variant: Variant) -> set[Edge]:
    return {edge for dataset, step in STEPS[variant].items() for edge in _written(dataset, step)}


def _runs(events: list[Event]) -> set[str]:
    return {event["run"]["runId"] for event in events}


def _written(dataset: str, step: Derivation) -> Iterator[Edge]:
    for kind, columns in (("DIRECT", step.direct), ("INDIRECT", step.indirect)):
        yield from ((source, kind, f"{dataset}.{column}") for column, sources in columns.items() for source in sources)
    yield from ((source, "INDIRECT", dataset) for source in step.whole)


def _edges(event: Event, data: Path) -> Iterator[Edge]:
    for output in event["outputs"]:
        target = _short(output["name"], data)
        facet = output.get("facets", {}).get("columnLineage", {"fields": {}})
        yield from _pairs(facet.get("dataset", ()), target, data)
        for column, entry in facet["fields"].items():
            yield from _pairs(entry["inputFields"], f"{target}.{column}", data)


def _pairs(sources: Iterable[Event], target: str, data: Path) -> Iterator[Edge]:
    for source in sources:
        name = f"{_short(source['name'], data)}.{source['field']}"
        yield from ((name, transformation["type"], target) for transformation in source["transformations"])


def _short(name: str, data: Path) -> str:
    return Path(name).relative_to(data).as_posix()
