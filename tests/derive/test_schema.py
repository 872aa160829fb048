"""The rows that records become are those of the store's tables."""

import json
from typing import Any

import pytest
from sqlalchemy import BigInteger, Boolean, Integer, LargeBinary, SmallInteger, Table, Text

from whence.derive.reading.record import read_records
from whence.derive.writing.chunk_facts import ChunkFacts, collect_facts
from whence.log import Kind, Position, Record
from whence.openlineage.accept import seal
from whence.store.schema.columns import written_columns
from whence.store.schema.tables import FACTS, dirty_key

PYTHON = {BigInteger: int, Integer: int, SmallInteger: int, Text: str, Boolean: bool, LargeBinary: bytes}
CONTENT = {"field", "lineage_edge", "schema_body", "tag_body", "unreported_column"}
"""Tables whose rows come packed in the content of others."""

TABLES = [table for table in (*FACTS, dirty_key) if table.name not in CONTENT]

HEAD = {"_producer": "https://example.org/p", "_schemaURL": "https://openlineage.io/spec/facets/1-0-0/F.json"}
JOB = {"namespace": "etl", "name": "daily"}
RUN = {"runId": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"}
PARENT = {**HEAD, "run": {"runId": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a11"}, "job": {"namespace": "etl", "name": "dag"}}
ORDERS = {"namespace": "postgres://db:5432", "name": "shop.public.orders"}
CHECKS = {**HEAD, "assertions": [{"assertion": "not_null", "success": True, "column": "amount"}]}
DAILY = {
    "namespace": "s3://lake",
    "name": "daily",
    "facets": {
        "schema": {**HEAD, "fields": [{"name": "total", "type": "int"}]},
        "tags": {**HEAD, "tags": [{"key": "pii", "value": "true", "field": "total"}]},
        "symlinks": {**HEAD, "identifiers": [{"namespace": "hive://meta", "name": "daily", "type": "TABLE"}]},
        "columnLineage": {**HEAD, "fields": {"total": {"inputFields": [{**ORDERS, "field": "amount"}]}}},
    },
    "outputFacets": {"outputStatistics": {**HEAD, "rowCount": 3}},
}
EVENT: dict[str, Any] = {
    "eventTime": "2026-11-20T06:00:00Z",
    "producer": "https://example.org/p",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "job": JOB,
    "inputs": [{**ORDERS, "inputFacets": {"dataQualityAssertions": CHECKS}}],
    "outputs": [DAILY],
}
STATES = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")


def record(place: int, body: object, kind: Kind = Kind.EVENT) -> Record:
    one = seal(json.dumps(body).encode())
    return Record(position=Position(0, place), kind=kind, key=one.key, received_at=0, payload=one.payload, reason="bad")


@pytest.fixture(scope="module")
def facts() -> ChunkFacts:
    """What one event of each kind and state says, and a record that was rejected."""
    runs = [{**EVENT, "eventType": state, "run": {**RUN, "facets": {"parent": PARENT}}} for state in STATES]
    records = [record(place, body) for place, body in enumerate([*runs, EVENT])]
    return collect_facts(read_records([*records, record(len(records), EVENT, Kind.QUARANTINED)]))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_have_the_columns_of_their_table(facts: ChunkFacts, table: Table) -> None:
    columns = written_columns(table)
    assert facts.rows(table.name)
    for row in facts.rows(table.name):
        for value, column in zip(row, columns, strict=True):
            assert (value is None and column.nullable) or type(value) is PYTHON[type(column.type)], column


def test_there_are_rows_for_fact_tables_only(facts: ChunkFacts) -> None:
    assert set(facts.tables) == {table.name for table in TABLES}
