"""Editions: what changed since one is known, of this store only; a file of arrays that is not its own is not used."""

import json
from collections.abc import Collection
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete

from fixtures.stores_of_events import apply_bodies
from query.worlds.churn_story import WORLD, job
from query.worlds.random_worlds import load
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.openlineage.write import dataset_event, facet
from whence.store.adjacency.cache import AdjacencyCache, build_file
from whence.store.adjacency.csr import MAGIC, read_csr
from whence.store.connection.engine import reading, writing
from whence.store.ingest.change_log import (
    GROUP,
    OWNER,
    TRAITS,
    ChangeVersion,
    change,
    change_version,
    changed_since,
    close_change_version,
    is_known,
    note_changes,
    read_change_version,
)

SCORE, TRAIN = node_id(job("score")), node_id(job("train"))


def change_edges(store: Engine, *owners: int) -> ChangeVersion:
    with writing(store) as connection:
        note_changes(connection, OWNER, owners)
        close_change_version(connection)
    with reading(store) as connection:
        found = read_change_version(connection)
    assert found is not None
    return found


def test_what_changed_since_a_version_is_known(store: Engine) -> None:
    first = change_edges(store, SCORE)
    second = change_edges(store, TRAIN)
    third = change_edges(store, SCORE)
    with reading(store) as connection:
        assert sorted(changed_since(connection, first, (OWNER, GROUP), 9)) == sorted([(OWNER, SCORE), (OWNER, TRAIN)])
        assert changed_since(connection, second, (OWNER, GROUP), 9) == [(OWNER, SCORE)]
        assert changed_since(connection, third, (OWNER, GROUP), 9) == []
        assert len(changed_since(connection, first, (OWNER, GROUP), 1)) == 1


def test_a_facet_that_impact_counts_is_a_change_of_its_subject(store: Engine) -> None:
    orders, first = DatasetName("n", "orders"), change_edges(store, SCORE)
    owned = {"ownership": facet("OwnershipDatasetFacet", owners=[{"name": "ann"}])}
    plain = {"documentation": facet("DocumentationDatasetFacet", description="all orders")}
    apply_bodies(store, list(map(as_body, [dataset_event(5, orders, facets=plain)])))
    assert traits_changed(store, first) == []
    apply_bodies(store, list(map(as_body, [dataset_event(6, orders, facets=owned)])))
    assert traits_changed(store, first) == [(TRAITS, node_id(orders))]
    with reading(store) as connection:
        second = read_change_version(connection)
    assert second is not None
    apply_bodies(store, list(map(as_body, [dataset_event(7, orders, facets=owned)])))
    assert traits_changed(store, second) == [], "it was said again"


def traits_changed(store: Engine, since: ChangeVersion) -> Collection[tuple[int, int]]:
    with reading(store) as connection:
        return changed_since(connection, since, [TRAITS], 9)


def test_nothing_changed_is_no_version(store: Engine) -> None:
    first = change_edges(store, SCORE)
    assert change_edges(store) == first


def test_a_version_of_another_store_is_not_known(store: Engine) -> None:
    first = change_edges(store, SCORE)
    with reading(store) as connection:
        assert is_known(connection, first)
        assert not is_known(connection, first._replace(stamp=first.stamp ^ 1))
        assert not is_known(connection, first._replace(number=first.number + 1))


def test_a_file_of_a_store_that_began_anew_is_not_used(store: Engine, tmp_path: Path) -> None:
    load(store, WORLD)
    change_edges(store, SCORE)
    kept = AdjacencyCache(tmp_path / "edges.csr")
    assert build_file(store, kept.file)
    with reading(store) as connection:
        assert kept.over(connection) is not None
    with writing(store) as connection:
        connection.execute(delete(change_version))
        connection.execute(delete(change))
    change_edges(store, SCORE)
    with reading(store) as connection:
        assert kept.over(connection) is None
    assert build_file(store, kept.file)
    with reading(store) as connection:
        assert kept.over(connection) is not None


@pytest.mark.parametrize("damage", ["none", "cut", "empty", "another", "head"])
def test_a_damaged_file_is_as_none(store: Engine, tmp_path: Path, damage: str) -> None:
    load(store, WORLD)
    change_edges(store, SCORE)
    kept = AdjacencyCache(tmp_path / "edges.csr")
    assert build_file(store, kept.file)
    whole = kept.file.read_bytes()
    content = {
        "none": whole,
        "cut": whole[:-1],
        "empty": b"",
        "another": b"x" * len(whole),
        "head": MAGIC + whole[len(MAGIC) : len(MAGIC) + 8] + b"}" + whole[len(MAGIC) + 9 :],
    }[damage]
    kept.file.write_bytes(content)
    with reading(store) as connection:
        assert (kept.over(connection) is None) == (damage != "none")
    assert (read_csr(kept.file) is None) == (damage != "none")


def as_body(event: dict[str, object]) -> bytes:
    return json.dumps(event).encode()
