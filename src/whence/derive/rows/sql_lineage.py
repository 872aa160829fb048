"""Lineage from an event's SQL if its producer reports no columns; otherwise the differences between both
(docs/how-to/sql.md). Everything follows from the event alone, so order and duplicates have no effect.

Import it only if there is SQL: the parser takes much memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import msgspec

from whence.capture.sql.events.datasets import EventDataset
from whence.capture.sql.events.enrichment import (
    UNRELATED,
    EventLineage,
    ReportedSql,
    dialect_named,
    read_event_sql,
    reader,
)
from whence.capture.sql.syntax.masking import mask_literals
from whence.derive.rows.dataset_rows import CACHED_CHARACTERS, FacetRow, find_payload, hash_payload
from whence.derive.rows.sql_comparison import Comparison, compare_edges
from whence.derive.rows.sql_completion import find_completing_edges
from whence.model.events import JobEvent, RunEvent
from whence.model.ids import node_id
from whence.model.lineage import Edge, Parsed
from whence.model.names import DatasetName, FieldName
from whence.openlineage.facets.facet_keys import ALIASES, CUT, JOINED, SQL_COMPARISON, SQL_LINEAGE
from whence.openlineage.facets.producers import is_of_spark
from whence.openlineage.json.wire import Json
from whence.openlineage.lineage_sets.lifecycle import written_outputs
from whence.openlineage.lineage_sets.unreported_columns import Outputs, collect_outputs
from whence.openlineage.write import own_facet

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSql:
    """An event's SQL, ready to be parsed. `decides` holds everything that the parsed lineage depends on, besides the
    event's names and columnLineage facets.
    """

    event: RunEvent | JobEvent
    query: str
    dialect: str
    is_of_spark: bool
    decides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SqlLineage:
    """The results of an event's SQL: lineage of its outputs, and facets of its job. `only_defines`: it is DDL."""

    outputs: Outputs
    facets: tuple[FacetRow, ...]
    only_defines: bool


def find_query(event: RunEvent | JobEvent) -> tuple[str, str]:
    """The query in an event's `sql` facet, masked, and its dialect; empty if the facet has none."""
    facets = event.job.facets
    payload, type_ = find_payload(facets, "sql"), find_payload(facets, "jobType")
    namespaces = tuple(dict.fromkeys(dataset.name.namespace for dataset in (*event.outputs, *event.inputs)))
    # A run repeats its SQL in each of its events, so it is masked once.
    read_query = _read_query_cached if len(payload) + len(type_) < CACHED_CHARACTERS else _read_query
    return read_query(payload, type_, namespaces)


def find_sql(event: RunEvent | JobEvent) -> EventSql | None:
    """The SQL in an event's `sql` facet; None if the facet has none."""
    query, dialect = find_query(event)
    if not query:
        return None
    texts = [
        find_payload(dataset.facets, key)
        for dataset in (*event.inputs, *event.outputs)
        for key in ("schema", "symlinks")
    ]
    aliases = [find_payload(dataset.facets, ALIASES) for dataset in (*event.inputs, *event.outputs)]
    of_spark = is_of_spark(event)
    decides = (dialect, query, str(of_spark), *texts, *aliases)
    return EventSql(event=event, query=query, dialect=dialect, is_of_spark=of_spark, decides=decides)


def _read_query(sql: str, type_: str, namespaces: tuple[str, ...]) -> tuple[str, str]:
    """The query, masked, and its dialect."""
    facet = _decode(sql)
    query, dialect_hint = facet.get("query"), facet.get("dialect")
    if not isinstance(query, str) or not query.strip():
        return "", ""
    integration = _decode(type_).get("integration") if type_ else None
    dialect = dialect_named([hint for hint in (dialect_hint, integration) if isinstance(hint, str)], namespaces)
    return mask_literals(query, dialect), dialect


_read_query_cached = lru_cache(maxsize=256)(_read_query)


def _make_request(sql: EventSql) -> ReportedSql:
    known = _collect_datasets(sql.event)
    inputs, outputs = (
        dict.fromkeys(dataset.name for dataset in datasets) for datasets in (sql.event.inputs, sql.event.outputs)
    )
    return ReportedSql(
        query=sql.query,
        dialect=sql.dialect,
        inputs=tuple(known[name] for name in inputs),
        outputs=tuple(known[name] for name in outputs),
        has_whole_schemas=sql.is_of_spark,
    )


