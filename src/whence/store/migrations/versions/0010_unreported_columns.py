"""columns of which a job does not say where they come from"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "unreported_column",
        sa.Column("set_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("field_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("set_id", "field_id"),
        sqlite_with_rowid=False,
    )
    one = sa.text("origin = 'unreported'")
    op.create_index("lineage_set_unreported", "lineage_set", ["owner_id"], sqlite_where=one, postgresql_where=one)
    op.create_index("unreported_column_field", "unreported_column", ["field_id"])
