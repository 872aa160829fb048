"""Lineage from the SQL that an event carries, where its producer reports no columns; and where it does, what the two
disagree on (docs/sql.md). All of it follows from the event alone, so order and duplicates cannot matter.

To be imported only where there is SQL: the parser costs memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import msgspec

from whence.capture.sql.datasets import EventDataset
from whence.capture.sql.enrichment import UNRELATED, Asked, EventLineage, dialect_named, read_asked, reader
from whence.capture.sql.masking import masked
from whence.derive.comparison import Comparison, compare
from whence.derive.completion import completing_edges
from whence.derive.dataset_rows import CACHED_CHARACTERS, FacetRow, body_id, payload_of
from whence.model.events import JobEvent, RunEvent
from whence.model.ids import node_id
from whence.model.lineage import Edge, Parsed
from whence.model.names import DatasetName, FieldName
from whence.openlineage.facets import ALIASES, CUT, JOINED, SQL_COMPARISON, SQL_LINEAGE
from whence.openlineage.lifecycle import written_outputs
from whence.openlineage.unreported import Outputs, outputs_of
from whence.openlineage.wire import Json
from whence.openlineage.write import own_facet

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSql:
    """An event's SQL, ready to be read. `decides`: all that the lineage read in it depends on, besides the event's
    names and columnLineage facets.
    """

    event: RunEvent | JobEvent
    query: str
    dialect: str
    is_of_spark: bool
    decides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SqlLineage:
    """What follows from an event's SQL: lineage of its outputs, and facets of its job. `only_defines`: it is DDL."""

    outputs: Outputs
    facets: tuple[FacetRow, ...]
    only_defines: bool


def sql_of(event: RunEvent | JobEvent) -> EventSql | None:
    """The SQL in an event's `sql` facet; None if there is none after all."""
    facets = event.job.facets
    payload, type_ = payload_of(facets, "sql"), payload_of(facets, "jobType")
    spaces = tuple(dict.fromkeys(one.name.namespace for one in (*event.outputs, *event.inputs)))
    # A run says the same SQL in each of its events: it is looked at once.
    once = _said_once if len(payload) + len(type_) < CACHED_CHARACTERS else _said
    query, dialect = once(payload, type_, spaces)
    if not query:
        return None
    said = [payload_of(one.facets, key) for one in (*event.inputs, *event.outputs) for key in ("schema", "symlinks")]
    aliases = [payload_of(one.facets, ALIASES) for one in (*event.inputs, *event.outputs)]
    of_spark = is_of_spark(event)
    decides = (dialect, query, str(of_spark), *said, *aliases)
    return EventSql(event=event, query=query, dialect=dialect, is_of_spark=of_spark, decides=decides)


def is_of_spark(event: RunEvent | JobEvent) -> bool:
    """Whether openlineage-spark reports the event: its schemas are whole, its SQL may be another statement's."""
    job_type = payload_of(event.job.facets, "jobType")
    integration = _decode(job_type).get("integration") if job_type else None
    return "/integration/spark" in event.producer or str(integration).upper() == "SPARK"


def _said(sql: str, type_: str, namespaces: tuple[str, ...]) -> tuple[str, str]:
    """The query, masked, and its dialect."""
    facet = _decode(sql)
    query, word = facet.get("query"), facet.get("dialect")
    if not isinstance(query, str) or not query.strip():
        return "", ""
    integration = _decode(type_).get("integration") if type_ else None
    dialect = dialect_named([one for one in (word, integration) if isinstance(one, str)], namespaces)
    return masked(query, dialect), dialect


_said_once = lru_cache(maxsize=256)(_said)


def _asked(sql: EventSql) -> Asked:
    known = _datasets(sql.event)
    inputs, outputs = (dict.fromkeys(one.name for one in some) for some in (sql.event.inputs, sql.event.outputs))
    return Asked(
        query=sql.query,
        dialect=sql.dialect,
        inputs=tuple(known[name] for name in inputs),
        outputs=tuple(known[name] for name in outputs),
        has_whole_schemas=sql.is_of_spark,
    )


