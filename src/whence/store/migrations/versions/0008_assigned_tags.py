"""an index of the tags that people assigned, which are kept apart from now on

What a store holds stays as it is: `whence rebuild` reads from the log which tags were assigned before.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    one = sa.text("name = 'whence_assignedTags'")
    op.create_index("facet_body_assigned_tags", "facet_body", ["subject_id"], sqlite_where=one, postgresql_where=one)