def _collect_datasets(event: RunEvent | JobEvent) -> dict[DatasetName, EventDataset]:
    """The event's datasets. One mentioned several times has all its other names, and its last columns."""
    other_names: dict[DatasetName, set[DatasetName]] = {}
    fields: dict[DatasetName, tuple[str, ...]] = {}
    for dataset in (*event.inputs, *event.outputs):
        links = {link.name for link in dataset.symlinks if link.type not in (CUT, JOINED)}
        other_names.setdefault(dataset.name, set()).update(links - {dataset.name})
        if dataset.fields:
            fields[dataset.name] = tuple(field.name for field in dataset.fields)
    return {
        name: EventDataset(name=name, others=tuple(sorted(links)), fields=fields.get(name, ()))
        for name, links in other_names.items()
    }


def _reported_edges(event: RunEvent | JobEvent) -> dict[DatasetName, tuple[Edge, ...]]:
    """The field-to-field edges that the producer reports, by output."""
    written = written_outputs(event.inputs, event.outputs)
    edges = event.job.edges if event.job.edges is not None else [edge for output in written for edge in output.edges]
    by_output: dict[DatasetName, list[Edge]] = {}
    for edge in edges:
        if isinstance(edge.source, FieldName) and isinstance(edge.target, FieldName):
            by_output.setdefault(edge.target.dataset, []).append(edge)
    return {output: tuple(edges) for output, edges in by_output.items()}


def read_sql(sql: EventSql) -> SqlLineage:
    """Parse an event's SQL, and compare it with the report. Never raises."""
    request, reported = _make_request(sql), _reported_edges(sql.event)
    parsed_sql = read_event_sql(request)
    names = _index_names((*request.inputs, *request.outputs))
    compared = [
        compare_edges(output, reported[output], parsed.edges, names, is_complete=parsed_sql.is_complete)
        for output, parsed in sorted(parsed_sql.outputs.items())
        if output in reported
    ]
    job = node_id(sql.event.job.name)
    rows = [_facet_row(job, SQL_LINEAGE, _encode_facet(_lineage_facet(request, parsed_sql)))]
    if compared or parsed_sql.status == UNRELATED:  # deletes the comparison with a text that is no longer trusted
        rows.append(_facet_row(job, SQL_COMPARISON, _encode_facet(_comparison_facet(compared)) if compared else ""))
    return SqlLineage(_add_completing_edges(sql.event, parsed_sql.outputs, names), tuple(rows), parsed_sql.only_defines)


def _add_completing_edges(
    event: RunEvent | JobEvent, parsed: Outputs, names: Mapping[DatasetName, DatasetName]
) -> dict[DatasetName, Parsed]:
    reported = collect_outputs(event, event.outputs)
    return {
        output: replace(parsed_output, completing=find_completing_edges(reported[output], parsed_output.edges, names))
        for output, parsed_output in parsed.items()
    }


def _index_names(datasets: Iterable[EventDataset]) -> dict[DatasetName, DatasetName]:
    """The name that the event mentions, by each other name of a dataset, except names that several datasets claim."""
    claims: dict[DatasetName, set[DatasetName]] = {}
    for dataset in datasets:
        for name in dataset.names:
            claims.setdefault(name, set()).add(dataset.name)
    return {name: next(iter(owners)) for name, owners in claims.items() if len(owners) == 1}


def _lineage_facet(request: ReportedSql, parsed_sql: EventLineage) -> Json:
    return own_facet(
        "SqlLineageJobFacet",
        reader=reader(),
        dialect=request.dialect,
        status=parsed_sql.status,
        problems=list(parsed_sql.problems),
        unmatched=list(parsed_sql.unmatched),
    )


def _comparison_facet(compared: list[Comparison]) -> Json:
    return own_facet(
        "SqlComparisonJobFacet",
        reader=reader(),
        agreed=sum(comparison.agreed for comparison in compared),
        missingInReport=sum(comparison.missing_in_report for comparison in compared),
        missingInParse=sum(comparison.missing_in_parse for comparison in compared),
        outputs=[comparison.document() for comparison in compared],
    )


def _encode_facet(facet: Json) -> str:
    return _encode(facet).decode()


def _facet_row(job: int, key: str, payload: str) -> FacetRow:
    return job, key, hash_payload(payload), payload
