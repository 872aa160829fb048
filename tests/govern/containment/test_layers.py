"""The order in which jobs run again, against a check of every rule by brute force over random graphs."""

import random
from itertools import product

from whence.govern.containment.layers import JobEdge, layers_between
from whence.model.names import DatasetName, FieldName, JobName, Node

TABLES = [DatasetName("db", name) for name in "abcdefg"]
JOBS = [JobName("etl", f"job {number}") for number in range(8)]


def random_edges(dice: random.Random, *, acyclic: bool) -> list[JobEdge]:
    edges = []
    for job in dice.sample(JOBS, dice.randint(1, len(JOBS))):
        first, second = sorted(dice.sample(range(len(TABLES)), 2)) if acyclic else dice.sample(range(len(TABLES)), 2)
        pairs = range(dice.randint(1, 3))
        edges += [JobEdge(end(dice, TABLES[first]), job, end(dice, TABLES[second])) for _ in pairs]
    return edges


def end(dice: random.Random, of: DatasetName) -> Node:
    return of if dice.random() < 0.2 else FieldName(of, dice.choice("xy"))


def touch(one: Node, other: Node) -> bool:
    """Whether two nodes are one, or one is the dataset of the other."""
    wholes = [node.dataset if isinstance(node, FieldName) else node for node in (one, other)]
    return one == other or (
        wholes[0] == wholes[1] and not (isinstance(one, FieldName) and isinstance(other, FieldName))
    )


def ways(edges: list[JobEdge], root: Node, targets: list[Node]) -> set[JobName]:
    """The jobs on any chain of edges from the root to a target: every chain is tried, edge by edge."""
    ahead = {(i, j) for i, j in product(range(len(edges)), repeat=2) if touch(edges[i].target, edges[j].source)}
    for k, i, j in product(range(len(edges)), repeat=3):
        if (i, k) in ahead and (k, j) in ahead:
            ahead.add((i, j))
    first = [i for i, one in enumerate(edges) if touch(root, one.source)]
    last = [j for j, one in enumerate(edges) if any(touch(one.target, target) for target in targets) or not targets]
    found = set()
    for i, j in product(first, last):
        if i == j or (i, j) in ahead:
            found |= {edges[i].job, edges[j].job}
            found |= {edges[k].job for k in range(len(edges)) if (i, k) in ahead and (k, j) in ahead}
    return found


def test_jobs_on_the_ways_and_only_these_each_after_what_it_reads() -> None:
    dice, seen = random.Random(11), set()
    for turn in range(400):
        edges = random_edges(dice, acyclic=turn % 2 == 0)
        root = end(dice, TABLES[dice.randint(0, 2)])
        targets = [end(dice, dice.choice(TABLES)) for _ in range(dice.randint(0, 2))]
        layers = layers_between(edges, root, targets)
        place = {job: number for number, layer in enumerate(layers) for job in layer.jobs}
        assert place.keys() == ways(edges, root, targets), (edges, root, targets)
        assert sum(len(layer.jobs) for layer in layers) == len(place), "each job once"
        cyclic = {job for layer in layers for job in layer.cyclic}
        if turn % 2 == 0:
            assert not cyclic
            for one, other in product(edges, repeat=2):
                if {one.job, other.job} <= place.keys() and one.job != other.job and _follows(edges, one, other, root):
                    assert place[one.job] < place[other.job], (one, other)
        assert layers == layers_between(dice.sample(edges, len(edges)), root, targets), "in any order of edges"
        seen |= {len(layers), "cyclic" if cyclic else "none"}
    assert {0, 1, 2, 3, "cyclic"} <= seen


def _follows(edges: list[JobEdge], one: JobEdge, other: JobEdge, root: Node) -> bool:
    """Whether broken data goes by one edge into the other."""
    return touch(one.target, other.source) and one.job in ways([*edges], root, [one.target])


def test_a_job_is_a_target_too() -> None:
    one, two = FieldName(TABLES[0], "x"), FieldName(TABLES[1], "x")
    edges = [JobEdge(one, JOBS[0], two), JobEdge(two, JOBS[1], TABLES[2]), JobEdge(two, JOBS[2], TABLES[3])]
    assert [layer.jobs for layer in layers_between(edges, one, [JOBS[1]])] == [(JOBS[0],), (JOBS[1],)]
