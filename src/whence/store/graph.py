"""The read side of the store: what a walk asks of the tables, one indexed query for each hop, over one snapshot."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, FromClause, Select, Subquery, and_, exists, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import StoreError
from whence.model.blast import BlastRadius
from whence.model.graph import Direction, EdgeRow, Evidence, FieldRow, GapRow, Grain, Hit, Hop
from whence.model.ids import Kind, kind_of
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.store.arrays import integers
from whence.store.blast import find
from whence.store.engine import open_store, reading
from whence.store.graph_evidence import read_evidence
from whence.store.graph_search import search_names
from whence.store.summary import forgotten_history
from whence.store.tables import (
    alias_group,
    dataset,
    edge,
    field,
    job,
    lineage_edge,
    lineage_set,
    progress,
    span,
    version,
)

KIND_BITS = 3


def existing_store(url: str) -> Engine:
    """An engine over a store that is there, and answers. Raises StoreError if none does."""
    try:
        engine = open_store(url)
        _refuse_missing(engine)
        with reading(engine) as connection:
            connection.execute(select(progress).limit(1)).all()
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {str(error).splitlines()[0]}") from error
    return engine


@contextmanager
def open_graph(url: str) -> Iterator["StoreGraph"]:
    """The graph of an existing store, as one snapshot. Raises StoreError if there is none, or it does not answer."""
    try:
        engine = open_store(url)
        _refuse_missing(engine)
        with reading(engine) as connection:
            yield StoreGraph(connection)
        engine.dispose()
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {str(error).splitlines()[0]}") from error


def _refuse_missing(engine: Engine) -> None:
    file = engine.url.database
    if engine.dialect.name == "sqlite" and not (file and Path(file).is_file()):
        raise StoreError(f"no store at {file}; `whence up` or `whence demo` makes one")


@dataclass(frozen=True, slots=True)
class StoreGraph:
    """The lineage graph of one store, as one transaction sees it (`engine.reading`)."""

    connection: Connection

    def reached(self) -> tuple[int, ...]:
        """In each lane of the log, the position before which every event is in this graph."""
        query = select(progress.c.position).order_by(progress.c.position)
        return tuple(self.connection.execute(query).scalars())

    def forgotten_before(self) -> int | None:
        """What held only before this time (µs) was deleted by retention; None: nothing was."""
        return forgotten_history(self.connection)

    def edges(self, probes: Sequence[int], hop: Hop, limit: int) -> Sequence[EdgeRow]:
        """The edges at the given nodes, at most `limit`, in the order of `probes` and then of their far ends."""
        rows = self.connection.execute(edges_query(_numbered(self.connection, probes), hop).limit(limit))
        return [EdgeRow._make(row) for row in rows]

    def groups(self, dataset_ids: Iterable[int]) -> Mapping[int, tuple[DatasetName, ...]]:
        """The alias group of each dataset that is in one of two or more, representative first, then by name."""
        wanted = _ids(self.connection, dataset_ids)
        member = alias_group.alias()
        chosen = member.c.dataset_id == alias_group.c.representative_id
        query = (
            select(alias_group.c.dataset_id, chosen, dataset.c.namespace, dataset.c.name)
            .where(alias_group.c.dataset_id.in_(wanted))
            .join(member, member.c.representative_id == alias_group.c.representative_id)
            .join(dataset, dataset.c.id == member.c.dataset_id)
        )
        found: dict[int, list[tuple[bool, DatasetName]]] = {}
        for id_, first, namespace, name in self.connection.execute(query):
            found.setdefault(id_, []).append((not first, DatasetName(namespace, name)))
        return {id_: tuple(name for _, name in sorted(members)) for id_, members in found.items() if len(members) > 1}

    def fields(self, dataset_ids: Iterable[int]) -> Sequence[FieldRow]:
        """The fields of the given datasets, known from a schema or from lineage."""
        wanted = _ids(self.connection, dataset_ids)
        query = select(field.c.dataset_id, field.c.id, field.c.name).where(field.c.dataset_id.in_(wanted))
        return sorted(FieldRow._make(row) for row in self.connection.execute(query))

    def gaps(self, dataset_ids: Sequence[int], hop: Hop, limit: int) -> Sequence[GapRow]:
        """Where the lineage that an owner gives of these datasets has no columns, at most `limit` rows."""
        probe = _numbered(self.connection, dataset_ids)
        rows = [GapRow._make(row) for row in self.connection.execute(coarse_query(probe, hop).limit(limit))]
        if hop.direction is Direction.DOWNSTREAM and len(rows) < limit:
            readers = readers_query(probe, hop).limit(limit - len(rows))
            rows += [GapRow(dataset_id, owner_id, 0) for dataset_id, owner_id in self.connection.execute(readers)]
        return sorted(rows)

    def nodes(self, ids: Iterable[int]) -> Mapping[int, Node]:
        """The names of the given datasets, fields and jobs; an unknown id is left out."""
        by_kind: dict[Kind, list[int]] = {}
        for id_ in ids:
            by_kind.setdefault(kind_of(id_), []).append(id_)
        names: dict[int, Node] = {}
        for kind, wanted in by_kind.items():
            names |= self._names(kind, wanted)
        return names

    def search(self, fragments: Sequence[str], kind: Kind, limit: int) -> Sequence[Hit]:
        """Nodes whose name holds the fragments in this order, whatever their case: the shortest names first."""
        return search_names(self.connection, fragments, kind, limit)

    def evidence(self, set_ids: Iterable[int], at: int | None, runs: int) -> Mapping[int, Evidence]:
        """Why each lineage set is believed, from events not after `at`, with its latest `runs` runs."""
        return read_evidence(self.connection, sorted(set(set_ids)), at, runs)

    def blast(self, node_id: int) -> BlastRadius | None:
        """The blast radius of a canonical node; None if none is computed, or the node is newer."""
        return find(self.connection, node_id)

    def _names(self, kind: Kind, ids: Sequence[int]) -> Mapping[int, Node]:
        wanted = _ids(self.connection, ids)
        match kind:
            case Kind.DATASET:
                columns = (dataset.c.id, dataset.c.namespace, dataset.c.name)
                rows = select(*columns).where(dataset.c.id.in_(wanted))
                return {id_: DatasetName(namespace, name) for id_, namespace, name in self.connection.execute(rows)}
            case Kind.JOB:
                rows = select(job.c.id, job.c.namespace, job.c.name).where(job.c.id.in_(wanted))
                return {id_: JobName(namespace, name) for id_, namespace, name in self.connection.execute(rows)}
            case Kind.FIELD:
                of_dataset = field.join(dataset, dataset.c.id == field.c.dataset_id)
                fields = (
                    select(field.c.id, field.c.name, dataset.c.namespace, dataset.c.name)
                    .select_from(of_dataset)
                    .where(field.c.id.in_(wanted))
                )
                found = self.connection.execute(fields)
                return {id_: FieldName(DatasetName(namespace, of), name) for id_, name, namespace, of in found}
            case Kind.RUN:
                return {}


def held(at: int | None) -> FromClause:
    """The edges that hold now, or that held at a time: one shape for both."""
    if at is None:
        return edge
    return (
        select(
            span.c.owner_id,
            span.c.confirmed,
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
        .join(version, version.c.set_id == lineage_edge.c.set_id)
        .join(span, and_(span.c.version == version.c.id, span.c.valid_from <= at, span.c.valid_to > at))
        .subquery()
    )


def edges_query(probe: Subquery, hop: Hop) -> Select[Any]:
    """The edges of one hop. `probe` has the columns place and id."""
    edges = held(hop.at)
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


def coarse_query(probe: Subquery, hop: Hop) -> Select[Any]:
    """Edges between whole datasets whose owner gives no columns of their target."""
    edges, finer = held(hop.at), held(hop.at).alias("finer")
    near, far = _ends(hop.direction)
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


def readers_query(probe: Subquery, hop: Hop) -> Select[Any]:
    """Jobs that read a whole dataset, derive nothing from it, and do not say which columns they read."""
    edges, other = held(hop.at), held(hop.at).alias("other")
    says_more = and_(
        other.c.owner_id == edges.c.target_id,
        _one_name(other.c.source_dataset_id) == _one_name(edges.c.source_id),
        or_(~_is(other.c.target_id, Kind.JOB), _is(other.c.source_id, Kind.FIELD)),
    )
    return (
        select(probe.c.id, edges.c.target_id)
        .distinct()
        .join_from(probe, edges, edges.c.source_id == probe.c.id)
        .where(_is(edges.c.target_id, Kind.JOB), ~exists().where(says_more))
        .order_by(probe.c.id, edges.c.target_id)
    )


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
    """The dataset's representative, or itself."""
    group = alias_group.alias()
    chosen = select(group.c.representative_id).where(group.c.dataset_id == dataset_id).correlate_except(group)
    return func.coalesce(chosen.scalar_subquery(), dataset_id)


def _ids(connection: Connection, ids: Iterable[int]) -> Select[Any]:
    # As a list, not as a table: SQLite's planner may walk a small table with the ids inside, once they are a table.
    return select(integers(connection, ("id",), [(id_,) for id_ in ids]).c.id)


def _numbered(connection: Connection, ids: Sequence[int]) -> Subquery:
    return integers(connection, ("place", "id"), list(enumerate(ids)))
