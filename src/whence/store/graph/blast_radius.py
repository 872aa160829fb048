"""The blast radius of every node as a table, and the graph that it is computed from.

Rows are written under a new generation; one small transaction then makes it the current one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    Select,
    SmallInteger,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from whence.errors import StoreError
from whence.model.blast_radius import COUNTED, BlastRadius
from whence.model.ids import Kind, compute_id
from whence.store.connection.engine import reading, writing
from whence.store.schema.tables import alias_group, dataset, edge, facet_body, field, job, metadata, progress

blast_radius = Table(
    "blast_radius",
    metadata,
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("node_id", BigInteger, primary_key=True, autoincrement=False),
    *(Column(name, BigInteger, nullable=False) for name in COUNTED),
    Column("estimated", SmallInteger, nullable=False),  # bit i: the i-th count is an estimate
    sqlite_with_rowid=False,
)

blast_generation = Table(
    "blast_generation",
    metadata,
    Column("generation", Integer, primary_key=True, autoincrement=False),  # all of its rows are written
    Column("progress", Text, nullable=False),  # of the store when the graph was read
    Column("computed_at", BigInteger, nullable=False),
    Column("error", Float, nullable=False),
    Column("graph", Text, nullable=False),
)

FETCHED = 50_000
"""Rows read, deleted or written at a time."""

Rows = Iterator[Sequence[Sequence[Any]]]
"""Rows of a query, in chunks."""


class Generation(NamedTuple):
    """One complete computation: the progress of its graph, its time, the error of its estimates, the graph's hash."""

    generation: int
    progress: str
    computed_at: int
    error: float
    graph: str


@dataclass(frozen=True, slots=True)
class GraphTables:
    """The current graph as rows of ids, in one snapshot."""

    connection: Connection

    def progress(self) -> str:
        """The log positions that the tables had reached, in every lane."""
        return _progress(self.connection)

    def edges(self) -> Rows:
        """(source, target, owner), in any order, with duplicates."""
        return self._rows(select(edge.c.source_id, edge.c.target_id, edge.c.owner_id))

    def fields(self) -> Rows:
        """(field, dataset)."""
        return self._rows(select(field.c.id, field.c.dataset_id))

    def datasets(self) -> Rows:
        """(dataset,)."""
        return self._rows(select(dataset.c.id))

    def jobs(self) -> Rows:
        """(job,)."""
        return self._rows(select(job.c.id))

    def aliases(self) -> Rows:
        """(dataset, its representative)."""
        return self._rows(select(alias_group.c.dataset_id, alias_group.c.representative_id))

    def alias_fields(self) -> Rows:
        """(field of a dataset with aliases, its representative)."""
        query = (
            select(field.c.id, dataset.c.namespace, dataset.c.name, field.c.name)
            .join(alias_group, alias_group.c.dataset_id == field.c.dataset_id)
            .join(dataset, dataset.c.id == alias_group.c.representative_id)
        )
        for rows in self._rows(query):
            yield [(id_, compute_id(Kind.FIELD, *names)) for id_, *names in rows]

    def types(self) -> Rows:
        """(dataset or job, facet name, payload) of every datasetType and jobType facet."""
        return self._rows(
            select(facet_body.c.subject_id, facet_body.c.name, facet_body.c.payload).where(
                facet_body.c.name.in_(("datasetType", "jobType"))
            )
        )

    def _rows(self, query: Select[Any]) -> Rows:
        streamed = self.connection.execution_options(stream_results=True, yield_per=FETCHED)
        return iter(streamed.execute(query).partitions(FETCHED))


def read_current(engine: Engine) -> Generation | None:
    """The current generation, or None if nothing was computed yet."""
    with reading(engine) as connection:
        return _current(connection)


def is_current(engine: Engine) -> bool:
    """Whether the store has the same progress as the current generation, or neither exists."""
    with reading(engine) as connection:
        current = _current(connection)
        return _progress(connection) == (current.progress if current else "")


def begin(engine: Engine) -> int:
    """Begin a new generation and return its number. Deletes the rows of an unfinished one."""
    current = read_current(engine)
    _delete_others(engine, current.generation if current else 0)
    return current.generation + 1 if current else 1


def write_rows(engine: Engine, generation: int, rows: Sequence[Sequence[int]]) -> None:
    """Write rows (node, counts…, estimated) in one transaction. Idempotent."""
    dialect = sqlite if engine.dialect.name == "sqlite" else postgresql
    names = ("node_id", *COUNTED, "estimated")
    with writing(engine) as connection:
        statement = dialect.insert(blast_radius).values(generation=generation).on_conflict_do_nothing()
        connection.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])


def publish(engine: Engine, made: Generation, rows: int) -> None:
    """Make a generation the current one.

    Raises StoreError unless it has exactly `rows` rows: otherwise a rebuild replaced the tables while it was written.
    """
    with writing(engine) as connection:
        of_it = blast_radius.c.generation == made.generation
        found = connection.execute(select(func.count()).select_from(blast_radius).where(of_it)).scalar_one()
        if found != rows:
            raise StoreError(f"{found} of {rows} rows of the blast radius are stored: run `whence blast` again")
        connection.execute(delete(blast_generation))
        connection.execute(insert(blast_generation), made._asdict())
    _delete_others(engine, made.generation)


def confirm(engine: Engine, progress: str, computed_at: int) -> None:
    """Record that the current generation is also valid for a later progress."""
    with writing(engine) as connection:
        connection.execute(blast_generation.update().values(progress=progress, computed_at=computed_at))


def find(connection: Connection, node_id: int) -> BlastRadius | None:
    """The blast radius of a canonical node, or None if none is computed, or the node is newer."""
    current = _current(connection)
    if current is None:
        return None
    row = connection.execute(
        select(*(blast_radius.c[name] for name in (*COUNTED, "estimated"))).where(
            blast_radius.c.generation == current.generation, blast_radius.c.node_id == node_id
        )
    ).one_or_none()
    if row is None:
        return None
    *counts, estimated = row
    return BlastRadius(
        counts=tuple(counts),
        estimated=frozenset(name for place, name in enumerate(COUNTED) if estimated >> place & 1),
        error=current.error,
        computed_at=current.computed_at,
        current=current.progress == _progress(connection),
    )


def _progress(connection: Connection) -> str:
    rows = connection.execute(select(progress.c.name, progress.c.position).order_by(progress.c.name))
    return " ".join(f"{name}={position}" for name, position in rows)


def _current(connection: Connection) -> Generation | None:
    row = connection.execute(select(blast_generation).order_by(blast_generation.c.generation.desc())).first()
    return Generation._make(row) if row else None


def _delete_others(engine: Engine, kept: int) -> None:
    """Delete in small transactions, so that the pipeline can write in between."""
    key = blast_radius.c.node_id
    while True:
        with writing(engine) as connection:
            found = connection.execute(
                select(blast_radius.c.generation).where(blast_radius.c.generation != kept).limit(1)
            ).scalar()
            if found is None:
                return
            of_it = blast_radius.c.generation == found
            last = select(key).where(of_it).order_by(key).limit(FETCHED).subquery()
            upto = select(func.max(last.c.node_id)).scalar_subquery()
            connection.execute(delete(blast_radius).where(of_it, key <= upto))
