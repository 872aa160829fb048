"""Grades that are passed on, against a closure of all ways (Warshall's, with minima and maxima)."""

from itertools import pairwise, product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import Grade
from whence.query.sensitivity.propagation import Ways, spread

DATASETS = tuple(DatasetName("prod", name) for name in "ab")
COLUMNS = tuple(FieldName(of, name) for of in DATASETS for name in ("x", "y", "z"))
NODES: tuple[Node, ...] = (*DATASETS, *COLUMNS)
grades = st.sampled_from([one for one in Grade if one is not Grade.NONE])
nodes = st.sampled_from(NODES)
widths = st.dictionaries(st.tuples(nodes, nodes), grades, max_size=14)
starts = st.dictionaries(nodes, grades, max_size=3)


def hops(passed: dict[tuple[Node, Node], Grade], known: set[Node]) -> dict[tuple[Node, Node], Grade]:
    """Every hop: the edges, from each column as its dataset, and from a whole dataset to its columns."""
    found = dict(passed)
    for (source, target), grade in passed.items():
        for column in COLUMNS:
            if column in known and column.dataset == source:
                found[column, target] = max(found.get((column, target), Grade.NONE), grade)
    return found | {(column.dataset, column): Grade.FULL for column in COLUMNS if column in known}


def closure(passed: dict[tuple[Node, Node], Grade], begins: dict[Node, Grade]) -> dict[Node, Grade]:
    known = {*begins, *(end for ends in passed for end in ends)}
    wide = dict.fromkeys(product(NODES, NODES), Grade.NONE) | hops(passed, known)
    wide |= {(one, one): Grade.FULL for one in NODES}
    for middle, source, target in product(NODES, NODES, NODES):
        through = min(wide[source, middle], wide[middle, target])
        wide[source, target] = max(wide[source, target], through)
    reached = {
        one: max((min(has, wide[start, one]) for start, has in begins.items()), default=Grade.NONE) for one in NODES
    }
    return {one: grade for one, grade in reached.items() if grade is not Grade.NONE}


@given(widths, starts)
def test_grades_are_those_of_the_widest_way(passed: dict[tuple[Node, Node], Grade], begins: dict[Node, Grade]) -> None:
    assert spread(Ways.of(passed), begins).grades == closure(passed, begins)


@given(widths, starts)
def test_a_path_is_a_way_with_the_grade(passed: dict[tuple[Node, Node], Grade], begins: dict[Node, Grade]) -> None:
    found = spread(Ways.of(passed), begins)
    wide = hops(passed, {*begins, *(end for ends in passed for end in ends)})
    for node, grade in found.grades.items():
        path = found.path(node)
        assert path[-1] == node
        assert min([begins[path[0]], *(wide[hop] for hop in pairwise(path))]) == grade


@given(widths, starts, st.randoms())
def test_the_order_of_edges_changes_nothing(
    passed: dict[tuple[Node, Node], Grade], begins: dict[Node, Grade], random: Random
) -> None:
    shuffled = list(passed.items())
    random.shuffle(shuffled)
    assert spread(Ways.of(dict(shuffled)), begins) == spread(Ways.of(passed), begins)


@given(widths, starts)
def test_without_its_tag_nothing_is_left_of_a_column(
    passed: dict[tuple[Node, Node], Grade], begins: dict[Node, Grade]
) -> None:
    for start in begins:
        fewer = {one: has for one, has in begins.items() if one != start}
        assert spread(Ways.of(passed), fewer).grades == closure(passed, fewer)
