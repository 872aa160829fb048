"""the datasets that jobs check, filled from the facets of the runs that the store has

`first_seen` is then the time of the last report of the first such run: `whence rebuild` finds the first report.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from whence.openlineage.facets.assertions import ASSERTIONS, is_assertions_facet, parse_assertions
from whence.store.encryption.keyring import keys_in, open_pack, open_template
from whence.store.schema.facet_templates import join_facets
from whence.store.schema.packed import inflate

revision = "0006"
down_revision = "0005"

_TOGETHER = 500
"""Templates in one query."""

_TEMPLATES = sa.text("SELECT id, content FROM facet_template")
_PACKS = sa.text(
    "SELECT run.job_id, run_facets.run_id, run_facets.time, run_facets.template_id, run_facets.content "
    "FROM run_facets JOIN run ON run.id = run_facets.run_id WHERE run_facets.template_id IN :templates"
).bindparams(sa.bindparam("templates", expanding=True))


def upgrade() -> None:
    names = ("job_id", "dataset_id", "first_seen")
    table = op.create_table(
        "checked_dataset",
        *(sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False) for name in names),
        sa.PrimaryKeyConstraint("job_id", "dataset_id"),
        sqlite_with_rowid=False,
    )
    first: dict[tuple[int, int], int] = {}
    for job, dataset, time in _checked():
        first[job, dataset] = min(first.get((job, dataset), time), time)
    op.bulk_insert(table, [dict(zip(names, (*which, time), strict=True)) for which, time in sorted(first.items())])


def _checked() -> Iterator[tuple[int, int, int]]:
    """Yield job, dataset and time of each report."""
    connection = op.get_bind()
    find, templates = keys_in(connection), dict(_read_templates(connection))
    ids = sorted(templates)
    for start in range(0, len(ids), _TOGETHER):
        rows = connection.execute(_PACKS, {"templates": ids[start : start + _TOGETHER]})
        for job, run, time, template, content in rows:
            for role, dataset, name, payload in join_facets(templates[template], open_pack(find, run, content)):
                if role == "input" and is_assertions_facet(role, name) and parse_assertions(payload):
                    yield job, dataset, time


def _read_templates(connection: sa.Connection) -> Iterator[tuple[int, bytes]]:
    """Yield the templates that may have results of checks."""
    find = keys_in(connection)
    for id_, sealed in connection.execute(_TEMPLATES):
        content = open_template(find, id_, sealed)
        if ASSERTIONS.encode() in inflate(content):
            yield id_, content
