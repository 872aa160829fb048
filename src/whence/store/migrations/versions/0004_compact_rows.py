"""smaller rows: a number for the role and facet of a measurement; events and statements in the tree of their key"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from whence.store.schema.packed import MEASURED_FACETS

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _number_measured_facets()
    if op.get_bind().dialect.name == "sqlite":
        _compact("event", _EVENT, {"event_subject": ["subject_id"], "event_time": ["time", "id", "kind", "state"]})
        _compact("statement", _STATEMENT, {"statement_owner": ["owner_id", "aspect", "at", "id"]})


def _number_measured_facets() -> None:
    op.drop_index("measurement_dataset", "measurement")
    op.rename_table("measurement", "named_measurement")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER INDEX measurement_pkey RENAME TO named_measurement_pkey")
    op.create_table(
        "measurement",
        *(_column(name, sa.BigInteger()) for name in ("source_id", "dataset_id")),
        _column("facet", sa.SmallInteger()),
        _column("time", sa.BigInteger()),
        _column("rank", sa.SmallInteger()),
        _column("event_id", sa.BigInteger()),
        _column("content", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("source_id", "dataset_id", "facet"),
        sqlite_with_rowid=False,
    )
    numbers = " ".join(
        f"WHEN role = '{role}' AND facet = '{facet}' THEN {number}"
        for number, (role, facet) in enumerate(MEASURED_FACETS)
    )
    op.execute(
        f"INSERT INTO measurement SELECT source_id, dataset_id, CASE {numbers} END, time, rank, event_id, content "
        "FROM named_measurement"
    )
    op.drop_table("named_measurement")
    op.create_index("measurement_dataset", "measurement", ["dataset_id", "time"])


_EVENT: dict[str, sa.types.TypeEngine[Any]] = {
    "id": sa.Integer(),
    "rest": sa.BigInteger(),
    "kind": sa.SmallInteger(),
    "time": sa.BigInteger(),
    "producer_id": sa.BigInteger(),
    "state": sa.SmallInteger(),
    "subject_id": sa.BigInteger(),
    "warnings": sa.Text(),
    "position": sa.BigInteger(),
}
_STATEMENT: dict[str, sa.types.TypeEngine[Any]] = {
    "id": sa.Integer(),
    "owner_id": sa.BigInteger(),
    "aspect": sa.SmallInteger(),
    "at": sa.BigInteger(),
    "confirmed": sa.Boolean(),
    "own_version": sa.BigInteger(),
    "held_version": sa.BigInteger(),
    "held_confirmed": sa.Boolean(),
}


def _compact(name: str, columns: dict[str, sa.types.TypeEngine[Any]], indexes: dict[str, list[str]]) -> None:
    """Move the rows of a table of SQLite into the tree of its key, which then is no row id beside it."""
    for index in indexes:
        op.drop_index(index, name)
    op.rename_table(name, f"wide_{name}")
    op.create_table(
        name,
        *(_column(column, type_) for column, type_ in columns.items()),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    names = ", ".join(columns)
    op.execute(f"INSERT INTO {name} ({names}) SELECT {names} FROM wide_{name} ORDER BY id")
    op.drop_table(f"wide_{name}")
    for index, of in indexes.items():
        op.create_index(index, name, of)


def _column(name: str, type_: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, type_, autoincrement=False, nullable=False)