def _datasets(event: RunEvent | JobEvent) -> dict[DatasetName, EventDataset]:
    """The event's datasets. Mentioned several times, one has all its other names, and the columns said last."""
    others: dict[DatasetName, set[DatasetName]] = {}
    fields: dict[DatasetName, tuple[str, ...]] = {}
    for one in (*event.inputs, *event.outputs):
        links = {link.name for link in one.symlinks if link.type not in (CUT, JOINED)}
        others.setdefault(one.name, set()).update(links - {one.name})
        if one.fields:
            fields[one.name] = tuple(field.name for field in one.fields)
    return {
        name: EventDataset(name=name, others=tuple(sorted(links)), fields=fields.get(name, ()))
        for name, links in others.items()
    }


def _reported(event: RunEvent | JobEvent) -> dict[DatasetName, tuple[Edge, ...]]:
    """The edges from field to field that the producer reports, by output."""
    written = written_outputs(event.inputs, event.outputs)
    said = event.job.edges if event.job.edges is not None else [edge for one in written for edge in one.edges]
    found: dict[DatasetName, list[Edge]] = {}
    for edge in said:
        if isinstance(edge.source, FieldName) and isinstance(edge.target, FieldName):
            found.setdefault(edge.target.dataset, []).append(edge)
    return {output: tuple(edges) for output, edges in found.items()}


def read_sql(sql: EventSql) -> SqlLineage:
    """Read it. Never raises."""
    asked, reported = _asked(sql), _reported(sql.event)
    read = read_asked(asked)
    names = _names((*asked.inputs, *asked.outputs))
    compared = [
        compare(output, reported[output], parsed.edges, names, is_complete=read.is_complete)
        for output, parsed in sorted(read.outputs.items())
        if output in reported
    ]
    job = node_id(sql.event.job.name)
    rows = [_row(job, SQL_LINEAGE, _encoded(_reading(asked, read)))]
    if compared or read.status == UNRELATED:  # what was compared with a text that is no longer believed ends
        rows.append(_row(job, SQL_COMPARISON, _encoded(_comparison(compared)) if compared else ""))
    return SqlLineage(_completing(sql.event, read.outputs, names), tuple(rows), read.only_defines)


def _completing(
    event: RunEvent | JobEvent, parsed: Outputs, names: Mapping[DatasetName, DatasetName]
) -> dict[DatasetName, Parsed]:
    reported = outputs_of(event, event.outputs)
    return {
        output: replace(one, completing=completing_edges(reported[output], one.edges, names))
        for output, one in parsed.items()
    }


def _names(datasets: Iterable[EventDataset]) -> dict[DatasetName, DatasetName]:
    """By another name of a dataset, the name that the event mentions; without those that several claim."""
    claims: dict[DatasetName, set[DatasetName]] = {}
    for one in datasets:
        for name in one.names:
            claims.setdefault(name, set()).add(one.name)
    return {name: next(iter(meant)) for name, meant in claims.items() if len(meant) == 1}


def _reading(asked: Asked, read: EventLineage) -> Json:
    return own_facet(
        "SqlLineageJobFacet",
        reader=reader(),
        dialect=asked.dialect,
        status=read.status,
        problems=list(read.problems),
        unmatched=list(read.unmatched),
    )


def _comparison(compared: list[Comparison]) -> Json:
    return own_facet(
        "SqlComparisonJobFacet",
        reader=reader(),
        agreed=sum(one.agreed for one in compared),
        missingInReport=sum(one.missing_in_report for one in compared),
        missingInParse=sum(one.missing_in_parse for one in compared),
        outputs=[one.document() for one in compared],
    )


def _encoded(facet: Json) -> str:
    return _encode(facet).decode()


def _row(job: int, key: str, payload: str) -> FacetRow:
    return job, key, body_id(payload), payload
