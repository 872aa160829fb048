"""Queries for the gaps in column lineage at some nodes: at present, at a time, or of all times."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    and_,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
)

from whence.model.graph import ALL_TIME, Direction, Grain
from whence.model.ids import Kind
from whence.model.lineage import Origin
from whence.store.graph.edges import MOST, PROBE, TIMES, Time, ends_of, held, is_at_field_level, is_kind
from whence.store.schema.array_parameters import given
from whence.store.schema.tables import (
    FOREVER,
    alias_group,
    lineage_set,
    lineage_version,
    unreported_column,
    validity_interval,
)


@lru_cache(maxsize=64)
def coarse_statement(dialect: str, direction: Direction, when: str) -> Select[Any]:
    """The edges without columns, with the parameters of `edges_statement`."""
    return coarse_query(given(dialect, *PROBE), direction, TIMES[when]).limit(MOST)


@lru_cache(maxsize=64)
def readers_statement(dialect: str, when: str) -> Select[Any]:
    """The jobs that report no columns, with the parameters of `edges_statement`."""
    return readers_query(given(dialect, *PROBE), TIMES[when]).limit(MOST)


@lru_cache(maxsize=64)
def unreported_statements(dialect: str, direction: Direction, when: str) -> Sequence[Select[Any]]:
    """The columns for which a job reports no source, with the parameters of `edges_statement`."""
    probe, at = given(dialect, *PROBE), TIMES[when]
    reads = unreported_reads_query(probe, direction, at).limit(MOST)
    return (reads,) if direction is Direction.DOWNSTREAM else (unreported_query(probe, at).limit(MOST), reads)


@lru_cache(maxsize=64)
def incomplete_statements(dialect: str, direction: Direction, grain: Grain, when: str) -> Sequence[Select[Any]]:
    """The columns and outputs of which a job reports that it does not know all sources, with the parameters of
    `edges_statement`. At other grains than that of fields, an output stands for its columns. A probe may also be the
    job itself.
    """
    probe, at = given(dialect, *PROBE), TIMES[when]
    columns = _columns_with_gaps(Origin.INCOMPLETE, at)
    near = columns.c.field_id if grain is Grain.FIELD else columns.c.output_id
    reads = _reads_query(probe, columns, near, direction, at).limit(MOST)
    if direction is Direction.DOWNSTREAM:
        return (reads,)
    own = _written_query(probe, columns, columns.c.owner_id).where(is_kind(probe.c.id, Kind.JOB))
    return (_written_query(probe, columns, near).limit(MOST), own.limit(MOST), reads)


def coarse_query(probe: Subquery, direction: Direction, at: Time) -> Select[Any]:
    """Edges between whole datasets whose owner reports no columns of their target."""
    edges, finer = held(at), held(at).alias("finer")
    near, far = ends_of(direction)
    with_columns = and_(
        finer.c.owner_id == edges.c.owner_id,
        _one_name(finer.c.target_dataset_id) == _one_name(edges.c.target_dataset_id),
        is_at_field_level(finer),
    )
    return (
        select(probe.c.id, edges.c.owner_id, edges.c[f"{far}_id"])
        .distinct()
        .join_from(probe, edges, edges.c[f"{near}_id"] == probe.c.id)
        .where(is_kind(edges.c.source_id, Kind.DATASET), is_kind(edges.c.target_id, Kind.DATASET))
        .where(~exists().where(with_columns))
        .order_by(probe.c.id, edges.c.owner_id, edges.c[f"{far}_id"])
    )


def readers_query(probe: Subquery, at: Time) -> Select[Any]:
    """Jobs that read a whole dataset, derive nothing from it, and do not report the columns that they read."""
    edges, finer = held(at), held(at).alias("other")
    is_finer = and_(
        finer.c.owner_id == edges.c.target_id,
        _one_name(finer.c.source_dataset_id) == _one_name(edges.c.source_id),
        or_(~is_kind(finer.c.target_id, Kind.JOB), is_kind(finer.c.source_id, Kind.FIELD)),
    )
    return (
        select(probe.c.id, edges.c.target_id)
        .distinct()
        .join_from(probe, edges, edges.c.source_id == probe.c.id)
        .where(is_kind(edges.c.target_id, Kind.JOB), ~exists().where(is_finer))
        .order_by(probe.c.id, edges.c.target_id)
    )


def unreported_query(probe: Subquery, at: Time) -> Select[Any]:
    """Columns that a job writes and that no edge of the job leads to."""
    columns = _columns_with_gaps(Origin.UNREPORTED, at)
    return _written_query(probe, columns, columns.c.field_id).where(_is_unreached(columns, at))


def unreported_reads_query(probe: Subquery, direction: Direction, at: Time) -> Select[Any]:
    """The same with the job's inputs; downstream, the inputs with the datasets that have such columns."""
    columns = _columns_with_gaps(Origin.UNREPORTED, at)
    return _reads_query(probe, columns, columns.c.field_id, direction, at).where(_is_unreached(columns, at))


