"""What Whence writes is valid, and reads back as it was meant."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client import facet_v2
from openlineage.client.generated import lineage

from whence.model.events import JobEvent, RunEvent, RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.accept import accept
from whence.openlineage.json.times import iso, parse_micros
from whence.openlineage.validation.schemas import FACETS
from whence.openlineage.write import (
    SCHEMAS,
    column_lineage,
    dataset,
    dataset_event,
    deleted_facet,
    facet,
    job_event,
    job_lineage,
    own_facet,
    parent_facet,
    run_event,
)

RUN = RunName("01941f29-7c00-7abc-8def-000000000001", JobName("n", "j"))
TOP = RunName("01941f29-7c00-7abc-8def-000000000002", JobName("n", "top"))
OUTPUT = DatasetName("n", "o")

texts = st.sampled_from(["", "x", 'sum("é")'])
datasets = st.sampled_from([DatasetName("n", "a"), DatasetName("s3://b", "x y:%"), OUTPUT])
jobs = st.sampled_from([JobName("n", "j"), JobName("m", "other")])
fields = st.builds(FieldName, datasets, st.sampled_from(["k", "a.b"]))
kinds = st.sampled_from(["DIRECT", "INDIRECT", "UNKNOWN"])


def edges(source: st.SearchStrategy[Any], target: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Edge]]:
    one = st.builds(
        Edge,
        source=source,
        target=target,
        type=kinds,
        subtype=st.just("") | st.just("JOIN"),
        masking=st.booleans(),
        description=texts,
    )
    return st.lists(one, max_size=6)


def accepted(event: dict[str, Any]) -> Any:
    result = accept(json.dumps(event).encode(), strict=True)
    assert result.warnings == ()
    return result.event


@given(edges(fields, st.sampled_from([OUTPUT, FieldName(OUTPUT, "x"), FieldName(OUTPUT, "y")])))
def test_column_lineage_reads_back(reported: list[Edge]) -> None:
    keep_apart = Edge(source=FieldName(OUTPUT, "k"), target=OUTPUT, type="DIRECT")  # no copies are looked for
    written = dataset(OUTPUT, facets={"columnLineage": column_lineage([*reported, keep_apart])})
    event = accepted(run_event(0, RunState.COMPLETE, RUN, outputs=[written]))
    assert isinstance(event, RunEvent)
    assert set(event.outputs[0].edges) == {_as_influence(edge) for edge in (*reported, keep_apart)}


def _as_influence(edge: Edge) -> Edge:
    """No value flows into a whole output."""
    return replace(edge, type="INDIRECT") if edge.target == OUTPUT and edge.type == "DIRECT" else edge


@given(edges(st.one_of(datasets, fields, jobs), st.one_of(datasets, fields)), edges(st.one_of(datasets, jobs), jobs))
def test_job_lineage_reads_back(into_datasets: list[Edge], into_jobs: list[Edge]) -> None:
    reported = into_datasets + into_jobs
    event = accepted(job_event(0, JobName("n", "j"), facets={"lineage": job_lineage(reported)}))
    assert isinstance(event, JobEvent)
    assert event.job.edges is not None
    assert set(event.job.edges) == set(reported)


def test_events_of_all_kinds_are_valid_and_without_warnings() -> None:
    run = accepted(
        run_event(
            7,
            RunState.FAIL,
            RUN,
            run_facets={"parent": parent_facet(TOP)},
            job_facets={"custom": own_facet("Custom", a=1)},
        )
    )
    assert (run.time, run.state, run.run.name, run.run.parent, run.run.root) == (7, RunState.FAIL, RUN, TOP, TOP)
    declared = accepted(
        dataset_event(-1, OUTPUT, facets={"documentation": facet("DocumentationDatasetFacet", description="d")})
    )
    assert (declared.time, declared.dataset.name) == (-1, OUTPUT)
    gone = accepted(dataset_event(0, OUTPUT, facets={"schema": deleted_facet("SchemaDatasetFacet")}))
    assert gone.dataset.facets[0].deleted


def test_input_and_output_facets() -> None:
    event = accepted(run_event(0, RunState.START, RUN, inputs=[dataset(OUTPUT, inputFacets={"x": own_facet("X")})]))
    assert [one.key for one in event.inputs[0].run_facets] == ["x"]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schema_versions_are_those_of_the_python_client(kind: str) -> None:
    known: dict[str, Any] = {cls.__name__: cls for some in FACETS.values() for cls in some.values()}
    assert facet(kind)["_schemaURL"] == known[kind]._get_schema()


def test_lineage_facets_share_one_file() -> None:
    assert "LineageFacet.json" in lineage.LineageJobFacet._get_schema()
    assert facet_v2.lineage is lineage


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_times_round_trip(time: int) -> None:
    assert parse_micros(iso(time)) == (time, True)


def test_ends_may_be_any_node() -> None:
    nodes: list[Node] = [OUTPUT, JobName("n", "j")]
    assert len(job_lineage([Edge(source=OUTPUT, target=node) for node in nodes])["entries"]) == 2
