"""Which columns are made of and influenced by which, against a plain search over random worlds, for everybody."""

import json
import random
from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection, Engine

from query.worlds.brute_force import one_name
from query.worlds.random_policies import Policy, forbidden, policy, shown, world
from query.worlds.random_worlds import World, load, nodes_of
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import Question
from whence.query.questions.columns import Columns, columns
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.expressions import Expressions
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.pseudonyms import Pseudonyms
from whence.query.visibility.visible_ids import VisibleIds
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

WORLDS = 250
SECRET = b"of this installation"
Edge = tuple[Node, Node, Node, str]
"""Source, target, owner and type."""


def test_all_edges_between_columns_are_in_the_name_that_was_asked_for(sqlite_store: Engine) -> None:
    copied = 0
    for seed in range(WORLDS):
        copied += check(sqlite_store, random.Random(f"columns {seed}"))
    assert copied > WORLDS / 2, "influences on whole datasets are met"


def test_so_it_is_on_each_store(store: Engine) -> None:
    for seed in range(15):
        check(store, random.Random(f"stored {seed}"))


def check(engine: Engine, dice: random.Random) -> int:
    """Ask of a random world; how many edges of the answer are copies."""
    of = with_schemas(world(dice), dice)
    load(engine, of)
    fields = [one for one in nodes_of(of) if isinstance(one, FieldName | DatasetName)]
    root, downstream = dice.choice(sorted(fields, key=str)), dice.random() < 0.7
    want, copied = expected(of, root, downstream)
    with reading(engine) as connection:
        found = columns(StoreCatalog(connection), StoreGraph(connection), [root], Question(), downstream=downstream)
        assert edges_of(found) == {renamed(edge, one_name(of)(root), root) for edge in want}
        ends = {end for edge in found.edges for end in (edge.source, edge.target)}
        assert set(found.fields) == ends | ({root} if isinstance(root, FieldName) else set())
        rule = policy(dice, of)
        if is_known(of, rule, root):
            check_hiding(connection, of, rule, root, downstream, want)
    return len(copied)


def check_hiding(
    connection: Connection, of: World, rule: Policy, root: Node, downstream: bool, want: Iterable[Edge]
) -> None:
    """Who may not see all gets what they may see, in the name that they asked for, and nothing else by name."""
    truth = StoreGraph(connection)
    visible_ids = VisibleIds(truth, Pseudonyms.of(rule.viewer, SECRET))
    scope = scope_of(rule.viewer, StoreCatalog(connection).every_namespace())
    catalog, graph = (
        VisibleCatalog(visible_ids, StoreCatalog(connection, scope)),
        VisibleGraph(visible_ids, Expressions(visible_ids)),
    )
    found = columns(catalog, graph, [root], Question(), downstream=downstream)
    assert not [text for text in forbidden(of, rule) if text in str(found)]
    names = {node: known for edge in want for node in edge[:2] if (known := shown(of, rule, node))}
    plain = {(names[edge[0]], names[edge[1]], *edge[2:]) for edge in want if names.keys() >= set(edge[:2])}
    asked = shown(of, rule, one_name(of)(root))
    got = {(source, target, type_) for source, target, _, type_ in edges_of(found)}
    assert {(source, target, type_) for source, target, _, type_ in (renamed(one, asked, root) for one in plain)} <= got


def with_schemas(of: World, dice: random.Random) -> World:
    """Some datasets have a schema, of which only the last counts; one column of it is in no lineage."""
    schemas = []
    known = {one_name(of)(one) for one in nodes_of(of)}
    for one in sorted((one for one in known if isinstance(one, DatasetName)), key=str):
        if dice.random() < 0.6:
            own = [field.field for field in of.declared if field.dataset == one]
            for time, names in ((1, ["col0gone"]), (2, [*own, f"col1only{one.name}"])):
                schemas.append((one, json.dumps({"fields": [{"name": name} for name in names]}), time, time))
    return replace(of, schemas=tuple(schemas))


def expected(of: World, root: Node, downstream: bool) -> tuple[set[Edge], set[Edge]]:
    """The edges that hang together with the root, under one name for each thing; and which of them are copies."""
    name = one_name(of)
    edges = [
        (name(edge.source), name(edge.target), statement.owner, edge.type)
        for statement in of.statements
        for edge, _ in statement.edges
    ]
    every = set(filter(is_of_columns, edges))
    copies: set[Edge] = {
        (source, column, owner, type_)
        for source, target, owner, type_ in edges
        if isinstance(source, FieldName) and isinstance(target, DatasetName) and type_ == "INDIRECT"
        for column in columns_of(of, target, edges) | ({name(root)} if whole(root, of) == target else set())
        if isinstance(column, FieldName)
    }
    found = closure(of, every | copies, name(root), 1, 0)
    return (found | closure(of, every | copies, name(root), 0, 1) if downstream else found), copies & found


def is_of_columns(edge: Edge) -> bool:
    return isinstance(edge[0], FieldName) and isinstance(edge[1], FieldName)


def columns_of(of: World, dataset: DatasetName, edges: Iterable[Edge]) -> set[FieldName]:
    """The columns of its last schema, and those at which there is an edge."""
    last = [payload for one, payload, time, _ in of.schemas if one_name(of)(one) == dataset and time == 2]
    listed = {
        FieldName(dataset, field["name"]) for payload in sorted(last)[-1:] for field in json.loads(payload)["fields"]
    }
    ends = {end for edge in edges for end in edge[:2] if isinstance(end, FieldName)}
    return listed | {end for end in ends if end.dataset == dataset}


def whole(node: Node, of: World) -> Node | None:
    """The dataset of a field, or a dataset, under the one name of each thing."""
    named = one_name(of)(node)
    return named.dataset if isinstance(named, FieldName) else named if isinstance(named, DatasetName) else None


def closure(of: World, every: set[Edge], root: Node, near: int, far: int) -> set[Edge]:
    """The edges that lead on from the root, or from any column of it."""
    ends = {end for source, target, *_ in every for end in (source, target)}
    frontier: set[Node] = {root} if isinstance(root, FieldName) else {end for end in ends if whole(end, of) == root}
    found: set[Edge] = set()
    while new := {edge for edge in every if edge[near] in frontier} - found:
        found |= new
        frontier |= {edge[:2][far] for edge in new}
    return found


def edges_of(found: Columns) -> set[Edge]:
    """The edges of an answer, one for each type."""
    return {(one.source, one.target, one.owner, how.type) for one in found.edges for how in one.transformations}


def renamed(edge: Edge, known: Node | None, asked: Node) -> Edge:
    """The edge, its ends in the dataset that goes by a known name under the one that was asked for."""
    shown_as, wanted = (one.dataset if isinstance(one, FieldName) else one for one in (known, asked))

    def name(end: Node) -> Node:
        if not isinstance(end, FieldName) or end.dataset != shown_as:
            return end
        assert isinstance(wanted, DatasetName)
        return FieldName(wanted, end.field)

    return name(edge[0]), name(edge[1]), *edge[2:]


def is_known(of: World, rule: Policy, node: Node) -> bool:
    """Whether the viewer knows a node by this name of it."""
    dataset = node.dataset if isinstance(node, FieldName) else node
    return dataset.namespace in rule.namespaces and shown(of, rule, one_name(of)(node)) is not None
