"""the columns that policies hide from readers

Frozen: a later release adds a migration, this one never changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "access_restriction",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("policy", "namespace", "readers", "fields")),
        sa.PrimaryKeyConstraint("policy", "namespace"),
    )
