"""retention: how far back the store remembers, what it leaves of the rest, and who decommissioned a job"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("declaration", sa.Column("ends", sa.SmallInteger(), nullable=False, server_default="0"))
    op.create_table(
        "horizon",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.Column("keep", sa.Integer(), nullable=False),
        sa.Column("history", sa.BigInteger(), nullable=False),
        sa.Column("finished", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("number", "lane"),
    )
    op.create_table(
        "run_summary",
        sa.Column("job_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("month", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.Column("timed", sa.BigInteger(), nullable=False),
        sa.Column("microseconds", sa.BigInteger(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "month", "state"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "record_summary",
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("producer_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("month", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("outcome", "reason", "producer_id", "month"),
        sqlite_with_rowid=False,
    )
