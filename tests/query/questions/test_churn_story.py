"""The churn story: gaps, aliases, evidence, history, budgets, names; on both stores."""

import pytest
from sqlalchemy import Engine

from query.worlds.churn_story import FEATURES, HOUR, MODEL, NOW, PREDICTIONS, SESSIONS, TABLE, USAGE, column, data, job
from query.worlds.random_worlds import POSITION, World, load
from whence.errors import AmbiguousNodeError, NodeNotFoundError
from whence.model.events import RunState
from whence.model.graph import Direction, Grain, Hop
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import Question
from whence.query.lookup.resolve import resolve
from whence.query.lookup.search import search
from whence.query.questions.lineage import downstream, upstream
from whence.query.questions.paths import paths
from whence.query.traversal.evidence import prove
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

CHURN = column("predictions", "churn_probability")
BOTH = frozenset({"DIRECT", "INDIRECT"})


def reached(graph: StoreGraph, node: Node, question: Question = Question(), *, down: bool = False) -> set[Node]:  # noqa: B008  # frozen
    answer = (downstream if down else upstream)(graph, node, question)
    return {one.name for one in answer.nodes} - {answer.root}


def test_a_prediction_comes_from_its_columns_and_no_others(graph: StoreGraph) -> None:
    fields = {FieldName(TABLE, "avg_minutes"), FieldName(TABLE, "email_hash")}
    raw = {column("silver/sessions", "minutes"), column("raw/customers.csv", "email")}
    assert reached(graph, CHURN) == {MODEL} | fields | raw


def test_influence_is_followed_only_when_asked_for(graph: StoreGraph) -> None:
    joined = {column("silver/sessions", "customer_id"), column("raw/customers.csv", "id")}
    assert reached(graph, CHURN, Question(types=BOTH)) == reached(graph, CHURN) | joined


def test_a_walk_over_fields_says_where_columns_are_missing(graph: StoreGraph) -> None:
    gaps = upstream(graph, CHURN, Question()).gaps
    assert [(gap.at, gap.owner, gap.datasets) for gap in gaps] == [
        (column("silver/sessions", "minutes"), job("clean_sessions"), (USAGE,))
    ]
    read_only = downstream(graph, CHURN, Question()).gaps
    assert [(gap.at, gap.owner, gap.datasets) for gap in read_only] == [(CHURN, job("report"), ())]


def test_what_a_raw_file_feeds_whole(graph: StoreGraph) -> None:
    assert reached(graph, USAGE, down=True) == {SESSIONS, TABLE, MODEL, PREDICTIONS, job("report")}


def test_a_job_is_asked_by_what_it_reads_and_writes(graph: StoreGraph) -> None:
    assert reached(graph, job("train_model")) == {TABLE, SESSIONS, USAGE, data("raw/customers.csv")}
    assert reached(graph, job("train_model"), down=True) == {MODEL, PREDICTIONS, job("report")}


def test_an_alias_is_the_same_node_by_any_of_its_names(graph: StoreGraph) -> None:
    by_path, by_table = (upstream(graph, FieldName(of, "avg_minutes"), Question()) for of in (FEATURES, TABLE))
    assert by_path == by_table
    assert by_path.nodes[0].aliases == (FieldName(FEATURES, "avg_minutes"),)


def test_history_answers_as_of(graph: StoreGraph) -> None:
    def transformations(at: int | None) -> list[tuple[str, str]]:
        edges = upstream(graph, FieldName(TABLE, "avg_minutes"), Question(at=at)).edges
        return [(one.transformations[0].subtype, one.evidence[0].runs[0].name.run_id[-1]) for one in edges]

    assert transformations(None) == [("AGGREGATION", "0")]
    assert transformations(NOW - 6 * HOUR) == [("IDENTITY", "1")]
    assert transformations(NOW - 48 * HOUR) == []


def test_every_edge_has_its_evidence(graph: StoreGraph) -> None:
    answer = upstream(graph, CHURN, Question())
    edge = next(one for one in answer.edges if one.source == MODEL)
    assert (edge.owner, edge.confirmed, edge.origins) == (job("score"), False, ("columnLineage",))
    (evidence,) = edge.evidence
    assert (evidence.first, evidence.first.time, evidence.first.position, evidence.first.producer) == (
        evidence.last,
        NOW - 180_000_000,
        7,
        "https://test",
    )
    assert [(run.name.job, run.state, run.ended_at) for run in evidence.runs] == [(job("score"), RunState.START, None)]
    assert prove(graph, edge, None) == edge
    assert all(one.evidence for one in answer.edges)


def test_every_answer_says_what_it_stands_on(graph: StoreGraph) -> None:
    completeness = upstream(graph, CHURN, Question(at=NOW)).completeness
    assert (completeness.as_of, completeness.graph_version, completeness.hidden_nodes) == (NOW, f"0:{POSITION}", 0)
    assert (completeness.complete, completeness.stopped_by) == (
        False,
        "columns",
    )  # where clean_sessions reports no columns
    of_model = upstream(graph, MODEL, Question(at=NOW)).completeness
    assert (of_model.complete, of_model.stopped_by) == (True, None)
    cut = upstream(graph, CHURN, Question(depth=1)).completeness
    assert (cut.complete, cut.stopped_by, cut.depth_reached) == (False, "depth", 1)
    assert cut.frontier == (MODEL, FieldName(TABLE, "avg_minutes"))


