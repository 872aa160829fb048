"""The canonical state as sorted JSON lines: compared in tests, and equal for two stores built from one log
(docs/explanation/state.md, "The dump").
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, select

from whence.model.events import EventKind, RunState
from whence.model.ids import EMPTY_VERSION, join_event_key
from whence.model.lineage import GAPS
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.store.connection.engine import reading
from whence.store.encryption.keyring import keys_in, open_expression, open_measurement, open_payload
from whence.store.graph.run_facets import ReportedFacets, read_all_reported_facets
from whence.store.ingest.dropped_datasets import dropped_dataset
from whence.store.ingest.statements import Aspect
from whence.store.schema.facet_templates import RunFacet
from whence.store.schema.packed import MEASURED_FACETS, unpack_measurements
from whence.store.schema.tables import (
    FOREVER,
    alias,
    alias_group,
    checked_dataset,
    containment,
    dataset,
    declaration,
    edge,
    event,
    facet,
    facet_body,
    field,
    job,
    lineage_edge,
    lineage_set,
    lineage_version,
    measurement,
    producer,
    run,
    run_lineage,
    schema_body,
    schema_version,
    tag_body,
    tag_report,
    unreported_column,
    validity_interval,
)

Line = dict[str, Any]


def dump(engine: Engine) -> Iterator[str]:
    """Yield every fact and every derived row, one JSON line each, sorted, from one snapshot."""
    with reading(engine) as connection:
        state = _State(connection)
        lines = [
            json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            for part in _PARTS
            for line in part(state)
        ]
    yield from sorted(lines)


class _State:
    """One snapshot, with the names of all its nodes and the content of its sets."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.find = keys_in(connection)
        datasets = {row.id: DatasetName(row.namespace, row.name) for row in self.rows(dataset)}
        jobs = {row.id: JobName(row.namespace, row.name) for row in self.rows(job)}
        fields = {row.id: FieldName(datasets[row.dataset_id], row.name) for row in self.rows(field)}
        runs = {row.id: f"run:{row.run_id}@{jobs[row.job_id]}" for row in self.rows(run)}
        named = {**datasets, **jobs, **fields, **runs}
        self.node: Mapping[int, str | None] = {0: None, **{id_: str(name) for id_, name in named.items()}}
        self.digest: Mapping[int, str] = {row.id: row.digest for row in self.rows(lineage_set)}
        self.version = _versions(self)
        self.key: Mapping[int, str] = _Keys((row.id, join_event_key(row.id, row.rest)) for row in self.rows(event))
        self.producer: Mapping[int, str] = {row.id: row.uri for row in self.rows(producer)}

    def rows(self, table: Table) -> list[Row[Any]]:
        return list(self._connection.execute(select(table)))

    def reported_facets(self) -> Iterator[ReportedFacets]:
        return read_all_reported_facets(self._connection)


class _Keys(dict[int, str]):
    """Keys by event id. Of a deleted event only the first half is known."""

    def __missing__(self, event_id: int) -> str:
        return join_event_key(event_id, 0)[:16]


def _versions(state: _State) -> Mapping[int, list[str]]:
    """Digests of the sets of each version, sorted."""
    out: dict[int, list[str]] = {EMPTY_VERSION: []}
    for row in state.rows(lineage_version):
        out.setdefault(row.id, []).append(state.digest[row.set_id])
    return {one: sorted(digests) for one, digests in out.items()}


def _events(state: _State) -> Iterator[Line]:
    for row in state.rows(event):
        kind = EventKind(row.kind).name.lower()
        line = {"fact": "event", "key": state.key[row.id], "kind": kind, "time": row.time}
        yield {
            **line,
            "producer": state.producer[row.producer_id],
            "state": RunState(row.state).name,
            "subject": state.node[row.subject_id],
            "warnings": json.loads(row.warnings or "[]"),
        }


def _seen(table: Table) -> Callable[[_State], Iterator[Line]]:
    def lines(state: _State) -> Iterator[Line]:
        for row in state.rows(table):
            yield {
                "fact": table.name,
                "node": state.node[row.id],
                "first_seen": row.first_seen,
                "last_seen": row.last_seen,
            }

    return lines


