"""The two named schemas of the pipeline: a reading (Arrow, from the reader) and a row (Spark, to the store).

A row is a reading with the columns that the stages add. The shapes define which rows of the tables it becomes; a test
compares them with `store/schema/tables.py`.
"""

from dataclasses import dataclass

import pyarrow as pa

from whence.store.schema.tables import DirtyKey

LONG, SHORT, INT, TEXT, BYTES = pa.int64(), pa.int16(), pa.int32(), pa.string(), pa.binary()

Columns = dict[str, pa.DataType]

SCALARS: Columns = {
    "position": LONG,
    "event_id": LONG,
    "rest": LONG,
    "reason": TEXT,  # why it cannot be read; null for an event
    "kind": SHORT,  # null if the record is not an event of its own
    "time": LONG,
    "state": SHORT,
    "producer_id": LONG,
    "producer": TEXT,
    "warnings": TEXT,
    "subject_id": LONG,
    "version": LONG,  # of the lineage sets, together; 0: none
    "declarer": LONG,  # the owner of declared lineage, else null
    "ends": SHORT,  # 1: it decommissions its job
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
    "run_facets": {"shape_id": LONG, "content": BYTES},
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

DERIVED: Columns = {
    "rank": SHORT,
    "started_at": LONG,
    "aborted_at": LONG,
    "failed_at": LONG,
    "terminals": SHORT,
    "witness": LONG,
    "declaration": LONG,
}
"""The columns that the stages add; null if they do not apply."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How records become rows of a table: one per record whose column `where` is not null, or one per element of the
    list `each`. `columns` are the table's: `list.column` of the element, a column of the record, or a constant.
    """

    columns: tuple[str | int | None, ...]
    each: str = ""
    where: str = "position"


def _each(list_: str, *columns: str | int | None) -> Shape:
    return Shape(columns, each=list_)


def _one(where: str, *columns: str | int | None) -> Shape:
    return Shape(columns, where=where)


_SEEN = ("time", "time")
_ASSERTED = ("time", "rank", "event_id")
_WITNESSED = ("time", "event_id", "time", "event_id")
_UNSEEN = (-1, 0, 0, *(None,) * 6, 0, 0, 0)
_ATTEMPTS = ("started_at", "started_at", "aborted_at", "failed_at")
_STATE = ("rank", "time", "state", *_ATTEMPTS, "time", "time", "streaming", "partial", "terminals")

SHAPES: dict[str, tuple[Shape, ...]] = {
    "event": (
        _one("kind", "event_id", "rest", "kind", "time", "producer_id", "state", "subject_id", "warnings", "position"),
    ),
    "receipt": (_one("reason", "position", "event_id", "rest", "reason"),),
    "producer": (_one("kind", "producer_id", "producer"),),
    "dataset": (_each("datasets", "datasets.id", "datasets.namespace", "datasets.name", *_SEEN),),
    "job": (_each("jobs", "jobs.id", "jobs.namespace", "jobs.name", *_SEEN),),
    "run": (
        _one("run_node", "run_node", "run_id", "job_id", *_STATE),
        _each("containers", "containers.id", "containers.run_id", "containers.job_id", *_UNSEEN),
    ),
    "containment": (_each("containers", "run_node", "containers.id", "containers.relation"),),
    "facet": (_each("facets", "facets.subject_id", "facets.name", *_ASSERTED, "facets.body_id"),),
    "run_facets": (_each("run_facets", "run_node", "run_facets.shape_id", *_ASSERTED, "run_facets.content"),),
    "alias": (_each("aliases", "aliases.dataset_id", "aliases.alias_id", "aliases.type", *_WITNESSED),),
    "schema_version": (_each("schemas", "schemas.dataset_id", "schemas.body_id", *_WITNESSED),),
    "lineage_set": (_each("sets", *(f"sets.{name}" for name in LISTS["sets"] if name != "content"), *_WITNESSED),),
    "lineage_version": (_each("sets", "version", "sets.id"),),
    "run_lineage": (_one("witness", "witness", "version", "time", "event_id"),),
    "declaration": (_one("declaration", "declaration", "declarer", "time", "version", "ends"),),
    "dirty_key": (
        _one("run_node", "job_id", int(DirtyKey.RUN), "run_node"),
        _one("declaration", "declarer", int(DirtyKey.DECLARATION), "declaration"),
        _each("aliases", "aliases.dataset_id", int(DirtyKey.ALIAS), "aliases.dataset_id"),
    ),
}
"""The rows of every table that is not the content of another (`store/schema/packed.py`)."""


def list_of(columns: Columns) -> pa.DataType:
    """The type of a list column whose elements have these columns."""
    return pa.list_(pa.struct(columns))


_LISTED = {name: list_of(columns) for name, columns in LISTS.items()}
READING_SCHEMA = pa.schema({**SCALARS, **_LISTED})
ROW_SCHEMA = pa.schema({**SCALARS, **DERIVED, **_LISTED})
