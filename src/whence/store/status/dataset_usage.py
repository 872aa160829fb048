"""Which datasets runs read in a period, and how large datasets are, as far as events report it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from whence.openlineage.facets.measurements import METRICS
from whence.store.encryption.keyring import keys_in, open_measurement
from whence.store.schema.array_parameters import integers
from whence.store.schema.packed import MEASURED_FACETS, unpack_measurements
from whence.store.schema.tables import lineage_edge, lineage_version, measurement, run_lineage

_OF_DATASET = tuple(number for number, (_, facet) in enumerate(MEASURED_FACETS) if facet == METRICS)
_OF_WRITE = tuple(number for number, (_, facet) in enumerate(MEASURED_FACETS) if facet == "outputStatistics")


class ReportedSize(NamedTuple):
    """Bytes, and whether they are of the whole dataset, not of its last write."""

    bytes: int
    is_whole: bool


def find_read_datasets(connection: Connection, since: int, until: int) -> frozenset[int]:
    """The datasets that runs read after a time (µs) and not after another, by the lineage that the runs reported."""
    used = select(run_lineage.c.version).distinct().where(run_lineage.c.time > since, run_lineage.c.time <= until)
    query = (
        select(lineage_edge.c.source_dataset_id)
        .distinct()
        .join(lineage_version, lineage_version.c.set_id == lineage_edge.c.set_id)
        .where(lineage_version.c.id.in_(used), lineage_edge.c.source_dataset_id != 0)
        .where(lineage_edge.c.source_dataset_id != lineage_edge.c.target_dataset_id)
    )
    return frozenset(connection.execute(query).scalars())


def read_sizes(connection: Connection, dataset_ids: Iterable[int], at: int) -> Mapping[int, ReportedSize]:
    """The last reported size of each dataset until a time (µs): of the whole dataset, else of a write. Datasets without
    one are left out.
    """
    ids = sorted(set(dataset_ids))
    whole = _read_last(connection, ids, at, _OF_DATASET, "bytes")
    rest = [one for one in ids if one not in whole]
    written = _read_last(connection, rest, at, _OF_WRITE, "size")
    return {
        **{id_: ReportedSize(size, is_whole=True) for id_, size in whole.items()},
        **{id_: ReportedSize(size, is_whole=False) for id_, size in written.items()},
    }


def _read_last(
    connection: Connection, ids: list[int], at: int, facets: tuple[int, ...], metric: str
) -> Mapping[int, int]:
    """A metric in the last report of some facets; of reports at one time, the largest."""
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    of_kind = (measurement.c.facet.in_(facets), measurement.c.time <= at)
    last = (
        select(measurement.c.dataset_id, func.max(measurement.c.time).label("time"))
        .join(wanted, wanted.c.id == measurement.c.dataset_id)
        .where(*of_kind)
        .group_by(measurement.c.dataset_id)
        .subquery()
    )
    same = (measurement.c.dataset_id == last.c.dataset_id) & (measurement.c.time == last.c.time)
    find = keys_in(connection)
    found: dict[int, int] = {}
    for row in connection.execute(select(measurement).join(last, same).where(*of_kind)).all():
        for column, name, value in unpack_measurements(open_measurement(find, tuple(row))):
            if not column and name == metric and value >= 0:
                found[row.dataset_id] = max(int(value), found.get(row.dataset_id, 0))
    return found
