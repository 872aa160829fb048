"""datasets that were dropped, and an index of the lineage sets that say so"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "dropped",
        sa.Column("dataset_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("statement_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id"),
        sqlite_with_rowid=False,
    )
    marks = sa.text("origin = 'dropped'")
    op.create_index("lineage_set_dropped", "lineage_set", ["output_id"], sqlite_where=marks, postgresql_where=marks)
