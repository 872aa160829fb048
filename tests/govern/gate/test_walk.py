"""What a change affects: the search over production and the head, against an oracle that tries every way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from govern.gate.cases import BOARD, JOB, ORDERS, REVENUE, STAGING, change
from whence.govern.gate.impact import Facts, Reach, Reader, subject_of
from whence.govern.gate.production import GraphEdge, GraphGap, Subgraph
from whence.govern.gate.project import Project, edges_of
from whence.govern.gate.walk import UnionGraph, assess
from whence.model.changes import ChangeKind
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.openlineage.write import column_lineage, dataset, job_event

AMOUNT, TOTAL, DAY = FieldName(ORDERS, "amount"), FieldName(REVENUE, "total"), FieldName(REVENUE, "day")
BARS = FieldName(BOARD, "bars")


@dataclass
class Graph:
    """A production graph of a few edges: it tells what is downstream column by column, or dataset by dataset."""

    edges: tuple[GraphEdge, ...] = ()
    gaps: tuple[GraphGap, ...] = ()
    known: frozenset[Node] = frozenset()
    stopped_by: str = ""
    aliases: tuple[tuple[DatasetName, DatasetName], ...] = ()
    asked: list[Node] = field(default_factory=list)

    def downstream(self, node: Node) -> Subgraph | None:
        self.asked.append(node)
        subject = subject_of(node)
        canonical = dict(self.aliases).get(subject) if isinstance(subject, DatasetName) else None
        if canonical:
            node = FieldName(canonical, node.field) if isinstance(node, FieldName) else canonical
        ends = {end for one in self.edges for end in (one.source, one.target)}
        ends |= {subject_of(end) for end in ends} | {one.at for one in self.gaps} | self.known
        if node not in ends:
            return None
        edges = self.edges if isinstance(node, FieldName) else tuple({_whole(one): None for one in self.edges})
        reached, found = {node}, dict[GraphEdge, None]()
        while more := [one for one in edges if one not in found and _begins_at(one, reached)]:
            found |= dict.fromkeys(more)
            reached |= {one.target for one in more}
        gaps = tuple(one for one in self.gaps if one.at in {subject_of(at) for at in reached})
        gaps = gaps if isinstance(node, FieldName) else ()
        return Subgraph(
            edges=tuple(found), gaps=gaps, aliases=self.aliases, stopped_by=self.stopped_by, graph_version="1:7"
        )

    def facts(self, nodes: Sequence[DatasetName | JobName]) -> Mapping[Node, Facts]:
        return {one: Facts(owners=(one.name,)) for one in nodes}


def _begins_at(edge: GraphEdge, reached: set[Node]) -> bool:
    return any(edge.source in (one, subject_of(one)) or subject_of(edge.source) == one for one in reached)


def _whole(edge: GraphEdge) -> GraphEdge:
    return GraphEdge(
        source=subject_of(edge.source), target=subject_of(edge.target), owner=edge.owner, last_seen=edge.last_seen
    )


NO_PROJECT = Project()


def edge(source: Node, target: Node, type: str = "DIRECT", owner: Node = JOB, last_seen: int = 5) -> GraphEdge:
    return GraphEdge(source=source, target=target, owner=owner, type=type, last_seen=last_seen)


def found(graph: Graph, project: Project = NO_PROJECT, **more: Any) -> list[tuple[Node, str, int]]:
    (one,) = assess([change(**more)], graph, project).changes
    return [(hit.node, hit.reach.text, hit.distance) for hit in one.impact.affected]


def test_by_value_by_influence_and_assumed_are_told_apart() -> None:
    graph = Graph(
        edges=(edge(AMOUNT, TOTAL), edge(AMOUNT, DAY, "INDIRECT"), edge(DAY, BARS)),
        gaps=(GraphGap(at=REVENUE, owner=JOB, targets=(STAGING,)),),
    )
    assert found(graph) == [
        (TOTAL, "by value", 1),
        (DAY, "by influence", 1),
        (BARS, "by influence", 2),
        (STAGING, "assumed", 2),
    ]


def test_the_surest_way_counts_though_it_is_longer() -> None:
    graph = Graph(edges=(edge(AMOUNT, BARS, "INDIRECT"), edge(AMOUNT, TOTAL), edge(TOTAL, BARS)))
    assert (BARS, "by value", 2) in found(graph)


def test_a_column_of_which_nobody_tells_is_not_affected() -> None:
    assert found(Graph(edges=(edge(AMOUNT, TOTAL), edge(FieldName(ORDERS, "id"), BARS)))) == [(TOTAL, "by value", 1)]


def test_other_rows_concern_every_reader() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL), edge(FieldName(ORDERS, "id"), BARS)))
    assert found(graph, kind=ChangeKind.ROWS, column=None) == [(BOARD, "by value", 1), (REVENUE, "by value", 1)]


def test_the_head_leads_to_where_production_never_was() -> None:
    head = Project(head=(edge(AMOUNT, FieldName(STAGING, "amount")), edge(FieldName(STAGING, "amount"), TOTAL)))
    graph = Graph(edges=(edge(TOTAL, BARS),), known=frozenset({AMOUNT}))
    assert [node for node, *_ in found(graph, head)] == [FieldName(STAGING, "amount"), TOTAL, BARS]


def test_what_the_head_no_longer_reads_is_not_affected() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL), edge(TOTAL, BARS)))
    moved = Project(base=(edge(AMOUNT, TOTAL, last_seen=0),))
    assert found(graph, moved) == []
    kept = Project(base=(edge(AMOUNT, TOTAL, last_seen=0),), head=(edge(AMOUNT, TOTAL, last_seen=0),))
    assert [node for node, *_ in found(graph, kept)] == [TOTAL, BARS]


def test_code_that_names_its_columns_is_believed_before_a_job_that_does_not() -> None:
    graph = Graph(gaps=(GraphGap(at=ORDERS, owner=JOB, targets=(REVENUE,)),), known=frozenset({AMOUNT}))
    assert found(graph) == [(REVENUE, "assumed", 1)]
    code = edge(FieldName(ORDERS, "id"), DAY, last_seen=0)
    assert found(graph, Project(base=(code,), head=(code,))) == []


def test_code_that_does_not_name_its_columns_is_as_production_tells_of_them() -> None:
    whole = (edge(ORDERS, REVENUE, last_seen=0),)
    code = Project(base=whole, head=whole)
    others = (edge(FieldName(ORDERS, "id"), DAY), edge(DAY, BARS))
    assert found(Graph(edges=(edge(AMOUNT, TOTAL), *others)), code) == [(TOTAL, "by value", 1)]
    assert (REVENUE, "assumed", 1) in found(Graph(known=frozenset({AMOUNT})), code)
    assert (REVENUE, "assumed", 1) in found(Graph(edges=others, known=frozenset({AMOUNT})), Project(head=whole))


def test_a_job_that_only_reads_is_affected_itself() -> None:
    reads = Graph(gaps=(GraphGap(at=ORDERS, owner=JOB),), known=frozenset({AMOUNT}))
    assert found(reads) == [(JOB, "assumed", 1)]


def test_a_dataset_that_production_does_not_know_is_never_no_impact() -> None:
    (one,) = assess([change()], Graph(), Project()).changes
    assert one.impact.incomplete == "production does not know this dataset"


def test_a_column_that_production_does_not_know_may_be_any_of_its_dataset() -> None:
    graph = Graph(edges=(edge(FieldName(ORDERS, "id"), TOTAL),))
    (one,) = assess([change()], graph, Project()).changes
    assert [(hit.node, hit.reach) for hit in one.impact.affected] == [(REVENUE, Reach.ASSUMED)]
    assert one.impact.incomplete == ""


def test_a_budget_makes_every_search_that_meets_it_incomplete() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL), edge(TOTAL, BARS)), stopped_by="nodes")
    later = change(dataset=REVENUE, column="total")
    for one in assess([change(), later], graph, Project()).changes:
        assert one.impact.incomplete == "a budget of nodes stopped the search"


def test_a_renamed_column_is_looked_for_under_its_old_name() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL),))
    renamed: dict[str, Any] = {"kind": ChangeKind.RENAMED, "column": "sum", "before": "amount", "after": "sum"}
    assert found(graph, **renamed) == [(TOTAL, "by value", 1)]


def test_readers_are_the_jobs_at_the_first_hop_with_the_time_they_last_said_so() -> None:
    other = JobName("airflow", "board")
    graph = Graph(
        edges=(
            edge(AMOUNT, TOTAL, last_seen=3),
            edge(AMOUNT, DAY, "INDIRECT", last_seen=9),
            edge(AMOUNT, BARS, owner=other, last_seen=4),
            edge(TOTAL, BARS, owner=other, last_seen=99),
            edge(AMOUNT, FieldName(ORDERS, "id")),
        )
    )
    (one,) = assess([change()], graph, Project()).changes
    assert [(of.job, of.target, of.last_seen) for of in one.impact.readers] == [(JOB, REVENUE, 9), (other, BOARD, 4)]


def test_a_job_that_does_not_report_columns_is_a_reader_of_each() -> None:
    """It last read when it last read the dataset. What only the code of a head reads is no reader in production."""
    whole = GraphEdge(source=ORDERS, target=REVENUE, owner=JOB, type="UNKNOWN", last_seen=7)
    gap = GraphGap(at=ORDERS, owner=JOB, targets=(REVENUE,))
    one = assess([change()], Graph(edges=(whole,), gaps=(gap,), known=frozenset({AMOUNT})), Project())
    assert one.changes[0].impact.readers == (Reader(job=JOB, target=REVENUE, last_seen=7),)
    (new,) = assess([change()], Graph(known=frozenset({AMOUNT})), Project(head=(replace(whole, last_seen=0),))).changes
    assert [reader.last_seen for reader in new.impact.readers] == [0]


def test_a_column_does_not_go_where_only_its_dataset_does() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL), edge(FieldName(ORDERS, "id"), BARS)))
    rows, values = assess([change(kind=ChangeKind.ROWS, column=None), change()], graph, NO_PROJECT).changes
    assert len(rows.impact.affected) == 2
    assert [hit.node for hit in values.impact.affected] == [TOTAL]


def test_code_without_columns_may_read_any() -> None:
    code = edge(ORDERS, STAGING, "UNKNOWN", last_seen=0)
    graph = Graph(edges=(edge(AMOUNT, TOTAL),))
    assert found(graph, Project(head=(code,))) == [(TOTAL, "by value", 1), (STAGING, "assumed", 1)]


def test_code_may_know_a_dataset_by_another_name() -> None:
    alias = DatasetName("s3://lake", "orders")
    code = edge(FieldName(alias, "amount"), FieldName(STAGING, "amount"), last_seen=0)
    graph = Graph(edges=(edge(AMOUNT, TOTAL), edge(TOTAL, AMOUNT)), aliases=((alias, ORDERS),))
    assert [node for node, *_ in found(graph, Project(head=(code,)), dataset=alias)] == [
        TOTAL,
        FieldName(STAGING, "amount"),
    ]


def test_harmless_changes_ask_production_nothing() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL),))
    assert assess([change(ChangeKind.ADDED)], graph, Project()).changes[0].impact.affected == ()
    assert graph.asked == []


def test_one_question_is_enough_for_all_that_it_tells() -> None:
    graph = Graph(edges=(edge(AMOUNT, TOTAL), edge(TOTAL, BARS)))
    assess([change(), change(dataset=REVENUE, column="total")], graph, Project())
    assert graph.asked == [AMOUNT]


def test_the_edges_of_a_project_are_those_of_its_events() -> None:
    facets = {"columnLineage": column_lineage([Edge(source=AMOUNT, target=TOTAL, type="DIRECT")])}
    event = job_event(0, JOB, inputs=[dataset(ORDERS)], outputs=[dataset(REVENUE, facets=facets)])
    assert {(one.source, one.target, one.type) for one in edges_of([event]).graph} >= {(AMOUNT, TOTAL, "DIRECT")}


COLUMNS = [FieldName(DatasetName("ns", f"d{number}"), name) for number in range(5) for name in ("a", "b")]
EDGES = st.lists(
    st.builds(edge, st.sampled_from(COLUMNS), st.sampled_from(COLUMNS), st.sampled_from(["DIRECT", "INDIRECT"])),
    max_size=14,
    unique=True,
)


@given(EDGES, EDGES, EDGES)
def test_every_affected_column_is_found_by_its_best_way(
    ran: list[GraphEdge], base: list[GraphEdge], head: list[GraphEdge]
) -> None:
    start = COLUMNS[0]
    graph = Graph(edges=tuple(ran), known=frozenset(COLUMNS))
    (one,) = assess(
        [change(dataset=start.dataset, column=start.field)], graph, Project(tuple(base), tuple(head))
    ).changes
    gone = {(of.source, of.target) for of in base} - {(of.source, of.target) for of in head}
    edges = [of for of in ran if (of.source, of.target) not in gone] + head
    best = best_ways(start, edges)
    assert {hit.node: (hit.reach, hit.distance) for hit in one.impact.affected} == best
    for hit in one.impact.affected:
        steps = set(zip(hit.path, hit.path[1:], strict=False))
        assert (hit.path[0], hit.path[-1]) == (start, hit.node)
        assert steps <= {(of.source, of.target) for of in edges}


def best_ways(start: FieldName, edges: list[GraphEdge]) -> dict[Node, tuple[Reach, int]]:
    """Of all ways, without a choice at any node on them: every reach and number of steps with which one gets there."""
    ways: set[tuple[FieldName, Reach, int]] = {(start, Reach.VALUE, 0)}
    frontier = ways
    for _ in range(len(COLUMNS) * 2):
        frontier = {
            (one.target, max(reach, Reach.VALUE if one.type == "DIRECT" else Reach.INFLUENCE), steps + 1)
            for node, reach, steps in frontier
            for one in edges
            if one.source == node and isinstance(one.target, FieldName)
        }
        ways = ways | frontier
    best: dict[Node, tuple[Reach, int]] = {}
    for node, reach, steps in ways:
        best[node] = min(best.get(node, (reach, steps)), (reach, steps))
    return {node: way for node, way in best.items() if subject_of(node) != start.dataset}


def test_the_shortest_way_may_not_be_the_surest_to_a_node_on_it() -> None:
    """`b` is a value by a detour, and influenced at once; what is beyond it is influenced either way."""
    start, detour, b, beyond = (FieldName(DatasetName("ns", name), "x") for name in ("start", "detour", "b", "beyond"))
    ran = (
        edge(start, detour, "DIRECT"),
        edge(detour, b, "DIRECT"),
        edge(start, b, "INDIRECT"),
        edge(b, beyond, "INDIRECT"),
    )
    graph = Graph(edges=ran, known=frozenset({start}))
    (one,) = assess([change(dataset=start.dataset, column="x")], graph, Project()).changes
    assert {hit.node: (hit.reach, hit.path) for hit in one.impact.affected} == {
        detour: (Reach.VALUE, (start, detour)),
        b: (Reach.VALUE, (start, detour, b)),
        beyond: (Reach.INFLUENCE, (start, b, beyond)),
    }


def test_production_is_asked_a_bounded_number_of_times() -> None:
    graph = UnionGraph(Graph(known=frozenset(COLUMNS)), Project(), _questions=1_000)
    assert graph.ask(COLUMNS[0])
    assert graph.incomplete([COLUMNS[0]]) == "a budget of questions stopped the search"