def _fields(state: _State) -> Iterator[Line]:
    for row in state.rows(field):
        yield {"fact": "field", "node": state.node[row.id], "declared": bool(row.declared)}


def _runs(state: _State) -> Iterator[Line]:
    for row in state.rows(run):
        yield {
            "fact": "run",
            "node": state.node[row.id],
            "state": RunState(row.state).name,
            "state_at": None if row.state_rank < 0 else row.state_at,
            "started_at": row.started_at,
            "seen_from": row.seen_from,
            "seen_to": row.seen_to,
            "streaming": bool(row.streaming),
            "partial": bool(row.partial),
            "terminals": [one.name for one in RunState if row.terminals >> one.value & 1],
        }


def _containments(state: _State) -> Iterator[Line]:
    for row in state.rows(containment):
        names = {"run": state.node[row.run_id], "container": state.node[row.container_id]}
        for bit, relation in ((1, "parent"), (2, "root")):
            if row.relation & bit:
                yield {"fact": "containment", **names, "relation": relation}


def _facets(state: _State) -> Iterator[Line]:
    payloads = {
        (row.subject_id, row.name): open_payload(state.find, row.subject_id, row.name, row.payload)
        for row in state.rows(facet_body)
    }
    for row in state.rows(facet):
        yield _facet(state, row, row.subject_id, ("", 0, row.name, payloads[row.subject_id, row.name]))
    latest: dict[tuple[int, str, int, str], tuple[ReportedFacets, str]] = {}
    for reported in state.reported_facets():
        for role, dataset_id, name, payload in reported.facets:
            latest[reported.run_id, role, dataset_id, name] = (reported, payload)
    for (run_id, role, dataset_id, name), (reported, payload) in latest.items():
        yield _facet(state, reported, run_id, (role, dataset_id, name, payload))


def _facet(state: _State, row: Row[Any] | ReportedFacets, subject: int, run_facet: RunFacet) -> Line:
    role, dataset_id, name, payload = run_facet
    head = {
        "fact": "facet",
        "subject": state.node[subject],
        "role": role,
        "dataset": state.node[dataset_id],
        "name": name,
    }
    value = json.loads(payload) if payload else None
    return {**head, "time": row.time, "rank": row.rank, "key": state.key[row.event_id], "payload": value}


def _measurements(state: _State) -> Iterator[Line]:
    for row in state.rows(measurement):
        role, name = MEASURED_FACETS[row.facet]
        head = {"fact": "measurement", "run": state.node.get(row.source_id), "dataset": state.node[row.dataset_id]}
        head |= {"role": role, "facet": name, "time": row.time, "rank": row.rank}
        for column, metric, value in unpack_measurements(open_measurement(state.find, tuple(row))):
            measured = {"column": column or None, "metric": metric, "value": value}
            yield {**head, "key": state.key[row.event_id], **measured}


def _checked_datasets(state: _State) -> Iterator[Line]:
    for row in state.rows(checked_dataset):
        names = {"job": state.node[row.job_id], "dataset": state.node[row.dataset_id]}
        yield {"fact": "checked_dataset", **names, "first_seen": row.first_seen}


def _aliases(state: _State) -> Iterator[Line]:
    for row in state.rows(alias):
        names = {"dataset": state.node[row.dataset_id], "alias": state.node[row.alias_id], "type": row.type}
        yield {"fact": "alias", **names, **_witnesses(state, row)}


def _witnesses(state: _State, row: Row[Any]) -> Line:
    first, last = state.key[row.first_event], state.key[row.last_event]
    return {"first": [row.first_time, first], "last": [row.last_time, last]}


def _schemas(state: _State) -> Iterator[Line]:
    payloads = {(row.dataset_id, row.body_id): row.payload for row in state.rows(schema_body)}
    for row in state.rows(schema_version):
        payload = json.loads(payloads[row.dataset_id, row.body_id])
        yield {"fact": "schema", "dataset": state.node[row.dataset_id], "payload": payload, **_witnesses(state, row)}


def _tag_reports(state: _State) -> Iterator[Line]:
    payloads = {(row.subject_id, row.facet, row.body_id): row.payload for row in state.rows(tag_body)}
    for row in state.rows(tag_report):
        payload = payloads[row.subject_id, row.facet, row.body_id]
        head = {"fact": "tags", "subject": state.node[row.subject_id], "name": TAG_FACETS[row.facet]}
        head |= {"payload": json.loads(payload) if payload else None}
        yield {**head, "time": row.time, "rank": row.rank, "key": state.key[row.event_id]}


