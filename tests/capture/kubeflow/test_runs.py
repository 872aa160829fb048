"""What the local runner of a real kfp 2.17.3 left, recorded by `python -m nightly.kubeflow.record`, as events."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine

from capture.kubeflow.lines import events_of, lines_of, open_root
from fixtures.captured_lineage import dataset_edges, store_events
from nightly.kubeflow.runs import FOLDER, write_files
from whence.capture.kubeflow.pipelines import read_pipeline
from whence.capture.kubeflow.records import Output, RunRecord
from whence.capture.kubeflow.runs import list_runs
from whence.capture.kubeflow.source import capture
from whence.errors import ArtifactError
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "kfp-2.17.3.json").read_text("utf-8"))
SECRET = "hush-4711"
Json = dict[str, Any]
Edit = Callable[[Json], None]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The zone of the machine where the runs were recorded: their folders have its time."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop ü")
    write_files(folder, RECORDED)
    return folder


@pytest.fixture
def shop(recorded: Path, tmp_path: Path) -> Path:
    """The recorded files, which a test may change."""
    return Path(shutil.copytree(recorded, tmp_path / "shop"))


def test_the_events_are_those_that_were_checked_by_hand(recorded: Path) -> None:
    assert list(lines_of(recorded, FOLDER)) == (HERE / "events.txt").read_text("utf-8").splitlines()


def test_events_are_valid_and_have_no_secret(recorded: Path) -> None:
    assert SECRET in json.dumps(RECORDED), "the fixture has secrets, or this test proves nothing"
    for root in ("prod", "staging", "dev ü"):
        for one in events_of(open_root(recorded, root)):
            require_valid(one)
            assert SECRET not in encode_event(one).decode()
            assert accept(encode_event(one)).warnings == ()


def test_the_path_from_a_file_to_a_report_outlives_later_runs(recorded: Path, sqlite_store: Engine) -> None:
    events = events_of(open_root(recorded, "prod"))
    runs = [one.path.name for one in list_runs(recorded / "runs/prod")]
    once = store_events(sqlite_store, events)
    found = dataset_edges(once)
    assert "shop/customers ü;.csv -> join/joined" in found
    for run in runs:
        declared = [one["dataset"]["name"] for one in events if "dataset" in one]
        assert f"{FOLDER}/runs/prod/{run}/gather/report" in declared
    twice = [*events, *events]
    random.Random(19).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_a_task_is_a_child_of_its_run(recorded: Path) -> None:
    events = [one for one in events_of(open_root(recorded, "prod")) if "run" in one]
    pipelines = {one["run"]["runId"] for one in events if one["job"]["name"] == "shop-churn"}
    tasks = [one for one in events if one["job"]["name"].startswith("shop-churn.")]
    assert {one["run"]["facets"]["parent"]["run"]["runId"] for one in tasks} == pipelines
    ids = [one["run"]["runId"] for one in tasks]
    assert len(ids) == len(set(ids))
    (trained,) = {
        one["job"]["facets"]["whence_kubeflowComponent"]["image"] for one in tasks if "train" in one["job"]["name"]
    }
    assert trained == "python:3.11"


def test_only_runs_that_changed_are_read_again(shop: Path) -> None:
    source = open_root(shop, "prod")
    *_, (_, cursor) = source.records(None, Window())
    assert list(source.records(cursor, Window())) == []
    first, second, _ = list_runs(shop / "runs/prod")
    (second.path / "clean/executor_output.json").touch()
    (again,) = (one for one, _ in source.records(cursor, Window()))
    assert isinstance(again, RunRecord)
    assert again.run == second.path.name
    shutil.rmtree(first.path)
    *_, (_, pruned) = source.records(None, Window())
    assert first.path.name not in pruned


def test_runs_of_a_window_began_in_it(recorded: Path) -> None:
    _, second, third = list_runs(recorded / "runs/prod")
    window = Window(since=second.started, until=third.started)
    found = [one.run for one, _ in open_root(recorded, "prod").records(None, window) if isinstance(one, RunRecord)]
    assert found == [second.path.name]


def test_a_run_that_is_not_complete_goes_on_until_it_is_quiet(shop: Path) -> None:
    *_, failed = list_runs(shop / "runs/prod")
    now = failed.changed + timedelta(minutes=5)
    source = capture.configure({"root": str(shop / "runs/prod"), "pipelines": str(shop / "pipelines")})
    soon = type(source)(root=source.root, pipelines=source.pipelines, clock=lambda: now)
    later = type(source)(root=source.root, pipelines=source.pipelines, clock=lambda: now + timedelta(hours=1))
    *_, (record, cursor) = soon.records(None, Window())
    states = [(one["eventType"], one["job"]["name"]) for one in soon.translate(record, Naming("shop")) if "run" in one]
    assert ("RUNNING", "shop-churn") in states
    assert not any(name == "shop-churn.publish" for _, name in states)
    assert list(soon.records(cursor, Window())) == []
    ((again, done),) = later.records(cursor, Window())
    assert isinstance(again, RunRecord)
    assert (again.run, again.state) == (failed.path.name, "FAIL")
    assert list(later.records(done, Window())) == []


def read_last(shop: Path, root: str = "prod") -> RunRecord:
    *_, (record, _) = open_root(shop, root).records(None, Window())
    assert isinstance(record, RunRecord)
    return record


def test_a_task_that_left_nothing_has_failed_if_it_had_to_run(shop: Path) -> None:
    *_, last = list_runs(shop / "runs/prod")
    shutil.rmtree(last.path / "publish")
    shutil.rmtree(last.path / "check")
    assert (read_last(shop).state, read_last(shop).failure) == ("FAIL", "nothing of check, publish, publish-2")


def test_a_task_of_a_branch_that_left_nothing_is_not_known(shop: Path) -> None:
    *_, last = list_runs(shop / "runs/prod")
    shutil.rmtree(last.path / "publish")
    record = read_last(shop)
    assert record.state == "OTHER"
    assert record.gaps["state"].startswith("nothing of publish, publish-2: whether it failed")


def test_a_task_that_left_nothing_in_one_iteration_is_not_known(shop: Path) -> None:
    edit_pipeline(shop, add_a_note)
    *_, run = list_runs(shop / "runs/dev ü")
    iterations = [one.parent for one in run.path.rglob("copy") if one.parent != run.path]
    for number, one in enumerate(iterations):
        assert number == 0 or read_last(shop, "dev ü").gaps["state"].startswith("nothing of note: ")
        (one / "note").mkdir()
        (one / "note/executor_output.json").write_text("{}")
    assert (len(iterations), read_last(shop, "dev ü").state) == (4, "COMPLETE")


def add_a_note(document: Json) -> None:
    """A task without outputs in the inner loop."""
    document["components"]["comp-note"] = {"executorLabel": "exec-copy"}
    document["components"]["comp-for-loop-3"]["dag"]["tasks"]["note"] = {"componentRef": {"name": "comp-note"}}


def test_a_run_of_an_unknown_version_has_outputs_only(shop: Path) -> None:
    (shop / "pipelines/shop-2.yaml").unlink()
    record = read_last(shop)
    assert (record.pipeline, record.state, record.executions) == (None, "OTHER", ())
    assert "no compiled pipeline" in record.gaps["pipeline"]


def test_earlier_outputs_that_may_be_of_several_runs_are_announced(shop: Path) -> None:
    assert read_last(shop, "staging").gaps.keys() == {"pipeline", "state"}
    cache = shop / "runs/staging/.kfp_cache"
    (kept,) = (one for one in cache.iterdir() if '"joined"' in one.read_text("utf-8"))
    moved = kept.read_text("utf-8").replace("-2026-", "-2025-")
    (cache / f"{'0' * 64}.json").write_text(moved, "utf-8")
    os.utime(cache / f"{'0' * 64}.json", (0, 0))
    lines = list(lines_of(shop, FOLDER))
    assert "  not known: join: its outputs were taken from an earlier run; from which one is not known" in lines


OUTPUTS = {
    "no JSON": "{",
    "no object": "[]",
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("what", OUTPUTS)
def test_outputs_that_cannot_be_read_are_announced(shop: Path, what: str) -> None:
    first, *_ = list_runs(shop / "runs/prod")
    (first.path / "train/executor_output.json").write_text(OUTPUTS[what])
    assert "  not known: executor_output.json cannot be read" in list(lines_of(shop, FOLDER))


def edit_pipeline(shop: Path, edit: Edit) -> Path:
    path = shop / "pipelines/parts.yaml"
    document = yaml.safe_load(path.read_text("utf-8"))
    edit(document)
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


def call_itself(document: Json) -> None:
    document["components"]["comp-halve"]["dag"]["tasks"]["more"] = {"componentRef": {"name": "comp-halve"}}


def call_often(document: Json) -> None:
    tasks = {f"split-{number}": {"componentRef": {"name": "comp-split"}} for number in range(10_001)}
    document["components"]["comp-halve"]["dag"]["tasks"] = tasks


def end_early(document: Json) -> None:
    document["root"] = {}


def lose_the_name(document: Json) -> None:
    document["pipelineInfo"] = ["parts"]


BROKEN: dict[str, Edit] = {
    "nested more than 50 deep": call_itself,
    "more than 10,000 tasks": call_often,
    "no compiled pipeline": end_early,
    "is no compiled pipeline": lose_the_name,
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_file_that_is_no_pipeline_is_announced_once(shop: Path, reason: str) -> None:
    path = edit_pipeline(shop, BROKEN[reason])
    with pytest.raises(ArtifactError, match=reason):
        read_pipeline(path)
    source = open_root(shop, "prod")
    (first, cursor), *_ = source.records(None, Window())
    (event,) = source.translate(first, Naming("shop", source.instance))
    assert event["job"]["name"] == f"kubeflow.{source.instance}"
    assert reason in event["run"]["facets"]["extractionError"]["errors"][0]["errorMessage"]
    later = [one for one, _ in source.records(cursor, Window())]
    assert [type(one) for one in later] == [RunRecord] * 3


@pytest.mark.parametrize("text", ["a: [", "- 1", "", "\x00", "a: &a [*a, *a]"])
def test_without_any_pipeline_nothing_is_read(shop: Path, text: str) -> None:
    for one in (shop / "pipelines").iterdir():
        one.write_text(text)
    with pytest.raises(ArtifactError, match=r"YAML|compiled"):
        list(open_root(shop, "prod").records(None, Window()))


def test_a_pipeline_with_what_a_cluster_adds_is_read(shop: Path) -> None:
    """The compiler writes a second document for options of Kubernetes."""
    path = shop / "pipelines/shop-1.yaml"
    before = read_pipeline(path).tasks
    path.write_text(f"{path.read_text('utf-8')}\n---\nplatforms:\n  kubernetes: {{}}\n", "utf-8")
    assert read_pipeline(path).tasks == before


def test_a_value_of_the_loop_or_a_text_with_one_is_no_constant(recorded: Path) -> None:
    tasks = read_pipeline(recorded / "pipelines/parts.yaml").tasks
    copy = next(one for one in tasks.values() if one.job == "copy")
    assert copy.parameters["place"] is None
    assert copy.inputs["part"] == (Output("parts-of.for-loop-2.split", "part", "for-loop-1"),)
    assert [one.job for one in tasks.values()] == [
        "copy-2",
        "copy-3",
        "copy",
        "halve-2.split",
        "halve.split",
        "parts-of.split",
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "no root is given"),
        ({"root": "x"}, "no pipelines is given"),
        ({"root": "x", "pipelines": "y", "quiet": "soon"}, "quiet=soon is no number"),
    ],
)
def test_options_that_are_missing_or_wrong_are_named(options: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        capture.configure(options)


def test_folders_that_are_not_there_are_named(tmp_path: Path) -> None:
    found = capture.configure({"root": str(tmp_path / "runs"), "pipelines": str(tmp_path)}).check()
    assert found.problems == (f"there is no {tmp_path / 'runs'}",)
    assert capture.check().is_usable


def test_the_times_are_those_of_the_files(recorded: Path) -> None:
    run, *_ = list_runs(recorded / "runs/prod")
    event = next(one for one in events_of(open_root(recorded, "prod")) if one["job"]["name"] == "shop-churn.clean")
    written = (run.path / "clean/executor_output.json").stat().st_mtime
    assert datetime.fromisoformat(event["eventTime"]) == datetime.fromtimestamp(written, UTC)
