"""A store that the first release filled: after an upgrade it is as if its events had been derived anew."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, MetaData, insert, select

import whence.store.migrations.migrate
from bench.workloads.events import Noise, arrivals
from fixtures.stores_of_events import apply_bodies
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.encryption.keyring import seal_packs, store_key
from whence.store.graph.run_facets import read_all_reported_facets
from whence.store.lifecycle.dump import dump
from whence.store.migrations.migrate import migrate
from whence.store.schema.packed import deflate

FIRST = "0001"
EVENTS = 300
NOISE = Noise(duplicates=0.1, late=0.1, malformed=0)

pytestmark = pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")


def test_an_upgraded_store_equals_one_that_is_derived_anew(store_url: str, tmp_path: Path) -> None:
    fresh, old = open_store(sqlite_url(tmp_path / "fresh.db")), open_store(store_url)
    migrate(fresh)
    bodies = [one.body for one, _ in zip(arrivals(seed=5, jobs=20, days=30, noise=NOISE), range(EVENTS), strict=False)]
    apply_bodies(fresh, bodies)
    migrate_to(old, FIRST)
    with reading(fresh) as source, writing(old) as target:
        copy_content(source, target)
    migrate(old)
    lines = list(dump(fresh))
    assert len(lines) > EVENTS
    assert list(dump(old)) == lines
    for engine in (fresh, old):
        engine.dispose()


def migrate_to(engine: Engine, revision: str) -> None:
    """Create the tables of an earlier release."""
    config = Config()
    config.set_main_option("script_location", str(Path(whence.store.migrations.migrate.__file__).parent))
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def copy_content(source: Connection, target: Connection) -> None:
    """Copy the rows of every table that the earlier release has, in the columns that it has.

    A migration that renames a table or column adds the old name here.
    """
    tables, old = MetaData(), MetaData()
    tables.reflect(source)
    old.reflect(target)
    for into in old.sorted_tables:
        if into.name == "alembic_version":
            continue
        columns = [column for column in into.columns if column.computed is None]
        found = source.execute(select(*(tables.tables[into.name].c[column.name] for column in columns)))
        rows = [dict(row) for row in found.mappings()]
        if into.name == "run_facets":
            rows = with_packs_of_first_release(source, rows)
        if rows:
            target.execute(insert(into), rows)


def with_packs_of_first_release(source: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `run_facets` as they were before templates: all facets in one compressed text."""
    key, encode = store_key(source), msgspec.msgpack.Encoder().encode
    facets = {(one.run_id, one.time, one.rank, one.event_id): one.facets for one in read_all_reported_facets(source)}
    old = []
    for row in rows:
        some = facets[row["run_id"], row["time"], row["rank"], row["event_id"]]
        ((*_, content),) = seal_packs(key, [(row["run_id"], deflate(encode(some)))])
        old.append({**row, "content": content})
    return old
