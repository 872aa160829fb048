"""Measurement of the KPIs: queries over the published tables and the archive, whose results go to the table `kpi`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from whence.derive.archive.table import find_archive
from whence.derive.delta.frames import append_rows, read_files, read_table, write_frame
from whence.derive.delta.table import find_table, make_table, table_uri
from whence.derive.kpis.series import Kpi, Measured, kpis
from whence.derive.lineage_tables.schema import KPI, SCHEMA_VERSION, TABLES
from whence.derive.reading.records import RECORD_SCHEMA
from whence.errors import TableError
from whence.query.answers.instants import microseconds


def measure(
    session: SparkSession, root: str, archive: str | None, at: datetime, days: float = 7
) -> tuple[Measured, ...]:
    """Measure all KPIs over the tables published under `root`, for the `days` before `at`, and append them to `kpi`.

    Raises TableError if a table is not published yet.
    """
    since = at - timedelta(days=days)
    frames = {name: _published(session, root, name) for name in TABLES}
    with _views(session, {**frames, "record": _received(session, archive, since, at)}):
        measured = tuple(_measure(session, one, since, at) for one in kpis())
    _append(session, table_uri(root, "kpi"), measured)
    return measured


@contextmanager
def _views(session: SparkSession, frames: Mapping[str, DataFrame]) -> Iterator[None]:
    """Register the frames as views. A Python data source cannot be read by a session of its own."""
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    try:
        yield
    finally:
        for name in frames:
            session.catalog.dropTempView(name)


def _published(session: SparkSession, root: str, name: str) -> DataFrame:
    uri = table_uri(root, name)
    table = find_table(uri)
    if table is None:
        raise TableError(uri, "it is not published yet: run `whence publish`")
    return read_table(session, uri, table, TABLES[name].plain)


def _received(session: SparkSession, archive: str | None, since: datetime, at: datetime) -> DataFrame:
    """The archive without files outside of the period; empty if there is no archive."""
    found = find_archive(archive) if archive else None
    low, high = microseconds(since), microseconds(at)
    wanted = [one for one in found.files() if one.received_from < high and low <= one.received_to] if found else []
    return read_files(session, archive or "", [(one.path, one.records) for one in wanted], RECORD_SCHEMA)


def _measure(session: SparkSession, kpi: Kpi, since: datetime, at: datetime) -> Measured:
    (row,) = session.sql(kpi.query, args={"since": since, "at": at}).collect()
    value, numerator, denominator = (None if one is None else float(one) for one in row)
    return Measured(
        measured_at=at, name=kpi.name, value=value, unit=kpi.unit, numerator=numerator, denominator=denominator
    )


def _append(session: SparkSession, uri: str, measured: Sequence[Measured]) -> None:
    table = make_table(uri, KPI.schema, "whence_kpi", properties={"whence.schemaVersion": str(SCHEMA_VERSION)})
    rows = pa.Table.from_pylist([asdict(one) for one in measured], schema=KPI.plain)
    append_rows(uri, table, write_frame(session.createDataFrame(rows).coalesce(1), uri, KPI.plain), KPI.plain, {})
