"""Small lineage worlds, written straight into the tables: who said which edges, and when."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, insert

from whence.model.ids import event_id, event_id_rest, hash64, node_id
from whence.model.lineage import GAPS, Edge, Level, LineageSet, Origin, hash_lineage_set
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.store.connection.engine import writing
from whence.store.ingest.search_index import index_all
from whence.store.schema.tables import (
    DERIVED,
    FACTS,
    FOREVER,
    alias_group,
    dataset,
    edge,
    event,
    facet,
    facet_body,
    field,
    job,
    lineage_edge,
    lineage_set,
    lineage_version,
    producer,
    progress,
    run,
    run_lineage,
    schema_body,
    schema_version,
    unreported_column,
    validity_interval,
)

POSITION = 4711


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the run of an owner said of its lineage, holding from `start` until `end`."""

    owner: JobName | DatasetName
    edges: tuple[tuple[Edge, Origin], ...]
    start: int = 0
    end: int = FOREVER
    confirmed: bool = True
    run_id: str = "0b5ba1e0-0000-4000-8000-000000000001"
    state: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Statements, groups of datasets that are one, fields that only a schema knows, facets (name and JSON), and
    schemas (JSON, when it was said first and last).
    """

    statements: tuple[Statement, ...]
    groups: tuple[tuple[DatasetName, ...], ...] = ()
    declared: tuple[FieldName, ...] = ()
    jobs: tuple[JobName, ...] = ()
    facets: tuple[tuple[DatasetName | JobName, str, str], ...] = ()
    schemas: tuple[tuple[DatasetName, str, int, int], ...] = ()


def load(engine: Engine, world: World) -> None:
    """Replace what is in the store."""
    with writing(engine) as connection:
        for table in (*FACTS, *DERIVED, progress):
            connection.execute(delete(table))
        connection.execute(insert(progress), {"name": "log", "position": POSITION})
        _write_names(connection, world)
        rows = [row for statement in world.statements for row in _rows(statement)]
        rows += [row for number, one in enumerate(world.facets) for row in _facet(number, *one)]
        rows += [row for one in world.schemas for row in _schema(*one)]
        for table in {id(table): table for table, _ in rows}.values():
            _insert(connection, table, [row for of, row in rows if of is table])
        index_all(connection)


def nodes_of(world: World) -> set[Node]:
    """Every dataset, field and job of a world."""
    ends = {
        end
        for statement in world.statements
        for one, _ in statement.edges
        for end in (one.source, one.target, statement.owner)
    }
    ends |= {member for group in world.groups for member in group} | set(world.declared) | set(world.jobs)
    ends |= {of for of, *_ in world.facets} | {of for of, *_ in world.schemas}
    return ends | {end.dataset for end in ends if isinstance(end, FieldName)}


def sets_of(statement: Statement) -> Iterator[tuple[LineageSet, str]]:
    """The lineage sets of a statement, one for each output, level and origin, and their digests."""

    def kind(one: tuple[Edge, Origin]) -> tuple[str, str, str]:
        level = Level.FIELD if FieldName in (type(one[0].source), type(one[0].target)) else Level.DATASET
        return (str(_output(one[0]) or ""), level, one[1])

    for (_, level, origin), several in groupby(
        sorted(set(statement.edges), key=lambda one: (kind(one), _texts(one[0]))), key=kind
    ):
        edges = tuple(one for one, _ in several)
        lineage = LineageSet(output=_output(edges[0]), level=Level(level), origin=Origin(origin), edges=edges)
        yield lineage, hash_lineage_set(statement.owner, lineage)


def _output(one: Edge) -> DatasetName | None:
    match one.target:
        case FieldName(of):
            return of
        case DatasetName() as whole:
            return whole
        case _:
            return None


def _texts(one: Edge) -> tuple[Any, ...]:
    return (str(one.source), str(one.target), one.type, one.subtype, one.masking, one.description)


def _dataset_id(end: Node) -> int:
    match end:
        case FieldName(of):
            return node_id(of)
        case DatasetName():
            return node_id(end)
        case JobName():
            return 0


def _write_names(connection: Connection, world: World) -> None:
    seen = {"first_seen": 0, "last_seen": 0}
    nodes = sorted(nodes_of(world), key=str)
    of_dataset = [
        {"id": node_id(one), "namespace": one.namespace, "name": one.name, **seen}
        for one in nodes
        if isinstance(one, DatasetName)
    ]
    of_job = [
        {"id": node_id(one), "namespace": one.namespace, "name": one.name, **seen}
        for one in nodes
        if isinstance(one, JobName)
    ]
    of_field = [
        {
            "id": node_id(one),
            "dataset_id": node_id(one.dataset),
            "name": one.field,
            "declared": int(one in world.declared),
        }
        for one in nodes
        if isinstance(one, FieldName)
    ]
    members = [
        {"dataset_id": node_id(member), "representative_id": node_id(group[0])}
        for group in world.groups
        for member in group
    ]
    for table, rows in ((dataset, of_dataset), (job, of_job), (field, of_field), (alias_group, members)):
        if rows:
            connection.execute(insert(table), rows)


def _rows(statement: Statement) -> Iterator[tuple[Table, dict[str, Any]]]:
    owner, sets = node_id(statement.owner), list(sets_of(statement))
    owner_job = statement.owner if isinstance(statement.owner, JobName) else JobName("none", "none")
    run_id = node_id(RunName(statement.run_id, owner_job))
    key = f"{hash64(statement.run_id + str(statement.owner)) & (2**63 - 1):016x}{0:016x}"
    version_id = hash64(",".join(sorted(hex_ for _, hex_ in sets)))
    yield producer, {"id": 1, "uri": "https://test"}
    yield (
        event,
        {"id": event_id(key), "rest": event_id_rest(key), "kind": 0, "time": statement.start, "producer_id": 1}
        | {
            "state": statement.state,
            "subject_id": run_id,
            "warnings": "",
            "position": 7,
        },
    )
    yield (
        run,
        {"id": run_id, "run_id": statement.run_id, "job_id": node_id(owner_job), "streaming": 0}
        | {
            "state_rank": min(statement.state, 3),
            "latest_at": statement.start,
            "latest_state": statement.state,
            "started_at": statement.start,
            "restarted_at": statement.start,
            "seen_from": statement.start,
            "seen_to": statement.start,
            "partial": 0,
            "terminals": 1 << statement.state,
        },
    )
    yield (
        validity_interval,
        {
            "owner_id": owner,
            "aspect": 0,
            "valid_from": statement.start,
            "valid_to": statement.end,
            "version": version_id,
        }
        | {
            "confirmed": statement.confirmed,
            "statement_id": run_id,
        },
    )
    for lineage, hex_ in sets:
        set_id = int.from_bytes(bytes.fromhex(hex_[:16]), "big", signed=True)
        yield lineage_version, {"id": version_id, "set_id": set_id}
        ends = {"first_time": statement.start, "first_event": event_id(key), "last_time": statement.start}
        ends |= {"last_event": event_id(key)}
        yield (
            lineage_set,
            {"id": set_id, "digest": hex_, "owner_id": owner, "level": lineage.level, "origin": lineage.origin}
            | {
                "output_id": _dataset_id(lineage.output) if lineage.output else 0,
                **ends,
            },
        )
        yield run_lineage, {"run_id": run_id, "version": version_id, "time": statement.start, "event_id": event_id(key)}
        for ordinal, one in enumerate(lineage.edges):
            if lineage.origin in GAPS:
                column = {"field_id": node_id(one.target), "dataset_id": _dataset_id(one.target)}
                yield unreported_column, {"set_id": set_id, **column}
                continue
            row = {"set_id": set_id, "ordinal": ordinal, **_edge(one)}
            yield lineage_edge, row
            if statement.end == FOREVER:
                yield (
                    edge,
                    {**row, "owner_id": owner, "aspect": 0, "origin": lineage.origin, "confirmed": statement.confirmed},
                )


def _facet(
    number: int, subject: DatasetName | JobName, name: str, payload: str
) -> Iterator[tuple[Table, dict[str, Any]]]:
    key = {"subject_id": node_id(subject), "name": name, "body_id": number}
    yield facet, {**key, "time": 0, "rank": 0, "event_id": 0}
    yield facet_body, {**key, "payload": payload}


def _schema(of: DatasetName, payload: str, first: int, last: int) -> Iterator[tuple[Table, dict[str, Any]]]:
    key = {"dataset_id": node_id(of), "body_id": hash64(payload)}
    yield schema_version, {**key, "first_time": first, "first_event": 0, "last_time": last, "last_event": 0}
    yield schema_body, {**key, "payload": payload}


def _edge(one: Edge) -> dict[str, Any]:
    return {
        "source_id": node_id(one.source),
        "target_id": node_id(one.target),
        "source_dataset_id": _dataset_id(one.source),
        "target_dataset_id": _dataset_id(one.target),
        "type": one.type,
        "subtype": one.subtype,
        "masking": one.masking,
        "description": one.description,
    }


def _insert(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    keys: Sequence[str] = [column.name for column in table.primary_key]
    distinct = {tuple(row[key] for key in keys): row for row in rows}
    connection.execute(insert(table), list(distinct.values()))
