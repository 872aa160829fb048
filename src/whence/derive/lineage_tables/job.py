"""`whence publish`: writes the store's lineage to Delta tables, all from one snapshot, each replaced in one commit."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine

from whence.derive.delta.frames import read_table, replace_rows, write_frame
from whence.derive.delta.table import make_table, table_uri
from whence.derive.lineage_tables import passes, stages
from whence.derive.lineage_tables.schema import SCHEMA_VERSION, TABLES
from whence.derive.lineage_tables.source import read_relation
from whence.errors import TableError
from whence.store.connection.data_key import store_keys
from whence.store.encryption.master_key import DataKey
from whence.store.lifecycle.export import StoreSnapshot, export_snapshot, open_snapshot, read_position

VERSION = "whence.schemaVersion"


@dataclass(frozen=True, slots=True)
class Tables:
    """The inputs of publishing: relations of the snapshot, and tables published before."""

    session: SparkSession
    snapshot: StoreSnapshot
    root: str
    keys: tuple[DataKey, ...] = ()
    written: dict[str, DataFrame] = field(default_factory=dict)

    def relation(self, name: str) -> DataFrame:
        """A relation of the store."""
        return read_relation(self.session, self.snapshot, name)

    def __getitem__(self, name: str) -> DataFrame:
        return self.written[name]


def publish(session: SparkSession, engine: Engine, root: str) -> dict[str, int]:
    """Replace the tables under `root`, a path or URL. Returns the rows of each. Earlier versions stay readable.

    Raises TableError, TableBusyError if another publisher replaces the same table.
    """
    with tempfile.TemporaryDirectory(prefix="whence-") as scratch, export_snapshot(engine, Path(scratch)) as snapshot:
        with open_snapshot(snapshot) as connection:
            metadata = {"whence.progress": json.dumps(read_position(connection), sort_keys=True)}
            keys = store_keys(connection)
        tables = Tables(session, snapshot, root, keys)
        return {name: _replace(tables, name, frame, metadata) for name, frame in _frames(tables)}


def _frames(tables: Tables) -> Iterator[tuple[str, DataFrame]]:
    """The new content of each table. Later tables are made from earlier ones, as published."""
    for name, made in _MADE:
        yield name, made(tables)


def _datasets(tables: Tables) -> DataFrame:
    known = tables.relation("dataset")
    of = stages.asserted(known, stages.marks(tables.relation("facet")))
    produced = stages.produced(tables["edge"], known)
    return stages.datasets(of, passes.find_incomplete(tables["dependency"], of, produced))


_MADE: tuple[tuple[str, Callable[[Tables], DataFrame]], ...] = (
    (
        "edge",
        lambda tables: stages.edges(
            tables.relation("held_set"), passes.decrypt_expressions(tables.relation("set_edge"), tables.keys)
        ),
    ),
    ("dependency", lambda tables: stages.dependencies(tables["edge"], tables.relation("dataset"))),
    ("dataset", _datasets),
    ("field", lambda tables: stages.fields(tables.relation("field"))),
    ("job", lambda tables: stages.jobs(tables.relation("job"), stages.marks(tables.relation("facet")))),
    ("run", lambda tables: stages.runs(tables.relation("run"))),
    ("assertion", lambda tables: stages.assertions(passes.read_assertions(tables.relation("run_facets"), tables.keys))),
    ("report", lambda tables: stages.reports(passes.read_reports(tables.relation("facet")), tables["dataset"])),
    ("blast_radius", lambda tables: stages.blast_radii(tables.relation("blast_radius"))),
)


def _replace(tables: Tables, name: str, frame: DataFrame, metadata: dict[str, str]) -> int:
    uri, published = table_uri(tables.root, name), TABLES[name]
    properties: dict[str, str | None] = {VERSION: str(SCHEMA_VERSION)}
    table = make_table(uri, published.schema, f"whence_{name}", properties=properties)
    if (version := table.metadata().configuration.get(VERSION)) != str(SCHEMA_VERSION):
        raise TableError(uri, f"its schema version is {version}, not {SCHEMA_VERSION}: publish to another place")
    files = write_frame(frame, uri, published.plain)
    replace_rows(uri, table, files, published.schema, metadata)
    table.vacuum(dry_run=False, full=True)
    tables.written[name] = read_table(tables.session, uri, table, published.plain)
    return sum(json.loads(file.stats)["numRecords"] for file in files)
