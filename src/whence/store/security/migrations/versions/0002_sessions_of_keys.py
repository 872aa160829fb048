"""sessions that were begun with an API key"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("access_session", sa.Column("key", sa.Text(), nullable=True))
