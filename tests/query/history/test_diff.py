"""`diff` finds what was seeded and nothing else: between instants, stores and runs; on both stores."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from sqlalchemy import Engine

from fixtures.examples import examples
from fixtures.migrated_stores import open_migrated
from query.traversal.test_walk_oracle import slow, worlds
from query.worlds.random_worlds import Statement, World, load
from whence.model.lineage import GAPS, Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.transformations import Transformation
from whence.query.history.diff import Diff, Side, diff
from whence.query.history.edge_changes import EdgeChange
from whence.query.runs.run_lineage import resolve_run
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.graph import StoreGraph

Key = tuple[Node, Node, Node]
State = dict[Key, frozenset[tuple[str, str, bool, str]]]
"""Source, target, owner → type, subtype, masking, expression."""


@dataclass(frozen=True)
class Expected:
    """What differs between two states, found by looking at everything."""

    added: set[Node]
    removed: set[Node]
    edges_added: set[Key]
    edges_removed: set[Key]
    edges_changed: set[Key]


def state(world: World, at: int) -> State:
    """All that holds at a time."""
    found: dict[Key, set[tuple[str, str, bool, str]]] = {}
    for statement in world.statements:
        if statement.start <= at < statement.end:
            for one, origin in statement.edges:
                if origin in GAPS:
                    continue  # a gap, no edge
                key = (one.source, one.target, statement.owner)
                found.setdefault(key, set()).add((one.type, one.subtype, one.masking, one.description))
    return {key: frozenset(several) for key, several in found.items()}


def expected(before: State, after: State) -> Expected:
    """Straight from the definition."""
    old, new = ({end for key in one for end in key[:2]} for one in (before, after))
    return Expected(
        added=new - old,
        removed=old - new,
        edges_added=set(after) - set(before),
        edges_removed=set(before) - set(after),
        edges_changed={key for key in set(before) & set(after) if before[key] != after[key]},
    )


def found_by(one: Diff) -> Expected:
    """The same of an answer."""

    def keys(several: tuple[EdgeChange, ...]) -> set[Key]:
        found = {(change.source, change.target, change.owner) for change in several}
        assert len(found) == len(several)
        return found

    edges = one.edges
    return Expected(set(one.added), set(one.removed), keys(edges.added), keys(edges.removed), keys(edges.changed))


@settings(slow, max_examples=examples(100))
@given(world=worlds())
def test_two_instants(sqlite_store: Engine, world: World) -> None:
    load(sqlite_store, world)
    with reading(sqlite_store) as connection:
        graph = StoreGraph(connection)
        for before, after in ((5, 15), (15, 25), (25, 15), (19, 20), (5, None)):
            found = diff(Side(graph, before), Side(graph, after))
            states = state(world, before), state(world, 10**18 if after is None else after)
            assert found_by(found) == expected(*states)
            assert found.is_empty == (states[0] == states[1])
            for change in found.edges.changed:
                key = (change.source, change.target, change.owner)
                assert [{_texts(one) for one in side} for side in (change.before, change.after)] == [
                    set(one[key]) for one in states
                ]


def _texts(one: Transformation) -> tuple[str, str, bool, str]:
    return (one.type, one.subtype, one.masking, one.description)


@pytest.fixture
def two_stores(store: Engine, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """A store of each kind in turn, and one of SQLite."""
    other = open_migrated(sqlite_url(tmp_path / "other.db"))
    yield store, other
    other.dispose()


@dataclass(frozen=True)
class Seeded:
    """A world, the same with changes, and which."""

    before: World
    after: World
    changes: Expected


def seeded(jobs: int, columns: int, changes: int, seed: int) -> Seeded:
    """A chain of jobs over tables; of some jobs one column edge goes, comes, or says another expression."""
    rng = Random(seed)
    before = [_statement(number, columns, {}) for number in range(jobs)]
    changed = rng.sample(range(jobs), changes)
    after, found = list(before), Expected(set(), set(), set(), set(), set())
    for place, number in enumerate(changed):
        owner, column = JobName("seed", f"job{number}"), rng.randrange(columns)
        source, target = (FieldName(_table(number + one), f"c{column}") for one in (0, 1))
        match place % 3:
            case 0:
                after[number] = _statement(number, columns, {column: "other(x)"})
                found.edges_changed.add((source, target, owner))
            case 1:
                after[number] = _statement(number, columns, {column: None})
                found.edges_removed.add((source, target, owner))
            case _:
                new = FieldName(_table(number + 1), f"new{number}")
                extra = (Edge(source=source, target=new, type="DIRECT"), Origin.COLUMN)
                after[number] = replace(before[number], edges=(*before[number].edges, extra))
                found.edges_added.add((source, new, owner))
                found.added.add(new)
    ends = {end for statement in after for one, _ in statement.edges for end in (one.source, one.target)}
    old = {end for statement in before for one, _ in statement.edges for end in (one.source, one.target)}
    found.removed.update(old - ends)
    return Seeded(World(statements=tuple(before)), World(statements=tuple(after)), found)


def _table(number: int) -> DatasetName:
    return DatasetName("seed", f"t{number}")


def _statement(number: int, columns: int, expressions: dict[int, str | None]) -> Statement:
    source, target, owner = _table(number), _table(number + 1), JobName("seed", f"job{number}")
    texts = {f"c{c}": expressions.get(c, "f(x)") for c in range(columns)}
    edges = [
        (Edge(source=FieldName(source, c), target=FieldName(target, c), type="DIRECT", description=text), Origin.COLUMN)
        for c, text in texts.items()
        if text is not None
    ]
    whole = (Edge(source=source, target=target, type="DIRECT"), Origin.COLUMN)
    return Statement(owner=owner, edges=(*edges, whole), run_id=f"{number:08x}-0000-4000-8000-000000000000")


@pytest.mark.parametrize("seed", [1, 2])
def test_two_stores(two_stores: tuple[Engine, Engine], seed: int) -> None:
    made = seeded(jobs=60, columns=5, changes=12, seed=seed)
    for engine, world in zip(two_stores, (made.before, made.after), strict=True):
        load(engine, world)
    with reading(two_stores[0]) as one, reading(two_stores[1]) as other:
        found = diff(Side(StoreGraph(one)), Side(StoreGraph(other)))
        assert found_by(found) == made.changes
        assert diff(Side(StoreGraph(one)), Side(StoreGraph(one))).is_empty


def test_two_runs(store: Engine) -> None:
    one, other = _statement(1, 3, {}), _statement(1, 3, {0: "g(x)", 2: None})
    ids = ("0b5ba1e0-0000-4000-8000-00000000000a", "0b5ba1e0-0000-4000-8000-00000000000b")
    stands = JobName("seed", "stands_in")
    load(
        store,
        World(statements=(replace(one, run_id=ids[0], end=9), replace(other, run_id=ids[1], owner=stands, start=9))),
    )
    with reading(store) as connection:
        graph = StoreGraph(connection)
        sides = [Side(graph, run=resolve_run(graph, run)) for run in ids]
        sides = [replace(side, job=stands) for side in sides]
        found = found_by(diff(*sides))
    column = [FieldName(_table(1 + place), "c2") for place in (0, 1)]
    assert found.edges_removed == {(*column, stands)}
    assert found.edges_changed == {(FieldName(_table(1), "c0"), FieldName(_table(2), "c0"), stands)}
    assert (found.removed, found.edges_added, found.added) == (set(column), set(), set())


def test_schemas(store: Engine) -> None:
    of, new = DatasetName("db", "orders"), DatasetName("db", "fresh")

    def schema(**columns: str) -> str:
        return json.dumps({"fields": [{"name": name, "type": type_} for name, type_ in columns.items()]})

    schemas = (
        (of, schema(id="int", total="float", gone="text"), 10, 20),
        (of, schema(id="bigint", total="float", added="text"), 30, 40),
        (new, schema(id="int"), 30, 40),
    )
    load(store, World(statements=(), schemas=schemas))
    with reading(store) as connection:
        graph = StoreGraph(connection)
        found = diff(Side(graph, 25), Side(graph))
        assert diff(Side(graph, 11), Side(graph, 25)).is_empty
    assert found.added == tuple(sorted([FieldName(of, "added"), new, FieldName(new, "id")], key=str))
    assert found.removed == (FieldName(of, "gone"),)
    assert [(one.field, one.before, one.after) for one in found.retyped] == [(FieldName(of, "id"), "int", "bigint")]
