"""indexes of the facets that make a dataset one with a contract"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_FACETS = (("facet_body_contract", "whence_contract"), ("facet_body_dbt", "whence_dbt"))


def upgrade() -> None:
    for index, name in _FACETS:
        one = sa.text(f"name = '{name}'")
        op.create_index(index, "facet_body", ["subject_id"], sqlite_where=one, postgresql_where=one)
