"""Answers about tables that go by two names: all edges are there, in the name that was asked for."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from api.process import Api, Serving
from marquez.conftest import prepare
from marquez.hive import COLUMNS, FORMS, PATHS, Warehouse
from whence.model.names import DatasetName, FieldName

SHAPES = [(place, form, False) for place in PATHS for form in FORMS] + [(place, FORMS[0], True) for place in PATHS[:3]]
WAREHOUSES = [Warehouse(number, *shape) for number, shape in enumerate(SHAPES)]
Edge = tuple[str, str, str, str]
"""Source and target as node ids, type and subtype."""


of_each = pytest.mark.parametrize("of", WAREHOUSES, ids=lambda one: f"{one.place[0]}-{one.form}-{one.by_path}")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """All warehouses behind one API."""
    base: Path = tmp_path_factory.mktemp("hive")
    prepare(base, [body for one in WAREHOUSES for body in one.bodies()])
    serving = Serving(base)
    yield serving()
    serving.end()


def get(api: Api, path: str, node: object, **options: object) -> dict[str, Any]:
    query = "".join(f"&{key}={value}" for key, value in options.items())
    answer = api.ask("GET", f"{path}={quote(str(node), safe='')}{query}")
    assert answer.status == 200, answer
    found: dict[str, Any] = answer.json
    return found


def all_edges(of: Warehouse, asked: DatasetName) -> set[Edge]:
    """All edges, each table by its own name, the asked one by the name that was asked for."""
    names = [asked if asked in of.names(table) else table for table in of.tables]
    return {
        (str(FieldName(source, one)), str(FieldName(target, other)), type_, how)
        for source, target in pairwise(names)
        for one, other, type_, how in of.edges()
    }


def upstream(of: Warehouse, asked: DatasetName, columns: Iterable[str] = COLUMNS) -> set[Edge]:
    """The edges that lead to columns of the asked table."""
    return leading(all_edges(of, asked), asked, columns, 1, 0)


def downstream(of: Warehouse, asked: DatasetName) -> set[Edge]:
    """The edges that lead on from them."""
    return leading(all_edges(of, asked), asked, COLUMNS, 0, 1)


def leading(every: set[Edge], asked: DatasetName, columns: Iterable[str], near: int, far: int) -> set[Edge]:
    frontier, found = {str(FieldName(asked, column)) for column in columns}, set[Edge]()
    while new := {edge for edge in every if edge[near] in frontier} - found:
        found |= new
        frontier = {edge[far] for edge in new}
    return found


def edges_of(graph: list[dict[str, Any]]) -> set[Edge]:
    """All edges of an answer, as the inputs of its nodes; the edges at both of their ends must be the same."""
    found = set()
    for node in graph:
        for one in node["data"]["inputFields"]:
            source = FieldName(DatasetName(one["namespace"], one["dataset"]), one["field"])
            found |= {(str(source), node["id"], how["type"], how["subtype"]) for how in one["transformations"]}
    into = {(edge["destination"], edge["origin"]) for node in graph for edge in node["inEdges"]}
    out = {(edge["origin"], edge["destination"]) for node in graph for edge in node["outEdges"]}
    assert {(source, target) for source, target, *_ in found} == into == out
    assert {end for edge in into for end in edge} <= {node["id"] for node in graph}
    return found


@of_each
def test_all_edges_of_a_column_are_under_the_name_that_was_asked_for(api: Api, of: Warehouse) -> None:
    for name in of.names(of.tables[1]):
        for column in COLUMNS:
            asked = FieldName(name, column)
            graph = get(api, "/api/v1/column-lineage?nodeId", asked)["graph"]
            assert str(asked) in {node["id"] for node in graph}
            assert edges_of(graph) == upstream(of, name, [column])


@of_each
def test_all_edges_of_a_dataset_are_under_the_name_that_was_asked_for(api: Api, of: Warehouse) -> None:
    for table in of.tables:
        for name in of.names(table):
            found = get(api, "/api/v1/column-lineage?nodeId", name)
            assert edges_of(found["graph"]) == upstream(of, name)
            found = get(api, "/api/v1/column-lineage?nodeId", name, withDownstream="true")
            assert (edges_of(found["graph"]), found["complete"]) == (upstream(of, name) | downstream(of, name), True)
            assert {node["data"]["fieldType"] for node in found["graph"]} == {"string"}


@of_each
def test_columns_of_a_job_are_in_the_names_that_it_used(api: Api, of: Warehouse) -> None:
    used = of.names(of.tables[1])[of.by_path]
    graph = get(api, "/api/v1/column-lineage?nodeId", of.jobs[0])["graph"]
    assert edges_of(graph) == upstream(of, used)


@of_each
def test_lineage_is_in_the_name_that_was_asked_for(api: Api, of: Warehouse) -> None:
    (first, second, third), (before, after) = of.tables, of.jobs
    for name in of.names(second):
        graph = get(api, "/api/v1/lineage?nodeId", name)["graph"]
        flow = list(map(str, (first, before, name, after, third)))
        assert {node["id"] for node in graph} == set(flow)
        edges = [edge for node in graph for edge in (*node["inEdges"], *node["outEdges"])]
        assert {(edge["origin"], edge["destination"]) for edge in edges} == set(pairwise(flow))
        data = {node["id"]: node["data"] for node in graph}
        assert data[str(name)]["id"] == {"namespace": name.namespace, "name": name.name}
        for job, source, target in ((before, first, name), (after, name, third)):
            ends = [[{"namespace": one.namespace, "name": one.name}] for one in (source, target)]
            assert [data[str(job)]["inputs"], data[str(job)]["outputs"]] == ends


@of_each
def test_a_dataset_is_whole_under_each_of_its_names(api: Api, of: Warehouse) -> None:
    made_of = []
    for name in of.names(of.tables[1]):
        path = f"/api/v1/namespaces/{quote(name.namespace, safe='')}/datasets/{quote(name.name, safe='')}"
        found = api.ask("GET", path)
        assert (found.status, found.json["id"]) == (200, {"namespace": name.namespace, "name": name.name})
        assert [one["name"] for one in found.json["fields"]] == list(COLUMNS)
        made_of.append(found.json["columnLineage"])
    assert made_of[0] == made_of[1]
    assert [one["name"] for one in made_of[0]] == ["key", "value"]


@of_each
def test_the_api_of_whence_answers_alike_under_each_name(api: Api, of: Warehouse) -> None:
    for column in (None, *COLUMNS):
        answers = []
        for name in of.names(of.tables[1]):
            asked = FieldName(name, column) if column else name
            data = get(api, "/api/v2/lineage/both?node", asked)["data"]
            root = next(node for node in data["nodes"] if node["depth"] == 0)
            assert str(asked) in (root["node"], *root["aliases"])
            answers.append((data["nodes"], data["edges"], data["gaps"]))
        assert answers[0] == answers[1]
        assert answers[0][1] or column == "literal"
