"""fingerprints of keys"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("access_key", sa.Column("fingerprint", sa.Text(), nullable=True))
