"""an index of the jobs whose SQL was compared with what their producers report"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    one = sa.text("name = 'whence_sqlComparison'")
    op.create_index("facet_body_sql_comparison", "facet_body", ["subject_id"], sqlite_where=one, postgresql_where=one)
