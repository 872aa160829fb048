"""Every question, asked by somebody who may not see all: no forbidden name anywhere, and the numbers are true."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert

from query.worlds.random_policies import Policy, forbidden, policy, shown, spelled, world
from query.worlds.random_worlds import World, load, nodes_of
from whence.api.slack.messages import changes_message, impact_message, upstream_message
from whence.errors import NodeNotFoundError
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.slack_blocks import Message, document
from whence.model.graph import Direction
from whence.model.ids import hash64, node_id
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.values import Filter, Question
from whence.query.diagnosis.diagnosis import diagnose
from whence.query.history.changes.period import Period
from whence.query.history.changes.timeline import upstream_changes
from whence.query.history.diff import Side, diff
from whence.query.history.edge_changes import EdgeChange
from whence.query.history.history import history
from whence.query.lookup.search import search
from whence.query.questions.impact import Impact, impact
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.questions.paths import paths
from whence.query.questions.why import why
from whence.query.questions.why_not import why_not
from whence.query.rendering.diagnosis import diagnosis_listing
from whence.query.rendering.listings import (
    Listing,
    Whole,
    both_listing,
    diff_listing,
    found_listing,
    history_listing,
    impact_listing,
    lineage_listing,
    paths_listing,
    runs_listing,
    why_not_answer,
)
from whence.query.rendering.timeline import changes_listing
from whence.query.runs.run_lineage import resolve_run, run_lineage
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.connection.engine import reading, writing
from whence.store.schema.tables import facet, facet_body, schema_body, schema_version
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

WORLDS, WORLDS_LONG = 15, 120
"""Random worlds, ordinarily and with `--long`."""
SECRET = b"of this installation"
BEFORE = 5
ALWAYS = Period(since=0, until=1_000_000, is_now=True)


def test_no_question_tells_what_is_hidden(sqlite_store: Engine, pytestconfig: pytest.Config) -> None:
    asked, worlds = 0, WORLDS_LONG if pytestconfig.getoption("long") else WORLDS
    for seed in range(worlds):
        asked += _ask_all(sqlite_store, random.Random(f"questions {seed}"))
    assert asked > worlds / 3


def test_so_it_is_on_each_store(store: Engine) -> None:
    assert sum(_ask_all(store, random.Random(f"each {seed}")) for seed in range(12))


def _ask_all(engine: Engine, dice: random.Random) -> bool:
    """Ask everything about two visible nodes of a random world; False if there are none."""
    one = _with_a_past(world(dice))
    rule = policy(dice, one)
    load(engine, one)
    with writing(engine) as connection:
        _describe(connection, one)
    visible = [node for node in sorted(nodes_of(one), key=str) if _is_known(one, rule, node)]
    if not visible:
        return False
    root, other = dice.choice(visible), dice.choice(visible)
    with reading(engine) as connection:
        truth = StoreGraph(connection)
        graph = seen_by(rule.viewer, SECRET, truth)
        answers = list(_answers(graph, root, other)) + list(_runs(graph, one, rule))
        output = json.dumps([answer.document() for answer in answers]) + "".join(answer.csv() for answer in answers)
        output += json.dumps([document(message) for message in _messages(graph, root)])
        assert not [text for text in _secrets(one, rule) if text in output]
        _check_numbers(one, rule, graph, truth, root)
        _check_the_unknown(one, rule, graph, root)
    return True


def _secrets(one: World, rule: Policy) -> set[str]:
    return forbidden(one, rule) - {"none"}  # a word of ours, too


def _answers(graph: QuestionGraph, root: Node, other: Node) -> Iterator[Listing | Whole]:
    question = Question()
    yield both_listing(reach_upstream(graph, root, question), reach_downstream(graph, root, question))
    yield impact_listing(impact(graph, root, question))
    yield impact_listing(impact(graph, root, Question(only=Filter(kinds=("job",)))))
    yield lineage_listing(reach_downstream(graph, root, Question(only=Filter(kinds=("job", "dataset")))))
    yield paths_listing(paths(graph, root, other, question, 20))
    yield paths_listing(why(graph, root, other, question))
    yield why_not_answer(why_not(graph, str(root), str(other), question))
    yield history_listing(history(graph, root))
    yield diff_listing(diff(Side(graph, BEFORE), Side(graph)))
    yield changes_listing(upstream_changes(graph, _contracts(graph), root, ALWAYS, question))
    if not isinstance(root, JobName):
        yield diagnosis_listing(diagnose(graph, _contracts(graph), root, ALWAYS, question))
    for word in ("q", "col", "tbl", "job", "z"):
        yield found_listing(search(graph, word, 1_000))


def _messages(graph: QuestionGraph, root: Node) -> Iterator[Message]:
    question, base = Question(), "https://whence.test"
    yield changes_message(upstream_changes(graph, _contracts(graph), root, ALWAYS, question), base, "24h")
    yield upstream_message(reach_upstream(graph, root, question), base)
    yield impact_message(impact(graph, root, question), base)


def _contracts(graph: QuestionGraph) -> EvaluatedContracts:
    assert isinstance(graph, VisibleGraph)
    truth = graph.visible_ids.graph
    assert isinstance(truth, StoreGraph)
    catalog = StoreCatalog(truth.connection)
    scope = scope_of(graph.visible_ids.pseudonyms.viewer, catalog.every_namespace())
    return EvaluatedContracts(VisibleCatalog(graph.visible_ids, replace(catalog, scope=scope)), graph)


def _runs(graph: QuestionGraph, one: World, rule: Policy) -> Iterator[Listing]:
    for statement in one.statements:
        job = statement.owner
        if isinstance(job, JobName) and job.namespace in rule.namespaces:
            for direction in Direction:
                yield runs_listing(run_lineage(graph, resolve_run(graph, statement.run_id), direction))
        elif isinstance(job, JobName):
            with pytest.raises(NodeNotFoundError):
                resolve_run(graph, statement.run_id)


def _check_numbers(one: World, rule: Policy, graph: QuestionGraph, truth: QuestionGraph, root: Node) -> None:
    seen, true = impact(graph, root, Question()), impact(truth, root, Question())
    assert seen.counts.nodes == true.counts.nodes
    assert seen.counts.by_distance == true.counts.by_distance
    names = {known for name in _names(true) if (known := shown(one, rule, name)) is not None}
    assert names <= _names(seen)
    assert seen.completeness.hidden_nodes == len(_names(seen)) - len(names)
    ours, theirs = (diff(Side(which, BEFORE), Side(which)).edges for which in (graph, truth))
    met = [[edge for edge in some if _is_met(one, rule, edge)] for some in (theirs.added, theirs.removed)]
    assert [len(ours.added), len(ours.removed)] == list(map(len, met))
    assert len(history(graph, root).lineage) >= len({version.owner for version in history(truth, root).lineage})
    assert graph.blast(node_id(root)) is None


def _is_met(one: World, rule: Policy, edge: EdgeChange) -> bool:
    """Whether an end of an edge may be seen, or who says it: aliases are not folded."""
    return any(_is_known(one, rule, node) for node in (edge.source, edge.target, edge.owner))


def _names(found: Impact) -> set[Node]:
    return {node.name for node in found.nodes()}


def _check_the_unknown(one: World, rule: Policy, graph: QuestionGraph, root: Node) -> None:
    """A hidden name is as unknown as none, also to who asks why not."""
    for node in sorted(nodes_of(one), key=str):
        if _is_known(one, rule, node) or isinstance(node, FieldName):
            continue
        answer = why_not(graph, str(node), str(root), Question())
        made_up = why_not(graph, str(replace(node, name="zzz")), str(root), Question())
        assert (answer.reason in ("no event", "name mismatch")) == (made_up.reason in ("no event", "name mismatch"))
        output = f"{answer.detail}{answer.nearest}".replace(str(node), "")
        assert not [text for text in _secrets(one, rule) if text in output]
        assert graph.nodes([node_id(node)]) == {}


def _is_known(one: World, rule: Policy, node: Node) -> bool:
    whole = node.dataset if isinstance(node, FieldName) else node
    return whole.namespace in rule.namespaces and shown(one, rule, node) is not None


def _with_a_past(one: World) -> World:
    """Half of what everybody says now was said before, too, by another run."""
    past = [
        replace(
            statement,
            edges=spelled(statement.edges[::2]),
            start=0,
            end=statement.start,
            run_id=f"old-{statement.run_id}",
        )
        for statement in one.statements
    ]
    # What a dataset says comes from a run, too: here of this job.
    return replace(one, statements=(*past, *one.statements), jobs=(*one.jobs, JobName("none", "none")))


def _describe(connection: Connection, one: World) -> None:
    """Give every dataset a schema, tags of its fields and an owner, every job a place of its code; all name them."""
    facets: list[tuple[Node, str, dict[str, Any]]] = []
    for node in sorted(nodes_of(one), key=str):
        match node:
            case DatasetName(_, name):
                fields = [field.field for field in one.declared if field.dataset == node]
                tags = {"tags": [{"key": f"pii-{field}", "value": "true", "field": field} for field in fields]}
                facets += [(node, "tags", tags), (node, "ownership", {"owners": [{"name": f"team-{name}"}]})]
                facets += [(node, "symlinks", {"identifiers": [str(one) for one in one.groups]})]
                schema = {"fields": [{"name": field, "type": f"type-of-{field}"} for field in fields]}
                _schema(connection, node, json.dumps(schema))
            case JobName(_, name):
                facets += [(node, "sourceCodeLocation", {"url": f"https://git/{name}", "version": name})]
                facets += [(node, "sql", {"query": f"select {[str(node) for node in nodes_of(one)]}"})]
    for node, name, payload in facets:
        body = {"subject_id": node_id(node), "name": name, "body_id": hash64(json.dumps(payload))}
        connection.execute(insert(facet), {**body, "time": 1, "rank": 0, "event_id": 0})
        connection.execute(insert(facet_body), {**body, "payload": json.dumps(payload)})


def _schema(connection: Connection, of: DatasetName, payload: str) -> None:
    body = {"dataset_id": node_id(of), "body_id": hash64(payload)}
    times = {"first_time": 1, "first_event": 1, "last_time": 1, "last_event": 1}
    connection.execute(insert(schema_version), {**body, **times})
    connection.execute(insert(schema_body), {**body, "payload": payload})


def test_facets_are_shown_as_far_as_their_shape_is_known(sqlite_store: Engine) -> None:
    dice = random.Random(7)
    one = world(dice)
    rule = Policy(frozenset(("nsalpha", "nsbeta", "nsgamma")), frozenset({("tblaq", 0)}))
    load(sqlite_store, one)
    with writing(sqlite_store) as connection:
        _describe(connection, one)
    of = next(node for node in nodes_of(one) if isinstance(node, DatasetName) and node.name == "tblaq")
    (kept,) = [field.field for field in one.declared if field.dataset == of and field.field.startswith("col1")]
    with reading(sqlite_store) as connection:
        graph = seen_by(rule.viewer, SECRET, StoreGraph(connection))
        rows = {
            row.name: json.loads(row.payload) for row in graph.facets([node_id(of)], ("tags", "ownership", "symlinks"))
        }
        (schema,) = graph.schemas([node_id(of)])
    assert rows == {
        "tags": {"tags": [{"key": f"pii-{kept}", "value": "true", "field": kept}]},
        "ownership": {"owners": [{"name": "team-tblaq"}]},
    }
    hidden, visible = json.loads(schema.payload)["fields"]
    assert visible == {"name": kept, "type": f"type-of-{kept}"}
    assert hidden.keys() == {"name"}
    assert hidden["name"].startswith("hidden-")
