"""retention: what was deleted leaves its counts, and who decommissioned a job"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("declaration", sa.Column("ends", sa.SmallInteger(), nullable=False, server_default="0"))
