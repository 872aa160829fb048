"""What a viewer may not see is in no byte of an answer; the rest is all there, and what is hidden is counted."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Engine

from query.worlds.churn_story import BUILD, CRM, WORLD, column, data, job
from query.worlds.memory_graph import memory_graph
from query.worlds.random_policies import Policy, forbidden, policy, producer, shown, world
from query.worlds.random_worlds import World, load, nodes_of
from whence.errors import NodeNotFoundError
from whence.model.access import OPEN, Grant, Hiding, Role, Viewer
from whence.model.names import FieldName, JobName, Node
from whence.query.answers.values import Answer, Question
from whence.query.lookup.resolve import resolve
from whence.query.lookup.search import search
from whence.query.questions.lineage import downstream, reach_downstream, reach_upstream, upstream
from whence.query.questions.paths import paths
from whence.query.rendering.listings import Listing, found_listing, lineage_listing, paths_listing
from whence.query.traversal.evidence import prove
from whence.query.visibility.graph import seen_by
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

GRAPHS, GRAPHS_LONG = 1_000, 10_000
SECRET = b"of this installation"


@pytest.mark.parametrize("part", range(10))
def test_nothing_forbidden_is_in_any_answer_and_the_rest_is_true(part: int, pytestconfig: pytest.Config) -> None:
    for seed in range(part, GRAPHS_LONG if pytestconfig.getoption("long") else GRAPHS, 10):
        dice = random.Random(seed)
        one = world(dice)
        check(one, policy(dice, one), memory_graph(one, producer), dice)


def test_so_it_is_on_each_store(store: Engine) -> None:
    for seed in range(40):
        dice = random.Random(f"stored {seed}")
        one = world(dice)
        load(store, one)
        with reading(store) as connection:
            check(one, policy(dice, one), StoreGraph(connection), dice)


def test_the_graph_in_memory_answers_as_a_store_does(sqlite_store: Engine) -> None:
    for seed in range(60):
        dice = random.Random(f"equal {seed}")
        one = world(dice)
        load(sqlite_store, one)
        root = dice.choice(sorted(nodes_of(one), key=str))
        with reading(sqlite_store) as connection:
            for ask in (upstream, downstream):
                stored, held = ask(StoreGraph(connection), root, Question()), ask(memory_graph(one), root, Question())
                assert (stored.nodes, stored.gaps, stored.completeness) == (held.nodes, held.gaps, held.completeness), (
                    seed
                )


def check(one: World, rule: Policy, graph: QuestionGraph, dice: random.Random) -> None:
    """One walk, one list of paths, one search and one mistake of a viewer, against what is true."""
    nodes = sorted(nodes_of(one), key=str)
    asked = seen_by(rule.viewer, SECRET, graph)
    root, other = dice.choice(nodes), dice.choice(nodes)
    if any(_known(one, rule, end) is None for end in (root, other)):
        _check_refused(one, rule, asked, root if _known(one, rule, root) is None else other)
        return
    question = Question(depth=dice.choice((None, None, 1, 2)))
    ask = dice.choice((upstream, downstream))
    answer = ask(asked, resolve(asked, str(root)), question)
    _check_answer(one, rule, ask(graph, root, question), answer)
    found = paths(asked, root, other, question, 50)
    truth = paths(graph, root, other, question, 50)
    assert [len(path.steps) for path in found.paths] == [len(path.steps) for path in truth.paths]
    names = search(asked, dice.choice(("q", "col", "tbl", "job")), 100)
    _check_found(one, rule, names.names)
    proved = [prove(asked, edge, None) for edge in answer.edges]
    reach = reach_upstream if ask is upstream else reach_downstream
    listings = lineage_listing(reach(asked, root, question)), paths_listing(found), found_listing(names)
    _check_silence(one, rule, listings, (answer, found, proved))


def _known(one: World, rule: Policy, node: Node) -> Node | None:
    """The node, if the viewer knows it by this name."""
    whole = node.dataset if isinstance(node, FieldName) else node
    return node if whole.namespace in rule.namespaces and shown(one, rule, node) is not None else None


def _check_refused(one: World, rule: Policy, asked: QuestionGraph, hidden: Node) -> None:
    with pytest.raises(NodeNotFoundError) as refused:
        resolve(asked, str(hidden))
    message = f"{refused.value}{refused.value.nearest}".replace(str(hidden), "")  # what was typed comes back
    assert not [text for text in forbidden(one, rule) if text in message]


def _check_answer(one: World, rule: Policy, truth: Answer, answer: Answer) -> None:
    names = {node.name: shown(one, rule, node.name) for node in truth.nodes}
    hidden = [name for name, known in names.items() if known is None]
    reached = {node.name: node.depth for node in answer.nodes}
    visible = {names[node.name]: node.depth for node in truth.nodes if names[node.name] is not None}
    assert visible.items() <= reached.items()
    assert answer.completeness.hidden_nodes == len(hidden) == len(reached) - len(visible)
    assert len(answer.edges) == len(truth.edges)
    assert len(answer.gaps) == len(truth.gaps)
    assert len(answer.completeness.frontier) == len(truth.completeness.frontier)
    assert (answer.completeness.complete, answer.completeness.depth_reached) == (
        truth.completeness.complete,
        truth.completeness.depth_reached,
    )
    shapes = [sorted((node.depth, len(node.aliases)) for node in one.nodes) for one in (truth, answer)]
    assert shapes[0] == shapes[1]


def _check_found(one: World, rule: Policy, names: tuple[Node, ...]) -> None:
    assert all(_known(one, rule, name) == name for name in names)


def _check_silence(one: World, rule: Policy, listings: Sequence[Listing], answers: Any) -> None:
    documents = json.dumps([listing.document() for listing in listings])
    dump = f"{documents}{[listing.csv() for listing in listings]}{answers}"
    assert not [text for text in forbidden(one, rule) if text in dump]


LAKE = Viewer(name="key:lake", grants=(Grant(Role.READER, "file"), Grant(Role.READER, "churn")))


def answer_of(viewer: Viewer, root: Node) -> Answer:
    return upstream(seen_by(viewer, SECRET, memory_graph(WORLD)), root, Question())


def test_who_sees_all_asks_the_graph_itself() -> None:
    graph = memory_graph(WORLD)
    assert seen_by(OPEN, SECRET, graph) is graph


def test_a_hidden_job_leaves_its_edges_and_takes_its_evidence() -> None:
    lake_only = Viewer(name="key:lake", grants=(Grant(Role.READER, "file"),))
    answer = answer_of(lake_only, column("gold/features", "email_hash"))
    (edge,) = answer.edges
    assert (edge.source, edge.target) == (column("raw/customers.csv", "email"), column("gold/features", "email_hash"))
    assert isinstance(edge.owner, JobName)
    assert edge.owner.namespace == "hidden"
    assert [one.description for one in edge.transformations] == [""]
    assert {one.producer for seen in edge.evidence for one in (seen.first, seen.last)} == {"hidden"}
    assert {run.name.job for seen in edge.evidence for run in seen.runs} == {edge.owner}


def test_an_expression_is_shown_to_who_sees_all_that_its_target_is_made_of() -> None:
    mail = column("gold/features", "email_hash")
    (edge,) = answer_of(LAKE, mail).edges
    assert [one.description for one in edge.transformations] == [
        one.description for one, _ in BUILD if one.target == mail
    ]
    blind = Viewer(name="key:blind", grants=LAKE.grants, hidings=(Hiding("file", "*silver/sessions", "minutes"),))
    assert {one.description for edge in answer_of(blind, mail).edges for one in edge.transformations} == {""}


def test_a_hidden_field_keeps_its_place_in_its_dataset() -> None:
    viewer = Viewer(name="key:blind", grants=LAKE.grants, hidings=(Hiding("file", "*customers.csv", "email"),))
    answer = answer_of(viewer, column("gold/features", "email_hash"))
    (source,) = [edge.source for edge in answer.edges]
    assert isinstance(source, FieldName)
    assert source.dataset == CRM
    assert source.field.startswith("hidden-")
    assert answer.completeness.hidden_nodes == 1


def test_a_steward_sees_the_fields_that_are_hidden_in_their_namespace() -> None:
    rules = (Hiding("*", "*", "email"),)
    steward = Viewer(name="user:s", grants=(Grant(Role.STEWARD, "file"), Grant(Role.READER, "churn")), hidings=rules)
    assert column("raw/customers.csv", "email") in {
        node.name for node in answer_of(steward, column("gold/features", "email_hash")).nodes
    }


def test_tokens_are_stable_for_a_viewer_and_incomparable_between_viewers() -> None:
    root, readers = data("predictions"), [Grant(Role.READER, "file")]
    ada, bob = (Viewer(name=name, grants=tuple(readers)) for name in ("user:ada", "user:bob"))
    first, again, other = (str(answer_of(viewer, root).edges) for viewer in (ada, ada, bob))
    tokens = [{str(one.owner) for one in answer_of(viewer, root).edges} for viewer in (ada, bob)]
    assert first == again != other
    assert tokens[0]
    assert not tokens[0] & tokens[1]


def test_a_hidden_name_is_as_unknown_as_one_that_is_not_there() -> None:
    asked = seen_by(Viewer(name="user:n", grants=(Grant(Role.READER, "churn"),)), SECRET, memory_graph(WORLD))
    for typed in (str(data("predictions")), "dataset:file:/lake/nowhere"):
        with pytest.raises(NodeNotFoundError) as refused:
            resolve(asked, typed)
        assert refused.value.nearest == ()
    assert resolve(asked, "score") == job("score")
