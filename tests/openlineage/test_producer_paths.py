"""The files that Airflow's provider names are those that all other producers name (state.md, *Paths of Airflow*)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.naming import with_meant_paths
from whence.model.events import JobEvent, RunEvent
from whence.model.names import DatasetName
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import FULL
from whence.openlineage.checked_parts import check_split
from whence.openlineage.json.split_event import split_event
from whence.openlineage.names.producer_paths import AIRFLOW, correct_path
from whence.openlineage.read import read_event

AIRFLOW_2_20 = f"{AIRFLOW}2.20.3"
SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
DECODED = (
    ("file", "/prod%20lake/x.csv", "/prod lake/x.csv"),
    ("file", "/K%C3%A4ufe/ä%20.csv", "/Käufe/ä .csv"),
    ("file", "/lake/a%2520b.csv", "/lake/a%20b.csv"),
    ("file://nas", "/lake%2Fx", "/lake/x"),
    ("file", "/lake//%20/", "/lake/ "),
    ("file", "data/x%20.csv", "/data/x%20.csv"),
    ("file://", "data/x.csv", "/data/x.csv"),
)
KEPT = (
    ("file", "/prod lake/x%20.csv"),
    ("file", "/50%.csv"),
    ("file", "/50%_of%20all.csv"),
    ("file", "/%FF.csv"),
    ("file", "/%00.csv"),
    ("file", "/{day}/%20.csv"),
    ("s3://lake", "a%20b.csv"),
    ("gs://lake", "a%20b.csv"),
    ("files", "/a%20b.csv"),
    ("postgres://db:5432", "shop.public.a%20b"),
)


def event(producer: str, namespace: str, name: str, *, has_run: bool = True) -> dict[str, Any]:
    one = {"namespace": namespace, "name": name}
    run = {"run": {"runId": "01941f29-7c00-7abc-8def-000000000001"}, "eventType": "COMPLETE"} if has_run else {}
    head = {"eventTime": "2026-11-20T06:00:00Z", "producer": producer, "schemaURL": "https://example.org/s"}
    return head | run | {"job": {"namespace": "airflow", "name": "dag.task"}, "inputs": [one], "outputs": [one]}


def names_of(sent: dict[str, Any]) -> set[DatasetName]:
    read = accept(json.dumps(sent).encode()).event
    assert isinstance(read, RunEvent | JobEvent)
    assert {one.raw for one in (*read.inputs, *read.outputs)} == {
        DatasetName(sent["inputs"][0]["namespace"], sent["inputs"][0]["name"])
    }
    return {one.name for one in (*read.inputs, *read.outputs)}


@pytest.mark.parametrize("has_run", [True, False])
@pytest.mark.parametrize(("namespace", "name", "path"), DECODED)
def test_airflow_means_the_path_of_the_file(namespace: str, name: str, path: str, has_run: bool) -> None:
    expected = {DatasetName(namespace.removesuffix("://"), path)}
    assert names_of(event(AIRFLOW_2_20, namespace, name, has_run=has_run)) == expected
    assert names_of(event(SPARK, namespace, path, has_run=has_run)) == expected


@pytest.mark.parametrize(("namespace", "name"), KEPT)
def test_a_name_that_no_uri_gave_stays(namespace: str, name: str) -> None:
    assert names_of(event(AIRFLOW_2_20, namespace, name)) == {DatasetName(namespace, name)}


@pytest.mark.parametrize(("namespace", "name", "_"), DECODED)
def test_other_producers_are_taken_at_their_word(namespace: str, name: str, _: str) -> None:
    for producer in (SPARK, "https://github.com/apache/airflow/tree/main", ""):
        assert correct_path(producer, namespace, name) == name


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1))
def test_every_file_is_reached_by_the_uri_that_python_gives_it(file: str) -> None:
    path = Path("/lake") / file
    assert correct_path(AIRFLOW_2_20, "file", path.as_uri().removeprefix("file://")) == str(path)


@given(st.sampled_from(["file", "file://", "file://nas", "s3://b"]), st.text("/aä%20FfEe3 {\x7f\0", min_size=1))
def test_the_oracle_means_the_same(namespace: str, name: str) -> None:
    meant = with_meant_paths(event(AIRFLOW_2_20, namespace, name))
    assert correct_path(AIRFLOW_2_20, namespace, name) == meant["inputs"][0]["name"]


def test_an_event_with_such_a_path_is_read_whole_and_any_other_in_parts() -> None:
    for name, in_parts in (("/a%20b.csv", False), ("/a b.csv", True)):
        body = json.dumps(event(AIRFLOW_2_20, "file", name)).encode()
        split = split_event(body)
        assert split
        assert (check_split(split, FULL) is not None) is in_parts
        assert accept(body).event == read_event(body)
