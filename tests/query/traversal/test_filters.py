"""Filters on walks, and impact, against brute force on random worlds with tags, owners and types; on both stores."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.examples import examples
from query.traversal.test_walk_oracle import DATASETS, JOBS, questions, slow, worlds
from query.worlds.adjacencies import adjacencies, graph_over
from query.worlds.brute_force import Brute, ask, holding, meets, one_name, whole
from query.worlds.random_worlds import Statement, World, load
from whence.model.graph import FacetRow
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.traits import read_traits
from whence.query.answers.values import Filter, Question
from whence.query.questions.impact import Affected, Impact, impact
from whence.query.questions.lineage import downstream, upstream
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

TAGS, OWNERS = ("pii", "gold", "level"), ("ann", "bob")
tags = st.tuples(st.sampled_from(TAGS), st.sampled_from(("", "high")), st.sampled_from(("", "x")))
assertions_of = st.fixed_dictionaries(
    {
        "tags": st.lists(tags, max_size=2),
        "owners": st.lists(st.sampled_from(OWNERS), max_size=2, unique=True),
        "type": st.sampled_from(("", "VIEW", "DASHBOARD")),
    }
)
SUBJECTS: tuple[DatasetName | JobName, ...] = (*DATASETS, *JOBS)
some = st.sampled_from
filters = st.builds(
    Filter,
    namespaces=some(((), (), ("n*",), ("ns",), ("other", "[n]s"))),
    tags=some(((), (), ("pii",), ("level=high", "gold"))),
    owners=some(((), (), ("ann",), ("bob", "nobody"))),
    kinds=some(((), (), ("dataset", "job"), ("field",), ("view",), ("DASHBOARD", "field"))),
    jobs=some(((), (), (str(JOBS[0]),), tuple(map(str, JOBS[1:])))),
    within=st.booleans(),
)


def with_facets(world: World, assertions: list[dict[str, Any]]) -> World:
    """A world in which something is said of each dataset and job."""
    facets = []
    for subject, one in zip(SUBJECTS, assertions, strict=True):
        tags = [
            {"key": key, "value": value, "source": "test", **({"field": of} if of else {})}
            for key, value, of in one["tags"]
        ]
        facets.append((subject, "tags", json.dumps({"tags": tags})))
        facets.append((subject, "ownership", json.dumps({"owners": [{"name": name} for name in one["owners"]]})))
        key = "jobType" if isinstance(subject, JobName) else "datasetType"
        facets.append((subject, key, json.dumps({key: one["type"]})))
    return replace(world, facets=tuple(facets))


def fits(world: World, node: Node, only: Filter) -> bool:
    """Whether a node fits, jobs of the filter apart; straight from the words of docs/reference/questions.md."""
    name = one_name(world)
    whole = node.dataset if isinstance(node, FieldName) else node
    same = [one for one in SUBJECTS if name(one) == whole]
    facets = [(key, json.loads(payload)) for of, key, payload in world.facets if of in same]
    tags: set[str] = set()
    owners: set[str] = set()
    kinds = {"field" if isinstance(node, FieldName) else "job" if isinstance(node, JobName) else "dataset"}
    for key, facet in facets:
        for tag in facet.get("tags", ()):
            if not isinstance(node, FieldName) or tag.get("field", "") in ("", node.field):
                tags |= {tag["key"], f"{tag['key']}={tag['value']}"}
        owners |= {one["name"] for one in facet.get("owners", ())}
        if key in ("jobType", "datasetType") and not isinstance(node, FieldName):
            kinds.add(facet[key].lower())
    return (
        (not only.namespaces or "ns" in only.namespaces or "n*" in only.namespaces)
        and (not only.tags or bool(tags & set(only.tags)))
        and (not only.owners or bool(owners & set(only.owners)))
        and (not only.kinds or bool(kinds & {one.lower() for one in only.kinds}))
    )


@settings(slow, max_examples=examples(300))
@given(
    world=worlds(),
    assertions=st.lists(assertions_of, min_size=9, max_size=9),
    question=questions,
    only=filters,
    over=adjacencies,
)
def test_filters_equal_brute_force(
    sqlite_store: Engine,
    world: World,
    assertions: list[dict[str, Any]],
    question: dict[str, Any],
    only: Filter,
    over: str,
) -> None:
    _check(sqlite_store, with_facets(world, assertions), question, only, over)


def test_filters_equal_brute_force_on_each_store(store: Engine) -> None:
    @settings(slow, max_examples=25, derandomize=True)
    @given(
        world=worlds(),
        assertions=st.lists(assertions_of, min_size=9, max_size=9),
        question=questions,
        only=filters,
        over=adjacencies,
    )
    def run(world: World, assertions: list[dict[str, Any]], question: dict[str, Any], only: Filter, over: str) -> None:
        _check(store, with_facets(world, assertions), question, only, over)

    run()


def test_within_datasets_a_job_leads_to_the_dataset_of_a_column_that_it_read(sqlite_store: Engine) -> None:
    read = Edge(source=FieldName(DATASETS[0], "x"), target=JOBS[0], type="UNKNOWN")
    world = World(statements=(Statement(owner=JOBS[0], edges=((read, Origin.BOUNDARY),)),))
    load(sqlite_store, world)
    with reading(sqlite_store) as connection:
        asked = Question(only=Filter(kinds=("dataset", "job"), within=True))
        answer = upstream(StoreGraph(connection), JOBS[0], asked)
    assert [(node.name, node.depth) for node in answer.nodes] == [(JOBS[0], 0), (DATASETS[0], 1)]


def _check(engine: Engine, world: World, question: dict[str, Any], only: Filter, over: str) -> None:
    load(engine, world)
    root = one_name(world)(question["root"])
    asked = Question(depth=question["depth"], types=question["types"], at=question["at"], only=only)
    walk = upstream if question["direction"] == "upstream" else downstream
    with reading(engine) as connection:
        answer = walk(graph_over(connection, over), question["root"], asked)
    shown = {node.name: node.depth for node in answer.nodes if node.shown}
    if only.within and not only.is_empty:
        expected = within(world, question, only)
    else:
        found = ask(world, **question)
        distances = {**(deriving(found) if only.kinds else {}), **found.distance}
        expected = {node: depth for node, depth in distances.items() if fits(world, node, only)}
        if only.jobs:
            ends = {
                source if walk is upstream else target
                for source, target, owner in found.edges
                if str(owner) in only.jobs
            }
            speaking = {owner for _, _, owner in found.edges if str(owner) in only.jobs}
            expected = {node: depth for node, depth in expected.items() if node in ends | speaking}
        _check_on_the_way(answer)
    expected[root] = 0
    event(f"shown: {min(len(shown), 6)}, on the way: {min(len(answer.nodes) - len(shown), 4)}")
    assert shown == expected


def _check_on_the_way(answer: Any) -> None:
    """What is not shown is on the way to something that is, and every node but the root has its last hop."""
    parents = {node.parent for node in answer.nodes}
    assert all(node.shown or node.name in parents for node in answer.nodes)
    for node in answer.nodes[1:]:
        edge = answer.edges[node.edge]
        end = edge.source if answer.direction == "upstream" else edge.target
        assert node.name in (end, edge.owner)
        assert isinstance(node.name, JobName) or node.name == end


def deriving(found: Brute) -> dict[Node, int]:
    """The jobs that assert the edges of an answer, each as far as the nearest of its edges."""
    depths: dict[Node, int] = {}
    for node, edges in found.takes.items():
        for owner in {owner for *_, owner in edges if isinstance(owner, JobName)}:
            depths[owner] = min(depths.get(owner, 1 << 30), found.distance[node] + 1)
    return depths


def within(world: World, question: dict[str, Any], only: Filter) -> dict[Node, int]:
    """Distances in a world in which only what fits can be reached."""
    name = one_name(world)
    far = 0 if question["direction"] == "upstream" else 1
    fine = isinstance(question["root"], FieldName)
    reached = dict.fromkeys((name(question["root"]),), 0)
    jobs: dict[Node, int] = {}
    depth, frontier = 0, set(reached)
    while frontier and depth != question["depth"]:
        depth += 1
        found = set()
        for node in frontier:
            one = ask(world, **{**question, "root": node, "depth": 1}, fine=fine)
            for source, target, owner in one.edges:
                end = (source, target)[far]
                if fits(world, end, only) and (not only.jobs or str(owner) in only.jobs):
                    found.add(end)
                    if only.kinds and isinstance(owner, JobName) and fits(world, owner, only):
                        jobs.setdefault(owner, depth)
        frontier = {end for end in found if end not in reached}
        reached |= dict.fromkeys(frontier, depth)
        frontier = {end for end in frontier if not isinstance(end, JobName)}
    return jobs | reached


GRADES = ("DIRECT", "UNKNOWN", "INDIRECT")


def influences(world: World, question: dict[str, Any], found: Brute) -> dict[Node, str]:
    """How directly each node downstream is affected: by the most direct way, each as direct as its least direct edge;
    and each job by the way to one of its edges.
    """
    fine = isinstance(question["root"], FieldName)
    types: dict[tuple[Node, Node, Node], set[str]] = {}
    for owner, one, origin in holding(world, question["at"]):
        if origin is not Origin.UNREPORTED and (one.type in question["types"] or one.type not in GRADES[::2]):
            for ends in ((one.source, one.target), (whole(one.source) or one.source, whole(one.target) or one.target)):
                types.setdefault((*ends, owner), set()).add(one.type)
    levels: dict[Node, int] = {one_name(world)(question["root"]): 0}
    for _ in range(len(found.distance) + 1):
        for source, target, owner in found.edges:
            of_job = isinstance(source, JobName) or isinstance(target, JobName)
            grade = 0 if of_job else min(_grade(one) for one in types[source, target, owner])
            near = [levels[one] for one in levels if (meets(one, source) if fine else one == source)]
            for end in (target, owner) if near else ():
                if end in found.distance or isinstance(end, JobName):
                    levels[end] = min(levels.get(end, 2), max(min(near), grade))
    return {node: GRADES[level] for node, level in levels.items()}


def _grade(type_: str) -> int:
    return GRADES.index(type_) if type_ in GRADES else 1


@settings(slow, max_examples=examples(100))
@given(
    world=worlds(),
    assertions=st.lists(assertions_of, min_size=9, max_size=9),
    question=questions,
    only=filters,
    over=adjacencies,
)
def test_impact_is_what_is_downstream(
    sqlite_store: Engine,
    world: World,
    assertions: list[dict[str, Any]],
    question: dict[str, Any],
    only: Filter,
    over: str,
) -> None:
    made = with_facets(world, assertions)
    load(sqlite_store, made)
    asked = Question(depth=question["depth"], types=question["types"], at=question["at"], only=only)
    with reading(sqlite_store) as connection:
        graph = graph_over(connection, over)
        answer, found = downstream(graph, question["root"], asked), impact(graph, question["root"], asked)
        nodes = found.nodes()
        assert list(found.nodes(1, 2)) == list(nodes[1:3])
    shown = [node for node in answer.nodes[1:] if node.shown]
    assert [(node.name, node.distance) for node in nodes] == [(node.name, node.depth) for node in shown]
    places = [(node.distance, str(node.name)) for node in nodes]
    assert places == sorted(places)
    parents = {node.name: node.parent for node in answer.nodes}
    for node in nodes:
        assert (node.path[0], node.path[-1], len(node.path)) == (answer.root, node.name, node.distance + 1)
        assert all(parents[after] == before for before, after in zip(node.path, node.path[1:], strict=False))
    brute = ask(made, **{**question, "direction": "downstream"})
    if not only.within:
        expected = influences(made, question, brute)
        assert {node.name: node.influence for node in nodes} == {node.name: expected[node.name] for node in nodes}
        assert {job.name: job.influence for job in found.jobs} == {job.name: expected[job.name] for job in found.jobs}
    _check_jobs(found, nodes, deriving(brute) if only.is_empty else None)
    assert dict(found.counts.by_influence) == dict(Counter(node.influence for node in nodes))
    owners = Counter(owner for node in nodes for owner in node.owners or ("",))
    assert dict(found.counts.by_owner) == dict(owners)
    assert dict(found.counts.by_type) == dict(Counter(node.type for node in nodes))
    assert found.counts.nodes == len(nodes) == sum(found.counts.by_kind.values())
    assert found.completeness.complete == answer.completeness.complete or answer.gaps
    assert (found.completeness.frontier, found.completeness.depth_reached) == (
        answer.completeness.frontier,
        answer.completeness.depth_reached,
    )


def _check_jobs(found: Impact, nodes: Sequence[Affected], expected: dict[Node, int] | None) -> None:
    """The jobs are those that derive one of the nodes, and those that are one, by distance and name."""
    assert found.counts.jobs == len(found.jobs)
    assert [(job.distance, str(job.name)) for job in found.jobs] == sorted(
        (job.distance, str(job.name)) for job in found.jobs
    )
    assert all(
        (job.path[0], job.path[-1], len(job.path)) == (found.root, job.name, job.distance + 1) for job in found.jobs
    )
    if expected is not None:
        ends = {node.name: node.distance for node in nodes if isinstance(node.name, JobName)}
        listed = {job.name: job.distance for job in found.jobs}
        assert listed == {job: depth for job, depth in (expected | ends).items() if job != found.root}


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        ('{"tags":[{"key":"pii","value":"true"}]}', {"pii"}),
        ('{"tags":[{"key":"pii","value":"high"}]}', {"pii", "pii=high"}),
        ('{"tags":[{"key":"pii"},7,{"value":"x"}],"more":1}', {"pii", "", "=x"}),
        ('{"tags":"pii"}', set[str]()),
        ("[]", set[str]()),
        ('{"tags":[{"key":5,"value":null}]}', {"5"}),
    ],
)
def test_tags_as_producers_write_them(payload: str, kept: set[str]) -> None:
    assert read_traits([FacetRow(1, "tags", payload, 0, 0)]).tags_of(None) == kept
