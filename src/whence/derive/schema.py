"""The two named schemas of the pipeline: a reading (Arrow, from the reader) and a row (Spark, to the store).

A row has one list column per fact table; a test holds them to `store/tables.py`.
"""

import pyarrow as pa

LONG, SHORT, INT, TEXT, BYTES = pa.int64(), pa.int16(), pa.int32(), pa.string(), pa.binary()

Columns = dict[str, pa.DataType]

SCALARS: Columns = {
    "position": LONG,
    "event_id": LONG,
    "rest": LONG,
    "reason": TEXT,  # why it cannot be read; null for an event
    "kind": SHORT,  # null where the record is no event of its own
    "time": LONG,
    "state": SHORT,
    "producer_id": LONG,
    "producer": TEXT,
    "warnings": TEXT,
    "subject_id": LONG,
    "version": LONG,  # of the lineage sets, together; 0: none
    "declarer": LONG,  # the owner of declared lineage, else null
    "run_node": LONG,  # these five are null for all but run events
    "run_id": TEXT,
    "job_id": LONG,
    "streaming": SHORT,
    "partial": SHORT,
}

NAMED: Columns = {"id": LONG, "namespace": TEXT, "name": TEXT}

LISTS: dict[str, Columns] = {
    "datasets": NAMED,
    "jobs": NAMED,
    "containers": {"id": LONG, "run_id": TEXT, "job_id": LONG, "relation": SHORT},
    "facets": {"subject_id": LONG, "name": TEXT, "body_id": LONG, "payload": TEXT},
    "run_facets": {"content_id": LONG, "content": BYTES},
    "aliases": {"dataset_id": LONG, "alias_id": LONG, "type": TEXT},
    "schemas": {"dataset_id": LONG, "body_id": LONG, "content": BYTES},
    "sets": {
        "id": LONG,
        "digest": TEXT,
        "owner_id": LONG,
        "output_id": LONG,
        "level": TEXT,
        "origin": TEXT,
        "content": BYTES,
    },
}

WITNESSES: Columns = {"first_time": LONG, "first_event": LONG, "last_time": LONG, "last_event": LONG}
SEEN: Columns = {"first_seen": LONG, "last_seen": LONG}
SAID: Columns = {"time": LONG, "rank": SHORT, "event_id": LONG}

ROWS: dict[str, Columns] = {
    "event": {
        "id": LONG,
        "rest": LONG,
        "kind": SHORT,
        "time": LONG,
        "producer_id": LONG,
        "state": SHORT,
        "subject_id": LONG,
        "warnings": TEXT,
        "position": LONG,
    },
    "receipt": {"position": LONG, "event_id": LONG, "rest": LONG, "reason": TEXT},
    "producer": {"id": LONG, "uri": TEXT},
    "dataset": {**NAMED, **SEEN},
    "job": {**NAMED, **SEEN},
    "run": {
        "id": LONG,
        "run_id": TEXT,
        "job_id": LONG,
        "state_rank": SHORT,
        "state_at": LONG,
        "state": SHORT,
        "started_at": LONG,
        "seen_from": LONG,
        "seen_to": LONG,
        "streaming": SHORT,
        "partial": SHORT,
        "terminals": SHORT,
    },
    "containment": {"run_id": LONG, "container_id": LONG, "relation": SHORT},
    "facet": {"subject_id": LONG, "name": TEXT, **SAID, "body_id": LONG, "payload": TEXT},
    "run_facets": {"run_id": LONG, "content_id": LONG, **SAID, "content": BYTES},
    "alias": {**LISTS["aliases"], **WITNESSES},
    "schema_version": {"dataset_id": LONG, "body_id": LONG, **WITNESSES, "content": BYTES},
    "lineage_set": {
        **{name: LISTS["sets"][name] for name in LISTS["sets"] if name != "content"},
        **WITNESSES,
        "content": BYTES,
    },
    "version": {"id": LONG, "set_id": LONG},
    "run_lineage": {"run_id": LONG, "version": LONG, "time": LONG, "event_id": LONG},
    "declaration": {"event_id": LONG, "owner_id": LONG, "time": LONG, "version": LONG},
    "touched": {"statement_id": LONG, "kind": SHORT},
}
"""The columns of the tables, in their order. What is written once only follows as `payload` or `content`, packed
(`store/packed.py`): the fields and edges that it stands for are rows only where it is new.
"""


PACKED = {"facet": "payload", "schema_version": "content", "lineage_set": "content"}
"""The column that is no column of the table, by table."""


def list_of(columns: Columns) -> pa.DataType:
    """The type of a list column whose elements have these columns."""
    return pa.list_(pa.struct(columns))


READING_SCHEMA = pa.schema({**SCALARS, **{name: list_of(columns) for name, columns in LISTS.items()}})
ROW_SCHEMA = pa.schema({"position": LONG} | {name: list_of(columns) for name, columns in ROWS.items()})
