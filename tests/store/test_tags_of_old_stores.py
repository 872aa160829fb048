"""A store of an earlier release knows no history of tags: after the upgrade its current tags count as always held."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from store.test_upgrade import copy_content, migrate_to
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.model.traits import read_traits
from whence.openlineage.write import dataset_event, deleted_facet, facet
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.migrations.migrate import migrate
from whence.store.snapshots.graph import StoreGraph

TABLE, OTHER = DatasetName("postgres://prod:5432", "shop.it's; DROP"), DatasetName("postgres://staging:5432", "shop")

pytestmark = pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")


def tagged(at: int, of: DatasetName, *keys: str) -> bytes:
    tags = [{"key": key, "value": "true", "source": "USER"} for key in keys]
    facets = {"tags": facet("TagsDatasetFacet", tags=tags) if tags else deleted_facet("TagsDatasetFacet")}
    return json.dumps(dataset_event(at, of, facets=facets)).encode()


EVENTS = [tagged(2, TABLE, "old"), tagged(5, TABLE, "pii"), tagged(3, OTHER, "phi"), tagged(4, OTHER)]


def keys_at(store: Engine, of: DatasetName, times: Sequence[int]) -> list[set[str]]:
    """The keys of its tags at each time."""
    with reading(store) as connection:
        graph = StoreGraph(connection)
        return [{key for key, _, _ in read_traits(graph.tags_at([node_id(of)], at)).tags} for at in times]


def test_the_current_tags_count_as_held_since_a_dataset_was_seen_first(store_url: str, tmp_path: Path) -> None:
    fresh, old = open_store(sqlite_url(tmp_path / "fresh.db")), open_store(store_url)
    migrate(fresh)
    apply_bodies(fresh, EVENTS)
    assert keys_at(fresh, TABLE, [1, 2, 4, 5, 9]) == [set(), {"old"}, {"old"}, {"pii"}, {"pii"}]
    assert keys_at(fresh, OTHER, [2, 3, 4]) == [set(), {"phi"}, set()]
    migrate_to(old, "0006")
    with reading(fresh) as source, writing(old) as target:
        copy_content(source, target)
    migrate(old)
    assert keys_at(old, TABLE, [1, 2, 4, 5, 9]) == [set(), *[{"pii"}] * 4]
    assert keys_at(old, OTHER, [2, 3, 4]) == [set()] * 3
    apply_bodies(old, [tagged(7, TABLE, "later")], first=9)
    assert keys_at(old, TABLE, [4, 6, 7]) == [{"pii"}, {"pii"}, {"later"}]
    for engine in (fresh, old):
        engine.dispose()
