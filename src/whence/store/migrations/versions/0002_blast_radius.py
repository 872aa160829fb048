"""the blast radius of every node, and the last runs of scheduled jobs"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "blast_radius",
        sa.Column("generation", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("node_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("datasets", sa.BigInteger(), nullable=False),
        sa.Column("fields", sa.BigInteger(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("dashboards", sa.BigInteger(), nullable=False),
        sa.Column("models", sa.BigInteger(), nullable=False),
        sa.Column("estimated", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("generation", "node_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "blast_generation",
        sa.Column("generation", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.Column("computed_at", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("graph", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("generation"),
    )
    op.create_table(
        "scheduled_job",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
