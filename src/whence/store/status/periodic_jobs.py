"""The last runs of the scheduled jobs, for other processes and for the next start."""

from typing import NamedTuple

from sqlalchemy import BigInteger, Column, Connection, Engine, Table, Text, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.store.connection.engine import reading, writing
from whence.store.schema.tables import metadata

scheduled_job = Table(
    "scheduled_job",
    metadata,
    Column("name", Text, primary_key=True),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("failure", Text, nullable=False),
)


class LastRun(NamedTuple):
    """The last run of a scheduled job: its times (µs UTC), and its failure; empty if it succeeded."""

    name: str
    started_at: int
    ended_at: int
    failure: str


def record_run(engine: Engine, done: LastRun) -> None:
    """Store this run as the job's last."""
    dialect = sqlite if engine.dialect.name == "sqlite" else postgresql
    row = done._asdict()
    statement = dialect.insert(scheduled_job).values(row)
    with writing(engine) as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=row))


def read_runs(engine: Engine) -> dict[str, LastRun]:
    """The last run of each job that ever ran here, by name."""
    with reading(engine) as connection:
        return _runs(connection)


def _runs(connection: Connection) -> dict[str, LastRun]:
    rows = connection.execute(select(scheduled_job).order_by(scheduled_job.c.name))
    return {row.name: LastRun._make(row) for row in rows}
