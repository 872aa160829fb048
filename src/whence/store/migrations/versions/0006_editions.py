"""editions of the current edges: what changed in which, for copies of them"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    number = sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False)
    op.create_table("edition", number, sa.Column("stamp", sa.BigInteger, nullable=False))
    op.create_table(
        "change",
        sa.Column("kind", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("edition", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("change_edition", "change", ["edition"])