def test_the_way_of_a_value_is_one_transformation(graph: StoreGraph) -> None:
    vias = {node.name: node.via for node in upstream(graph, CHURN, Question(types=BOTH)).nodes}
    email, joined = vias[column("raw/customers.csv", "email")], vias[column("raw/customers.csv", "id")]
    assert email is not None
    assert (email.type, email.subtype, email.masking) == ("DIRECT", "TRANSFORMATION", True)
    assert joined is not None
    assert (joined.type, joined.subtype, joined.masking) == ("INDIRECT", "JOIN", False)


def test_paths_shortest_first(graph: StoreGraph) -> None:
    found = paths(graph, column("silver/sessions", "minutes"), CHURN, Question())
    assert [[step.target for step in path.steps] for path in found.paths] == [
        [FieldName(TABLE, "avg_minutes"), CHURN],
        [FieldName(TABLE, "avg_minutes"), MODEL, CHURN],
    ]
    assert found.completeness.complete
    assert not paths(graph, CHURN, column("silver/sessions", "minutes"), Question()).paths
    only_one = paths(graph, column("silver/sessions", "minutes"), CHURN, Question(), limit=1)
    assert (len(only_one.paths), only_one.completeness.complete, only_one.completeness.stopped_by) == (
        1,
        False,
        "paths",
    )


def test_paths_between_jobs(graph: StoreGraph) -> None:
    (path,) = paths(graph, job("clean_sessions"), job("train_model"), Question()).paths
    assert [step.target for step in path.steps] == [SESSIONS, TABLE, job("train_model")]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("predictions.churn_probability", CHURN),
        ("PREDICTIONS.Churn_Probability", CHURN),
        ("churn_probability", CHURN),
        ("usage_logs.last_login", column("raw/usage_logs.csv", "last_login")),
        ("usage_logs.csv.last_login", column("raw/usage_logs.csv", "last_login")),
        ("raw/usage_logs", USAGE),
        ("/lake/predictions", PREDICTIONS),
        ("gold/features", TABLE),
        ("features.email_hash", FieldName(TABLE, "email_hash")),
        ("train_model", job("train_model")),
        ("dataset:file:/lake/model", MODEL),
        ("datasetField:file:/lake/predictions:id", column("predictions", "id")),
    ],
)
def test_what_a_person_types(graph: StoreGraph, typed: str, meant: Node) -> None:
    answer = upstream(graph, resolve(graph, typed), Question(depth=0))
    assert answer.root == meant


def test_a_name_that_fits_several_nodes_is_refused(store: Engine) -> None:
    orders = [DatasetName("db", name) for name in ("shop.orders", "archive.orders", "orders_old", "Shop.Orders2")]
    load(store, World(statements=(), declared=tuple(FieldName(one, "id") for one in orders)))
    with reading(store) as connection, pytest.raises(AmbiguousNodeError) as caught:
        resolve(StoreGraph(connection), "orders.id")
    assert caught.value.candidates == ("datasetField:db:archive.orders:id", "datasetField:db:shop.orders:id")
    with reading(store) as connection:
        assert resolve(StoreGraph(connection), "shop.orders") == orders[0]
        assert resolve(StoreGraph(connection), "shop.orders2") == orders[3]


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("usge_logs.last_login", "datasetField:file:/lake/raw/usage_logs.csv:last_login"),
        ("predictions.churn", "datasetField:file:/lake/predictions:churn_probability"),
        ("predictons", "dataset:file:/lake/predictions"),
        ("dataset:file:/lake/modl", "dataset:file:/lake/model"),
    ],
)
def test_a_name_that_nothing_has_gets_the_nearest(graph: StoreGraph, typed: str, nearest: str) -> None:
    with pytest.raises(NodeNotFoundError) as caught:
        resolve(graph, typed)
    assert caught.value.nearest[0] == nearest


@pytest.mark.parametrize(
    "typed", ["", "  ", ".", "/", ":", "%", "_", "\\", "a%b", "run:x", "dataset:", "☃", "x" * 5_000]
)
def test_nonsense_is_not_found(graph: StoreGraph, typed: str) -> None:
    with pytest.raises(NodeNotFoundError):
        resolve(graph, typed)


def test_search_ignores_case_and_ranks_whole_parts_first(graph: StoreGraph) -> None:
    assert search(graph, "MODEL").names == (MODEL, job("train_model"))
    assert search(graph, "features.avg").names[0] in (
        FieldName(TABLE, "avg_minutes"),
        FieldName(FEATURES, "avg_minutes"),
    )
    assert search(graph, "%").names == ()
    assert search(graph, "").names == ()
    cut = search(graph, "e", limit=2)
    assert (len(cut.names), cut.complete) == (2, False)


def test_unknown_ids_are_left_out(graph: StoreGraph) -> None:
    assert graph.nodes([4, 5, 6, 7]) == {}
    assert graph.groups([]) == {}
    assert graph.edges([], Hop(Direction.UPSTREAM, Grain.FIELD), 10) == []
