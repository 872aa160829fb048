"""The pure core on random graphs with cycles, hubs and self loops: exact where it says so, near where it estimates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blast.combining import Combined, combined
from blast.lineages import random_lineage, reached
from fixtures.examples import examples
from whence.derive.blast_radius.condensation import condense
from whence.derive.blast_radius.count import Effort, prepare
from whence.derive.blast_radius.digraphs import Lineage, build_survey
from whence.derive.blast_radius.graph_arrays import fingerprint
from whence.derive.blast_radius.reachable_sets import standard_error
from whence.model.blast_radius import COUNTED

RANKS = 64


@st.composite
def digraphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    vertices = draw(st.integers(1, 12))
    end = st.integers(0, vertices - 1)
    return vertices, draw(st.lists(st.tuples(end, end), max_size=30))


@given(digraph=digraphs())
def test_components_are_those_that_reach_each_other(digraph: tuple[int, list[tuple[int, int]]]) -> None:
    vertices, edges = digraph
    dag = condense(vertices, *(np.array([edge[place] for edge in edges], np.int64) for place in (0, 1)))
    down = {one: _reach(edges, one) for one in range(vertices)}
    for one in range(vertices):
        for other in range(vertices):
            assert (dag.component[one] == dag.component[other]) == (other in down[one] and one in down[other])
    for component in range(dag.size):
        below = dag.successors[dag.bounds[component] : dag.bounds[component + 1]]
        layer = np.searchsorted(dag.layers, component, side="right") - 1
        assert (below < dag.layers[layer]).all()
        assert bool(layer) == bool(len(below))
    found = {(int(dag.component[one]), int(dag.component[other])) for one, other in edges}
    listed = np.repeat(np.arange(dag.size), np.diff(dag.bounds))
    assert {pair for pair in found if pair[0] != pair[1]} == set(
        zip(listed.tolist(), dag.successors.tolist(), strict=True)
    )


def _reach(edges: list[tuple[int, int]], start: int) -> set[int]:
    seen, frontier = {start}, [start]
    while frontier:
        here = frontier.pop()
        nexts = {other for one, other in edges if one == here} - seen
        frontier += nexts
        seen |= nexts
    return seen


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 2**32), datasets=st.integers(10, 40), edges=st.integers(0, 200), small=st.integers(0, 9))
def test_what_is_said_to_be_exact_is_exact(seed: int, datasets: int, edges: int, small: int) -> None:
    lineage = random_lineage(seed, datasets, edges)
    for effort in (Effort(), Effort(registers=8, exact_work=0, small=small)):
        _check_exact(lineage, combined(prepare(build_survey(lineage), effort), shares=1), effort)


def _check_exact(lineage: Lineage, found: Combined, effort: Effort) -> None:
    for node in lineage.fields.tolist():
        for name, things in zip(("datasets", "fields", "jobs"), reached(lineage, node), strict=True):
            exact = name not in found.estimated[node]
            assert exact or effort.exact_work == 0
            if exact:
                assert found.counts[node][COUNTED.index(name)] == len(things)
            else:
                assert len(things) + (name != "jobs") > effort.small


@pytest.mark.parametrize("registers", [RANKS, 4 * RANKS])
def test_estimates_are_as_near_as_stated(registers: int) -> None:
    errors = []
    for seed in range(12):  # ranks come from ids, so other ids are another trial
        lineage = random_lineage(seed, datasets=400, edges=3_000, loops=0.001)
        found = combined(prepare(build_survey(lineage), Effort(registers=registers, exact_work=0, small=16)), shares=2)
        for node in lineage.fields[:: len(lineage.fields) // 40].tolist():
            fields = len(reached(lineage, node)[1])
            if "fields" in found.estimated[node]:
                errors.append(found.counts[node][COUNTED.index("fields")] / fields - 1)
    stated = standard_error(registers)
    assert len(errors) > 100
    assert np.sqrt(np.mean(np.square(errors))) < 1.5 * stated
    assert abs(np.mean(errors)) < stated


@pytest.mark.parametrize("effort", [Effort(), Effort(registers=16, exact_work=0, small=4)], ids=["bits", "ranks"])
def test_neither_shares_nor_order_change_a_count(effort: Effort) -> None:
    lineage = random_lineage(3, datasets=60, edges=300)
    order = np.random.default_rng(1).permutation(len(lineage.source))
    again = Lineage(
        **{name: getattr(lineage, name)[order] for name in ("source", "target", "owner")},
        **{
            name: getattr(lineage, name)
            for name in ("fields", "field_dataset", "datasets", "jobs", "dashboards", "models")
        },
    )
    whole = combined(prepare(build_survey(lineage), effort), shares=1)
    assert combined(prepare(build_survey(again), effort), shares=5) == whole
    assert fingerprint(again) == fingerprint(lineage)


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 2**32))
def test_another_graph_has_another_fingerprint(seed: int) -> None:
    lineage = random_lineage(seed, datasets=10, edges=30)
    swapped = Lineage(
        **{
            **{name: getattr(lineage, name) for name in Lineage.__slots__},
            "source": lineage.target,
            "target": lineage.source,
        }
    )
    assert fingerprint(swapped) != fingerprint(lineage)


def test_a_long_chain_and_a_hub_are_counted() -> None:
    links = 3_000
    ids = np.arange(1, links + 1) * 4
    chain = _of_datasets(ids, np.arange(links - 1), np.arange(1, links))
    found = combined(prepare(build_survey(chain), Effort(exact_work=0, small=links)), shares=1)
    assert [found.counts[int(one)][0] for one in ids] == list(range(links - 1, -1, -1))
    hub = _of_datasets(ids, np.zeros(links - 1, np.int64), np.arange(1, links))
    assert combined(prepare(build_survey(hub), Effort()), shares=1).counts[4][0] == links - 1


def _of_datasets(ids: np.ndarray, source: np.ndarray, target: np.ndarray) -> Lineage:
    none = np.empty(0, np.int64)
    return Lineage(
        source=ids[source],
        target=ids[target],
        owner=ids[target],
        fields=none,
        field_dataset=none,
        datasets=ids,
        jobs=none,
        dashboards=none,
        models=none,
    )
