"""Labels as of a time in the past: those that a store has that was filled up to then, in whatever order events came."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from query.sensitivity.test_random_edits import COLUMNS, DATASETS, Edits, Grades, read_labels
from query.worlds.sensitive_story import HOUR
from whence.model.graph import Direction
from whence.model.ids import node_id
from whence.model.names import FieldName
from whence.model.sensitivity import Grade
from whence.query.answers.values import Question
from whence.query.sensitivity.data_subject import tagged_datasets
from whence.query.sensitivity.labels import SensitivityQuestion, sensitivity
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

FEW, MANY = 8, 100
EDITS, BATCH = 60, 7


def test_labels_of_the_past_are_those_of_a_store_filled_up_to_then(
    store: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    times = MANY if request.config.getoption("long") else FEW
    dice, edits = random.Random(3), Edits(random.Random(2))
    bodies, expected, tagged = [], [edits.labels()], [marked(edits)]
    for _ in range(EDITS * times // FEW):
        bodies.append(edits.edit())
        expected.append(edits.labels())
        tagged.append(marked(edits))
    shuffled = dice.sample(bodies, len(bodies))
    for start in range(0, len(shuffled), BATCH):
        apply_bodies(store, shuffled[start : start + BATCH], first=start + 1)
    then = open_migrated(sqlite_url(tmp_path / "then.db"))
    for place in dice.sample(range(len(bodies) + 1), times):
        empty(then)
        apply_bodies(then, bodies[:place])
        for at in (place * HOUR, (place + 1) * HOUR - 1):
            assert read_labels(store, at) == read_labels(then) == expected[place], at
            assert questioned(store, at) == expected[place], at
            assert named(store, at) == named(then, None) == tagged[place], at
    then.dispose()


def marked(edits: Edits) -> set[str]:
    """The datasets with tags."""
    return {str(name) for name, tags in edits.tags.items() if tags}


def named(store: Engine, at: int | None) -> set[str]:
    """The datasets from which the search for a person's data starts."""
    with reading(store) as connection:
        return set(map(str, tagged_datasets(StoreCatalog(connection), (), at)))


def questioned(store: Engine, at: int) -> Mapping[FieldName, Grades]:
    """The labels of all columns, as one question for each column gives them."""
    upstream = SensitivityQuestion(direction=Direction.UPSTREAM, range=Question(at=at), at_least=Grade.INFLUENCED)
    with reading(store) as connection:
        graph = StoreGraph(connection)
        columns = [FieldName(of, name) for of in DATASETS for name in COLUMNS]
        known = [one for one in columns if graph.nodes([node_id(one)])]
        labels = [one for name in known for one in sensitivity(graph, name, upstream).labels]
    return {one.node: (one.grade, one.proven) for one in labels if isinstance(one.node, FieldName)}