def _written_query(probe: Subquery, columns: Subquery, near: ColumnElement[int]) -> Select[Any]:
    found = select(probe.c.id, columns.c.owner_id, literal(0)).join_from(probe, columns, near == probe.c.id)
    return found.distinct().order_by(probe.c.id, columns.c.owner_id)


def _reads_query(
    probe: Subquery, columns: Subquery, near: ColumnElement[int], direction: Direction, at: Time
) -> Select[Any]:
    reads = held(at)
    own = and_(reads.c.owner_id == columns.c.owner_id, reads.c.target_id == columns.c.owner_id)
    read, far = and_(own, is_kind(reads.c.source_id, Kind.DATASET)), reads.c.source_id
    if direction is Direction.DOWNSTREAM:
        near, far = reads.c.source_id, columns.c.output_id
    found = select(probe.c.id, columns.c.owner_id, far).join_from(probe, columns.join(reads, read), near == probe.c.id)
    return found.distinct().order_by(probe.c.id, columns.c.owner_id, far)


def _is_unreached(columns: Subquery, at: Time) -> ColumnElement[bool]:
    edges = held(at).alias("reaching")
    reaching = and_(edges.c.owner_id == columns.c.owner_id, edges.c.target_id == columns.c.field_id)
    return ~exists().where(reaching)


def _columns_with_gaps(origin: Origin, at: Time) -> Subquery:
    """The columns of all sets of this origin that are current, were valid at a time, or were ever asserted."""
    columns = unreported_column
    # Not a parameter: the planner finds the partial index of this origin only by the literal.
    of_set = and_(lineage_set.c.id == columns.c.set_id, lineage_set.c.origin == literal_column(f"'{origin}'"))
    query = select(columns.c.field_id, lineage_set.c.output_id, lineage_set.c.owner_id).join_from(
        columns, lineage_set, of_set
    )
    if isinstance(at, int) and at == ALL_TIME:
        return query.subquery()
    holds = (
        validity_interval.c.valid_to == FOREVER
        if at is None
        else and_(validity_interval.c.valid_from <= at, validity_interval.c.valid_to > at)
    )
    query = query.join(lineage_version, lineage_version.c.set_id == columns.c.set_id)
    return query.join(
        validity_interval,
        and_(
            validity_interval.c.version == lineage_version.c.id,
            validity_interval.c.owner_id == lineage_set.c.owner_id,
            holds,
        ),
    ).subquery()


def _one_name(dataset_id: ColumnElement[int]) -> ColumnElement[int]:
    """The dataset's representative, or the dataset itself."""
    group = alias_group.alias()
    chosen = select(group.c.representative_id).where(group.c.dataset_id == dataset_id).correlate_except(group)
    return func.coalesce(chosen.scalar_subquery(), dataset_id)
