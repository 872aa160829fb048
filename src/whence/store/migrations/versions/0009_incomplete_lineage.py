"""indexes of the lineage that producers report as incomplete, which is kept from now on

What a store holds stays as it is: `whence rebuild` reads from the log which lineage was incomplete before.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    one = sa.text("origin = 'incomplete'")
    for name, column in (("lineage_set_incomplete", "owner_id"), ("lineage_set_incomplete_output", "output_id")):
        op.create_index(name, "lineage_set", [column], sqlite_where=one, postgresql_where=one)
