"""Queries for the edges of one hop and their gaps: current, at a time, or of all times."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Subquery,
    and_,
    bindparam,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
)

from whence.model.graph import ALL_TIME, Direction, EdgeRow, Grain, Hop, SetEdge
from whence.model.ids import Kind
from whence.model.lineage import Origin
from whence.store.encryption.keyring import SEALED_TEXT, keys_in, open_expression
from whence.store.schema.array_parameters import given
from whence.store.schema.tables import (
    FOREVER,
    alias_group,
    edge,
    lineage_edge,
    lineage_set,
    lineage_version,
    unreported_column,
    validity_interval,
)

KIND_BITS = 3

E = TypeVar("E", EdgeRow, SetEdge)

Time = int | ColumnElement[int] | None
"""A time, or a parameter for one; None means now."""


@lru_cache(maxsize=64)
def edges_statement(dialect: str, direction: Direction, grain: Grain, when: str) -> Select[Any]:
    """The edges of one hop, compiled once. Parameters: `given` (index and id), `most` (rows), and `at` if `when` is
    `then`.
    """
    return edges_query(given(dialect, *PROBE), Hop(direction, grain), _TIMES[when]).limit(_MOST)


@lru_cache(maxsize=64)
def coarse_statement(dialect: str, direction: Direction, when: str) -> Select[Any]:
    """The edges without columns, with the same parameters."""
    return coarse_query(given(dialect, *PROBE), direction, _TIMES[when]).limit(_MOST)


@lru_cache(maxsize=64)
def readers_statement(dialect: str, when: str) -> Select[Any]:
    """The jobs that report no columns, with the same parameters."""
    return readers_query(given(dialect, *PROBE), _TIMES[when]).limit(_MOST)


@lru_cache(maxsize=64)
def unreported_statements(dialect: str, direction: Direction, when: str) -> Sequence[Select[Any]]:
    """The columns for which a job reports no source, with the same parameters."""
    probe, at = given(dialect, *PROBE), _TIMES[when]
    reads = unreported_reads_query(probe, direction, at).limit(_MOST)
    return (reads,) if direction is Direction.DOWNSTREAM else (unreported_query(probe, at).limit(_MOST), reads)


PROBE = ("place", "id")


_TIMES: dict[str, Time] = {"now": None, "ever": ALL_TIME, "then": bindparam("at", type_=BigInteger)}
_MOST = bindparam("most", type_=Integer)


def when(at: int | None) -> str:
    """The variant of the statements for a time."""
    return "now" if at is None else "ever" if at == ALL_TIME else "then"


def held(at: Time) -> FromClause:
    """The edges that are current, were valid at a time, or were ever asserted, in one shape."""
    if at is None:
        return edge
    if isinstance(at, int) and at == ALL_TIME:
        return _edges_of_all_time()
    return (
        select(
            validity_interval.c.owner_id,
            validity_interval.c.confirmed,
            lineage_edge.c.set_id,
            lineage_edge.c.ordinal,
            lineage_edge.c.source_id,
            lineage_edge.c.target_id,
            lineage_edge.c.source_dataset_id,
            lineage_edge.c.target_dataset_id,
            lineage_edge.c.type,
            lineage_edge.c.subtype,
            lineage_edge.c.masking,
            lineage_edge.c.description,
            lineage_set.c.origin,
        )
        .select_from(lineage_edge)
        .join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id)
        .join(lineage_version, lineage_version.c.set_id == lineage_edge.c.set_id)
        .join(
            validity_interval,
            and_(
                validity_interval.c.version == lineage_version.c.id,
                validity_interval.c.valid_from <= at,
                validity_interval.c.valid_to > at,
            ),
        )
        .subquery()
    )


def _edges_of_all_time() -> FromClause:
    edge_columns = [lineage_edge.c[column.name] for column in edge.columns if column.name in lineage_edge.c]
    set_columns = [lineage_set.c.owner_id, lineage_set.c.origin, literal(True).label("confirmed")]
    return select(*edge_columns, *set_columns).join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id).subquery()


def edges_query(probe: Subquery, hop: Hop, at: Time) -> Select[Any]:
    """The edges of one hop. `probe` has the columns place and id."""
    edges = held(at)
    near, far = _ends(hop.direction)
    return (
        select(
            edges.c[f"{near}_id"],
            edges.c[f"{far}_id"],
            edges.c[f"{near}_dataset_id"],
            edges.c[f"{far}_dataset_id"],
            edges.c.owner_id,
            edges.c.set_id,
            edges.c.type,
            edges.c.subtype,
            edges.c.masking,
            edges.c.description,
            edges.c.origin,
            edges.c.confirmed,
        )
        .join_from(probe, edges, edges.c[f"{near}_id"] == probe.c.id)
        .where(*_of_grain(edges, hop.grain))
        .order_by(probe.c.place, edges.c[f"{far}_id"], edges.c.owner_id, edges.c.set_id, edges.c.ordinal)
    )


def coarse_query(probe: Subquery, direction: Direction, at: Time) -> Select[Any]:
    """Edges between whole datasets whose owner reports no columns of their target."""
    edges, finer = held(at), held(at).alias("finer")
    near, far = _ends(direction)
    with_columns = and_(
        finer.c.owner_id == edges.c.owner_id,
        _one_name(finer.c.target_dataset_id) == _one_name(edges.c.target_dataset_id),
        _at_field_level(finer),
    )
    return (
        select(probe.c.id, edges.c.owner_id, edges.c[f"{far}_id"])
        .distinct()
        .join_from(probe, edges, edges.c[f"{near}_id"] == probe.c.id)
        .where(_is(edges.c.source_id, Kind.DATASET), _is(edges.c.target_id, Kind.DATASET))
        .where(~exists().where(with_columns))
        .order_by(probe.c.id, edges.c.owner_id, edges.c[f"{far}_id"])
    )


def readers_query(probe: Subquery, at: Time) -> Select[Any]:
    """Jobs that read a whole dataset, derive nothing from it, and do not report the columns that they read."""
    edges, finer = held(at), held(at).alias("other")
    is_finer = and_(
        finer.c.owner_id == edges.c.target_id,
        _one_name(finer.c.source_dataset_id) == _one_name(edges.c.source_id),
        or_(~_is(finer.c.target_id, Kind.JOB), _is(finer.c.source_id, Kind.FIELD)),
    )
    return (
        select(probe.c.id, edges.c.target_id)
        .distinct()
        .join_from(probe, edges, edges.c.source_id == probe.c.id)
        .where(_is(edges.c.target_id, Kind.JOB), ~exists().where(is_finer))
        .order_by(probe.c.id, edges.c.target_id)
    )


def unreported_query(probe: Subquery, at: Time) -> Select[Any]:
    """Columns that a job writes and that no edge of the job leads to."""
    columns = _unreported(at)
    found = select(probe.c.id, columns.c.owner_id, literal(0))
    found = found.join_from(probe, columns, columns.c.field_id == probe.c.id).where(_is_unreached(columns, at))
    return found.distinct().order_by(probe.c.id, columns.c.owner_id)


def unreported_reads_query(probe: Subquery, direction: Direction, at: Time) -> Select[Any]:
    """The same with the job's inputs; downstream, the inputs with the datasets that have such columns."""
    columns, reads = _unreported(at), held(at)
    own = and_(reads.c.owner_id == columns.c.owner_id, reads.c.target_id == columns.c.owner_id)
    read = and_(own, _is(reads.c.source_id, Kind.DATASET))
    near, far = columns.c.field_id, reads.c.source_id
    if direction is Direction.DOWNSTREAM:
        near, far = reads.c.source_id, columns.c.dataset_id
    found = select(probe.c.id, columns.c.owner_id, far).join_from(probe, columns.join(reads, read), near == probe.c.id)
    return found.where(_is_unreached(columns, at)).distinct().order_by(probe.c.id, columns.c.owner_id, far)


