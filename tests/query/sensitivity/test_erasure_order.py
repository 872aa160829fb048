"""The order of erasure: compared with the generations of the condensed graph, as networkx has them."""

import networkx as nx  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from whence.query.sensitivity.erasure_order import erasure_steps

NODES = st.integers(0, 9)
FLOWS = st.lists(st.tuples(NODES, NODES), max_size=30)


@given(st.sets(NODES), FLOWS)
def test_steps_are_the_generations_of_the_condensed_graph(nodes: set[int], flows: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph(one for one in flows if set(one) <= nodes)
    graph.add_nodes_from(nodes)
    condensed = nx.condensation(graph)
    expected = {
        node: step
        for step, generation in enumerate(nx.topological_generations(condensed), 1)
        for component in generation
        for node in condensed.nodes[component]["members"]
    }
    assert erasure_steps(nodes, flows) == expected


@given(st.permutations([(1, 2), (2, 3), (3, 2), (3, 4), (9, 1), (4, 4)]))
def test_the_order_of_the_flows_does_not_matter(flows: list[tuple[int, int]]) -> None:
    assert erasure_steps([4, 3, 2, 1], flows) == {1: 1, 2: 2, 3: 2, 4: 3}
