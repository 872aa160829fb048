"""A real Feast is applied, changed and read as its guide says: `make nightly-feast`."""

from pathlib import Path

import pytest

from capture.bi.expected import found_lines, read_expected
from nightly.feast.store import Store, open_store
from whence.capture.bi.events import Declared, Gone
from whence.capture.feast.source import FeastRegistry, capture
from whence_client.captures import Window

TRUTH = Path(__file__).parents[2] / "capture/feast"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return open_store(tmp_path_factory.mktemp("feast ü") / "shop")


def read(store: Store) -> FeastRegistry:
    path = store.folder.parent / "registry.json"
    store.write_registry(path)
    options = {"folder": str(store.folder), "connections": str(TRUTH / "connections.yaml")}
    return capture.configure({"registry": str(path), **options})


def test_the_lineage_is_that_of_the_definitions_and_follows_them(store: Store) -> None:
    source = read(store)
    moved = {
        name: {line.replace("/lake/shop", str(store.folder)) for line in lines}
        for name, lines in read_expected(TRUTH / "edges.txt").items()
    }
    assert found_lines(source.read().reports) == moved
    *_, (_, cursor) = source.records(None, Window())
    store.edit('field_mapping={"amt": "amount"', 'field_mapping={"net": "amount"')
    store.edit("\nlake = view_of(", "\nlake = None and view_of(")
    store.apply()
    records = [one for one, _ in read(store).records(cursor, Window())]
    declared = {one.report.title: one.report for one in records if isinstance(one, Declared)}
    changed = found_lines([declared['orders "all"; drop, ü']])['feature_views/orders "all"; drop, ü']
    assert f"amount <- file {store.folder}/data/orders.parquet.net DIRECT IDENTITY" in changed
    assert [one.name.name for one in records if isinstance(one, Gone)] == ["feature_views/lake"]
    assert "customers" not in declared
