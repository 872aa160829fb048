"""indexes for the catalog: names in order, events by time, the few facets that are looked for by what they say"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_index("event_time", "event", ["time", "id", "kind", "state"])
    for table in ("dataset", "job"):
        namespace, name = (sa.text(f"substr({column}, 1, 200)") for column in ("namespace", "name"))
        op.create_index(f"{table}_listed", table, [namespace, name, "id"])
        op.create_index(f"{table}_begun", table, [namespace, "first_seen"])
    for index, facet in (("facet_body_tags", "tags"), ("facet_body_lifecycle", "whence_lifecycle")):
        one = sa.text(f"name = '{facet}'")
        op.create_index(index, "facet_body", ["subject_id"], sqlite_where=one, postgresql_where=one)