def _is_unreached(columns: Subquery, at: Time) -> ColumnElement[bool]:
    edges = held(at).alias("reaching")
    reaching = and_(edges.c.owner_id == columns.c.owner_id, edges.c.target_id == columns.c.field_id)
    return ~exists().where(reaching)


def _unreported(at: Time) -> Subquery:
    """The unreported columns of all sets that are current, were valid at a time, or were ever asserted."""
    columns = unreported_column
    # Not a parameter: the planner finds the partial index of this origin only by the literal.
    of_set = and_(
        lineage_set.c.id == columns.c.set_id, lineage_set.c.origin == literal_column(f"'{Origin.UNREPORTED}'")
    )
    query = select(columns.c.field_id, columns.c.dataset_id, lineage_set.c.owner_id).join_from(
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


def opened(connection: Connection, rows: Iterable[E]) -> list[E]:
    """Edges with decrypted expressions. Raises EncryptionError."""
    find = keys_in(connection)
    return [
        row._replace(description=open_expression(find, row.set_id, row.description))
        if row.description.startswith(SEALED_TEXT)
        else row
        for row in rows
    ]


def _ends(direction: Direction) -> tuple[str, str]:
    return ("target", "source") if direction is Direction.UPSTREAM else ("source", "target")


def _of_grain(edges: FromClause, grain: Grain) -> tuple[ColumnElement[bool], ...]:
    match grain:
        case Grain.FIELD:
            return (_at_field_level(edges),)
        case Grain.DATASET:
            return (~_is(edges.c.source_id, Kind.FIELD), ~_is(edges.c.target_id, Kind.FIELD))
        case Grain.JOB:
            return ()


def _at_field_level(edges: FromClause) -> ColumnElement[bool]:
    return or_(_is(edges.c.source_id, Kind.FIELD), _is(edges.c.target_id, Kind.FIELD))


def _is(id_: ColumnElement[int], kind: Kind) -> ColumnElement[bool]:
    return id_.bitwise_and(KIND_BITS) == int(kind)


def _one_name(dataset_id: ColumnElement[int]) -> ColumnElement[int]:
    """The dataset's representative, or the dataset itself."""
    group = alias_group.alias()
    chosen = select(group.c.representative_id).where(group.c.dataset_id == dataset_id).correlate_except(group)
    return func.coalesce(chosen.scalar_subquery(), dataset_id)
