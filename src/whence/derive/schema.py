"""The two named schemas of the pipeline: a reading (Arrow, from the reader) and a row (Spark, to the store).

A row has one list column per fact table, each element with that table's columns in the table's order; a test holds
them to `store/tables.py`.
"""

import pyarrow as pa

LONG, SHORT, INT, TEXT, FLAG = pa.int64(), pa.int16(), pa.int32(), pa.string(), pa.bool_()

Columns = dict[str, pa.DataType]

SCALARS: Columns = {
    "position": LONG,
    "key": TEXT,
    "reason": TEXT,  # why it cannot be read; null for an event
    "event_kind": TEXT,  # null where the record is no event of its own
    "time": LONG,
    "state": SHORT,
    "producer": TEXT,
    "warnings": TEXT,
    "subject_id": LONG,
    "run_node": LONG,  # these five are null for all but run events
    "run_id": TEXT,
    "job_id": LONG,
    "streaming": INT,
    "partial": INT,
    "declarer": LONG,  # the owner of declared lineage, else null
}

LISTS: dict[str, Columns] = {
    "datasets": {"id": LONG, "namespace": TEXT, "name": TEXT},
    "jobs": {"id": LONG, "namespace": TEXT, "name": TEXT},
    "fields": {"id": LONG, "dataset_id": LONG, "name": TEXT, "declared": INT},
    "containers": {"id": LONG, "run_id": TEXT, "job_id": LONG, "relation": TEXT},
    "facets": {"subject_id": LONG, "role": TEXT, "dataset_id": LONG, "name": TEXT, "payload": TEXT},
    "aliases": {"dataset_id": LONG, "alias_id": LONG, "type": TEXT},
    "sets": {"id": LONG, "digest": TEXT, "owner_id": LONG, "output_id": LONG, "level": TEXT, "origin": TEXT},
    "edges": {
        "set_id": LONG,
        "ordinal": INT,
        "source_id": LONG,
        "target_id": LONG,
        "source_dataset_id": LONG,
        "target_dataset_id": LONG,
        "type": TEXT,
        "subtype": TEXT,
        "masking": FLAG,
        "description": TEXT,
    },
}

WITNESSES: Columns = {"first_time": LONG, "first_key": TEXT, "last_time": LONG, "last_key": TEXT}
SEEN: Columns = {"first_seen": LONG, "last_seen": LONG}

ROWS: dict[str, Columns] = {
    "receipt": {"position": LONG, "key": TEXT, "outcome": TEXT, "reason": TEXT},
    "event": {
        "key": TEXT,
        "kind": TEXT,
        "time": LONG,
        "producer": TEXT,
        "state": SHORT,
        "subject_id": LONG,
        "warnings": TEXT,
        "position": LONG,
    },
    "dataset": {**LISTS["datasets"], **SEEN},
    "field": LISTS["fields"],
    "job": {**LISTS["jobs"], **SEEN},
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
        "streaming": INT,
        "partial": INT,
        "terminals": INT,
    },
    "containment": {"run_id": LONG, "container_id": LONG, "relation": TEXT},
    "facet": {
        "subject_id": LONG,
        "role": TEXT,
        "dataset_id": LONG,
        "name": TEXT,
        "time": LONG,
        "rank": SHORT,
        "key": TEXT,
        "payload": TEXT,
    },
    "alias": {**LISTS["aliases"], **WITNESSES},
    "lineage_set": {**LISTS["sets"], **WITNESSES},
    "lineage_edge": LISTS["edges"],
    "run_lineage": {"run_id": LONG, "set_id": LONG, "time": LONG, "key": TEXT},
    "declaration": {"key": TEXT, "owner_id": LONG, "time": LONG},
    "declared_lineage": {"key": TEXT, "set_id": LONG},
    "touched": {"statement_id": LONG, "key": TEXT},
}


def list_of(columns: Columns) -> pa.DataType:
    """The type of a list column whose elements have these columns."""
    return pa.list_(pa.struct(columns))


READING_SCHEMA = pa.schema({**SCALARS, **{name: list_of(columns) for name, columns in LISTS.items()}})
ROW_SCHEMA = pa.schema({name: list_of(columns) for name, columns in ROWS.items()})
