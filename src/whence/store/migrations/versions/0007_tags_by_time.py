"""every report of tags, filled with the current tags of the store

They count as held since their dataset or job was seen first: `whence rebuild` reads the history from the log.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_FACETS = ("tags", "whence_stewardTags")
_TOGETHER = 5_000
"""Reports that are written at once."""

_CURRENT = sa.text(
    "SELECT facet.subject_id, facet.name, facet.time, facet.rank, facet.event_id, facet.body_id, facet_body.payload, "
    "COALESCE(dataset.first_seen, job.first_seen, facet.time) AS first_seen FROM facet "
    "JOIN facet_body ON facet_body.subject_id = facet.subject_id AND facet_body.name = facet.name "
    "LEFT JOIN dataset ON dataset.id = facet.subject_id LEFT JOIN job ON job.id = facet.subject_id "
    "WHERE facet.name IN :names ORDER BY facet.subject_id, facet.name"
).bindparams(sa.bindparam("names", expanding=True))


def upgrade() -> None:
    report = _create("tag_report", "subject_id", "facet", "time", "rank", "event_id", values=[_column("body_id")])
    body = _create("tag_body", "subject_id", "facet", "body_id", values=[_column("payload", sa.Text())])
    current = op.get_bind().execute(_CURRENT, {"names": _FACETS}).all()
    for start in range(0, len(current), _TOGETHER):
        some = current[start : start + _TOGETHER]
        op.bulk_insert(report, [one for row in some for one in _reports(row)])
        op.bulk_insert(body, [{**_facet(row), "body_id": row.body_id, "payload": row.payload} for row in some])


def _column(name: str, type_: sa.types.TypeEngine[str] | sa.types.TypeEngine[int] | None = None) -> sa.Column[object]:
    return sa.Column(name, type_ or sa.BigInteger(), autoincrement=False, nullable=False)


def _create(name: str, *key: str, values: list[sa.Column[object]]) -> sa.Table:
    columns = [*map(_column, key), *values]
    return op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key), sqlite_with_rowid=False)


def _facet(row: sa.Row[tuple[object, ...]]) -> dict[str, int]:
    return {"subject_id": row.subject_id, "facet": _FACETS.index(row.name)}


def _reports(row: sa.Row[tuple[object, ...]]) -> Iterator[dict[str, int]]:
    """Yield the last report, and before it one without an event, from when the subject was seen first."""
    yield {**_facet(row), "time": row.time, "rank": row.rank, "event_id": row.event_id, "body_id": row.body_id}
    if row.first_seen < row.time:
        yield {**_facet(row), "time": row.first_seen, "rank": -1, "event_id": 0, "body_id": row.body_id}
