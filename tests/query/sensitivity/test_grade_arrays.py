"""Grades passed on in arrays, against a search for the widest way that follows one edge at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whence.query.sensitivity.grade_arrays import Flows, pass_on

COUNT, KINDS = 6, 2
nodes, grades = st.integers(0, COUNT - 1), st.integers(0, 5)
Edge = tuple[int, int, tuple[int, int]]
edges = st.lists(st.tuples(nodes, nodes, st.tuples(grades, grades)), max_size=16)
starts = st.lists(st.tuples(grades, grades), min_size=COUNT, max_size=COUNT)


def widest(begins: list[int], passed: list[tuple[int, int, int]]) -> list[int]:
    """Relax every edge until nothing changes."""
    found = list(begins)
    while True:
        before = list(found)
        for source, target, width in passed:
            found[target] = max(found[target], min(found[source], width))
        if found == before:
            return found


def flows_of(several: list[Edge]) -> Flows:
    sources, targets = (np.array([one[at] for one in several], np.int64) for at in (0, 1))
    return Flows(sources, targets, np.array([one[2] for one in several], np.uint8).reshape(-1, KINDS))


@given(starts, edges)
def test_each_kind_of_label_is_passed_on_by_its_own_widths(begins: list[tuple[int, int]], several: list[Edge]) -> None:
    found = pass_on(np.array(begins, np.uint8), flows_of(several))
    for kind in range(KINDS):
        passed = [(source, target, widths[kind]) for source, target, widths in several]
        assert found[:, kind].tolist() == widest([one[kind] for one in begins], passed)


def test_the_starts_stay_as_they_were() -> None:
    begins = np.array([[5, 0], [0, 0]], np.uint8)
    pass_on(begins, flows_of([(0, 1, (3, 3))]))
    assert begins.tolist() == [[5, 0], [0, 0]]
