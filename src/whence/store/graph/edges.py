"""Queries for the edges of one hop: current, at a time, or of all times."""

from collections.abc import Iterable
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
    literal,
    or_,
    select,
)

from whence.model.graph import ALL_TIME, Direction, EdgeRow, Grain, Hop, SetEdge
from whence.model.ids import Kind
from whence.store.encryption.keyring import SEALED_TEXT, keys_in, open_expression
from whence.store.schema.array_parameters import given
from whence.store.schema.tables import (
    edge,
    lineage_edge,
    lineage_set,
    lineage_version,
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
    return edges_query(given(dialect, *PROBE), Hop(direction, grain), TIMES[when]).limit(MOST)


PROBE = ("place", "id")


TIMES: dict[str, Time] = {"now": None, "ever": ALL_TIME, "then": bindparam("at", type_=BigInteger)}
MOST = bindparam("most", type_=Integer)


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
    near, far = ends_of(hop.direction)
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


def opened(connection: Connection, rows: Iterable[E]) -> list[E]:
    """Edges with decrypted expressions. Raises EncryptionError."""
    find = keys_in(connection)
    return [
        row._replace(description=open_expression(find, row.set_id, row.description))
        if row.description.startswith(SEALED_TEXT)
        else row
        for row in rows
    ]


def ends_of(direction: Direction) -> tuple[str, str]:
    """The near and the far end of an edge."""
    return ("target", "source") if direction is Direction.UPSTREAM else ("source", "target")


def _of_grain(edges: FromClause, grain: Grain) -> tuple[ColumnElement[bool], ...]:
    match grain:
        case Grain.FIELD:
            return (is_at_field_level(edges),)
        case Grain.DATASET:
            return (~is_kind(edges.c.source_id, Kind.FIELD), ~is_kind(edges.c.target_id, Kind.FIELD))
        case Grain.JOB:
            return ()


def is_at_field_level(edges: FromClause) -> ColumnElement[bool]:
    """Whether an end of an edge is a field."""
    return or_(is_kind(edges.c.source_id, Kind.FIELD), is_kind(edges.c.target_id, Kind.FIELD))


def is_kind(id_: ColumnElement[int], kind: Kind) -> ColumnElement[bool]:
    """Whether an id is of this kind."""
    return id_.bitwise_and(KIND_BITS) == int(kind)
