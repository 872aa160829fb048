"""measurements, filled from the facets of the runs that the store has

Metrics of dataset events, and of datasets as run events describe them, are not among those facets: `whence rebuild`
reads them from the log.
"""

from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

from whence.openlineage.facets.measurements import is_measurement_facet, parse_measurements
from whence.store.encryption.keyring import keys_in, open_pack, seal_measurements, store_key
from whence.store.schema.facet_templates import RunFacet
from whence.store.schema.packed import MEASURED_FACET_NUMBERS, MEASURED_FACETS, inflate, pack_measurements

revision = "0002"
down_revision = "0001"

_ROWS = 5_000

_decode_facets = msgspec.msgpack.Decoder(list[RunFacet]).decode


def upgrade() -> None:
    measurement = op.create_table(
        "measurement",
        _column("source_id", sa.BigInteger()),
        _column("dataset_id", sa.BigInteger()),
        _column("role", sa.Text()),
        _column("facet", sa.Text()),
        _column("time", sa.BigInteger()),
        _column("rank", sa.SmallInteger()),
        _column("event_id", sa.BigInteger()),
        _column("content", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("source_id", "dataset_id", "role", "facet"),
        sqlite_with_rowid=False,
    )
    op.create_index("measurement_dataset", "measurement", ["dataset_id", "time"])
    after = -(2**63)
    while runs := _next_runs(after):
        after = runs[-1]
        if rows := _read_rows(runs):
            op.bulk_insert(measurement, rows)


def _column(name: str, type_: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, type_, autoincrement=False, nullable=False)


_RUNS = sa.text("SELECT DISTINCT run_id FROM run_facets WHERE run_id > :after ORDER BY run_id LIMIT :rows")
_PACKS = sa.text(
    "SELECT run_id, time, rank, event_id, content FROM run_facets WHERE run_id BETWEEN :first AND :last "
    "ORDER BY run_id, time, rank, event_id"
)


def _next_runs(after: int) -> list[int]:
    return list(op.get_bind().execute(_RUNS, {"after": after, "rows": _ROWS}).scalars())


def _read_rows(runs: list[int]) -> list[dict[str, Any]]:
    connection = op.get_bind()
    key, find = store_key(connection), keys_in(connection)
    rows: dict[tuple[int, int, int], tuple[Any, ...]] = {}
    for run_id, *stamp, content in connection.execute(_PACKS, {"first": runs[0], "last": runs[-1]}):
        for role, dataset_id, name, payload in _decode_facets(inflate(open_pack(find, run_id, content))):
            if is_measurement_facet(role, name):
                measured = pack_measurements(parse_measurements(name, payload))
                rows[run_id, dataset_id, MEASURED_FACET_NUMBERS[role, name]] = (*stamp, measured)
    sealed = seal_measurements(key, [(*which, *row) for which, row in rows.items()])
    names = ("source_id", "dataset_id", "role", "facet", "time", "rank", "event_id", "content")
    return [
        dict(zip(names, (run_id, dataset_id, *MEASURED_FACETS[number], *rest), strict=True))
        for run_id, dataset_id, number, *rest in sealed
    ]