def _sets(state: _State) -> Iterator[Line]:
    edges: dict[int, list[tuple[int, list[Any]]]] = {}
    for row in state.rows(lineage_edge):
        edges.setdefault(row.set_id, []).append((row.ordinal, _edge(state, row)))
    for row in state.rows(unreported_column):
        edges.setdefault(row.set_id, []).append((0, ["", state.node[row.field_id], "UNKNOWN", "", False, ""]))
    for row in state.rows(lineage_set):
        if row.origin in GAPS:
            edges[row.id] = [(0, [state.node[row.owner_id], *edge[1:]]) for _, edge in edges[row.id]]
        head = {
            "fact": "set",
            "set": row.digest,
            "owner": state.node[row.owner_id],
            "output": state.node[row.output_id],
        }
        content = {"level": row.level, "origin": row.origin, "edges": [one for _, one in sorted(edges.get(row.id, ()))]}
        yield {**head, **content, **_witnesses(state, row)}


def _edge(state: _State, row: Row[Any]) -> list[Any]:
    return [
        state.node[row.source_id],
        state.node[row.target_id],
        row.type,
        row.subtype,
        bool(row.masking),
        open_expression(state.find, row.set_id, row.description),
    ]


def _run_lineage(state: _State) -> Iterator[Line]:
    """Yield one line per run and set: the latest of the versions that contain it."""
    latest: dict[tuple[int, str], tuple[int, str]] = {}
    for row in state.rows(run_lineage):
        for digest in state.version[row.version]:
            stamp = (row.time, state.key[row.event_id])
            latest[row.run_id, digest] = max(latest.get((row.run_id, digest), stamp), stamp)
    for (run_id, digest), (time, key) in latest.items():
        yield {"fact": "run_lineage", "run": state.node[run_id], "set": digest, "time": time, "key": key}


def _declarations(state: _State) -> Iterator[Line]:
    for row in state.rows(declaration):
        line = {"fact": "declaration", "key": state.key[row.event_id], "owner": state.node[row.owner_id]}
        yield {**line, "time": row.time, "sets": state.version[row.version]}


def _spans(state: _State) -> Iterator[Line]:
    for row in state.rows(validity_interval):
        if row.version != EMPTY_VERSION:
            until = None if row.valid_to == FOREVER else row.valid_to
            line = {"derived": "validity_interval", **_owner(state, row), "from": row.valid_from, "to": until}
            yield {**line, "confirmed": bool(row.confirmed), "sets": state.version[row.version]}


def _owner(state: _State, row: Row[Any]) -> Line:
    return {"owner": state.node[row.owner_id], "aspect": Aspect(row.aspect).name.lower()}


def _edges(state: _State) -> Iterator[Line]:
    names = ("source", "target", "type", "subtype", "masking", "description")
    for row in state.rows(edge):
        line = {"derived": "edge", **_owner(state, row), "set": state.digest[row.set_id]}
        yield {
            **line,
            **dict(zip(names, _edge(state, row), strict=True)),
            "origin": row.origin,
            "confirmed": bool(row.confirmed),
        }


def _groups(state: _State) -> Iterator[Line]:
    members: dict[int, list[str]] = {}
    for row in state.rows(alias_group):
        members.setdefault(row.representative_id, []).append(str(state.node[row.dataset_id]))
    for chosen, names in members.items():
        yield {"derived": "alias_group", "representative": state.node[chosen], "members": sorted(names)}


def _dropped(state: _State) -> Iterator[Line]:
    for row in state.rows(dropped_dataset):
        yield {"derived": "dropped", "dataset": state.node[row.dataset_id], "at": row.at}


_PARTS: tuple[Callable[[_State], Iterator[Line]], ...] = (
    _events,
    _seen(dataset),
    _seen(job),
    _fields,
    _runs,
    _containments,
    _facets,
    _measurements,
    _checked_datasets,
    _aliases,
    _schemas,
    _tag_reports,
    _sets,
    _run_lineage,
    _declarations,
    _spans,
    _edges,
    _groups,
    _dropped,
)
