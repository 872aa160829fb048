"""The tables. Fact columns carry their merge rule, so that the SQL upsert and the in-memory fold are made from one
declaration.

Rules (docs/state.md): `key` and `identity` (equal or refused), `min`, `max`, `or` (bits), and `latest`/`earliest`:
columns that travel together, the row with the largest/smallest tuple of them wins. Times are microseconds UTC, ids
are `model.ids`.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

Rule = Literal["key", "identity", "min", "max", "or", "latest", "earliest"]

FOREVER = 2**63 - 1
"""`valid_to` of what still holds."""

Id = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit key: in SQLite the row's own number, so that it needs no index of its own."""

_COMPACT: dict[str, Any] = {"sqlite_with_rowid": False}
"""Tables with several key columns: SQLite keeps the row in the key's own tree, once."""


class Touch(IntEnum):
    """What is to be settled again."""

    RUN = 0
    DECLARATION = 1
    ALIAS = 2


metadata = MetaData()


def _fact(name: str, type_: Any, rule: Rule, **options: Any) -> Column[Any]:
    nullable = rule not in ("key", "identity") and bool(options.pop("nullable", False))
    primary = rule == "key"
    return Column(
        name, type_, info={"merge": rule}, nullable=nullable, primary_key=primary, autoincrement=False, **options
    )


def _witnesses() -> tuple[Column[Any], ...]:
    return (
        _fact("first_time", BigInteger, "earliest"),
        _fact("first_event", BigInteger, "earliest"),
        _fact("last_time", BigInteger, "latest"),
        _fact("last_event", BigInteger, "latest"),
    )


def _plain(name: str, type_: Any, *, primary_key: bool = False) -> Column[Any]:
    return Column(name, type_, primary_key=primary_key, autoincrement=False, nullable=False)


def merge_rules(table: Table) -> Mapping[str, Rule]:
    """Column name → merge rule of a fact table."""
    return {column.name: column.info["merge"] for column in table.columns}


event = Table(
    "event",
    metadata,
    _fact("id", Id, "key"),  # model.ids.event_id: the first half of the event's key
    _fact("rest", BigInteger, "identity"),  # the other half
    _fact("kind", SmallInteger, "identity"),  # model.events.EventKind
    _fact("time", BigInteger, "identity"),
    _fact("producer_id", BigInteger, "identity"),
    _fact("state", SmallInteger, "identity"),
    _fact("subject_id", BigInteger, "identity"),  # the run, job or dataset that the event is about
    _fact("warnings", Text, "identity"),  # a JSON array; empty: none
    _fact("position", BigInteger, "min"),  # of the receipt that was applied; the others are in `receipt`
    Index("event_subject", "subject_id"),
)

receipt = Table(
    "receipt",
    metadata,
    _fact("position", Id, "key"),
    _fact("event_id", BigInteger, "identity"),
    _fact("rest", BigInteger, "identity"),
    _fact("reason", Text, "identity"),  # why it is in quarantine; empty: it came before, or again
    Index("receipt_event", "event_id"),
)

producer = Table(
    "producer",
    metadata,
    _fact("id", Id, "key"),
    _fact("uri", Text, "identity"),
)

dataset = Table(
    "dataset",
    metadata,
    _fact("id", Id, "key"),
    _fact("namespace", Text, "identity"),
    _fact("name", Text, "identity"),
    _fact("first_seen", BigInteger, "min"),
    _fact("last_seen", BigInteger, "max"),
)

field = Table(
    "field",
    metadata,
    _fact("id", Id, "key"),
    _fact("dataset_id", BigInteger, "identity"),
    _fact("name", Text, "identity"),
    _fact("declared", Integer, "or"),  # 1: a schema facet lists it
    Index("field_dataset", "dataset_id"),
)

job = Table(
    "job",
    metadata,
    _fact("id", Id, "key"),
    _fact("namespace", Text, "identity"),
    _fact("name", Text, "identity"),
    _fact("first_seen", BigInteger, "min"),
    _fact("last_seen", BigInteger, "max"),
)

run = Table(
    "run",
    metadata,
    _fact("id", Id, "key"),
    _fact("run_id", Text, "identity"),
    _fact("job_id", BigInteger, "identity"),
    _fact("state_rank", SmallInteger, "latest"),  # -1: a placeholder, known from its children only
    _fact("state_at", BigInteger, "latest"),
    _fact("state", SmallInteger, "latest"),
    _fact("started_at", BigInteger, "min", nullable=True),
    _fact("seen_from", BigInteger, "min", nullable=True),
    _fact("seen_to", BigInteger, "max", nullable=True),
    _fact("streaming", SmallInteger, "or"),
    _fact("partial", SmallInteger, "or"),
    _fact("terminals", SmallInteger, "or"),  # bit = RunState value
    Index("run_run_id", "run_id"),
    Index("run_job", "job_id", "seen_to"),
)

containment = Table(
    "containment",
    metadata,
    _fact("run_id", BigInteger, "key"),
    _fact("container_id", BigInteger, "key"),
    _fact("relation", SmallInteger, "or"),  # 1: parent, 2: root
    Index("containment_container", "container_id"),
    **_COMPACT,
)

facet = Table(
    "facet",
    metadata,
    _fact("subject_id", BigInteger, "key"),  # a dataset or job
    _fact("name", Text, "key"),
    _fact("time", BigInteger, "latest"),
    _fact("rank", SmallInteger, "latest"),
    _fact("event_id", BigInteger, "latest"),
    _fact("body_id", BigInteger, "latest"),  # hash of the payload, which is in `facet_body`
    **_COMPACT,
)

run_facets = Table(
    "run_facets",
    metadata,
    _fact("run_id", BigInteger, "key"),
    _fact("shape_id", BigInteger, "key"),  # of what is said together: equal shapes replace each other facet by facet
    _fact("time", BigInteger, "latest"),
    _fact("rank", SmallInteger, "latest"),
    _fact("event_id", BigInteger, "latest"),
    _fact("content", LargeBinary, "latest"),  # store.packed: the facets
    **_COMPACT,
)

alias = Table(
    "alias",
    metadata,
    _fact("dataset_id", BigInteger, "key"),
    _fact("alias_id", BigInteger, "key"),
    _fact("type", Text, "key"),
    *_witnesses(),
    Index("alias_reverse", "alias_id"),
    **_COMPACT,
)

schema_version = Table(
    "schema_version",
    metadata,
    _fact("dataset_id", BigInteger, "key"),
    _fact("body_id", BigInteger, "key"),  # hash of the schema facet's payload
    *_witnesses(),
    **_COMPACT,
)

schema_body = Table(
    "schema_body",
    metadata,
    _fact("dataset_id", BigInteger, "key"),
    _fact("body_id", BigInteger, "key"),
    _fact("payload", Text, "identity"),
    **_COMPACT,
)

lineage_set = Table(
    "lineage_set",
    metadata,
    _fact("id", Id, "key"),
    _fact("digest", Text, "identity"),  # of owner, output, level, origin and edges
    _fact("owner_id", BigInteger, "identity"),
    _fact("output_id", BigInteger, "identity"),  # 0: none
    _fact("level", Text, "identity"),
    _fact("origin", Text, "identity"),
    *_witnesses(),
    Index("lineage_set_owner", "owner_id"),
)

lineage_edge = Table(
    "lineage_edge",
    metadata,
    _fact("set_id", BigInteger, "key"),
    _fact("ordinal", Integer, "key"),  # place among the set's sorted edges: a function of the content
    _fact("source_id", BigInteger, "identity"),
    _fact("target_id", BigInteger, "identity"),
    _fact("source_dataset_id", BigInteger, "identity"),  # of a field or dataset; 0 for a job
    _fact("target_dataset_id", BigInteger, "identity"),
    _fact("type", Text, "identity"),
    _fact("subtype", Text, "identity"),
    _fact("masking", Boolean, "identity"),
    _fact("description", Text, "identity"),
    Index("lineage_edge_source", "source_id"),
    Index("lineage_edge_target", "target_id"),
    **_COMPACT,
)

version = Table(
    "version",
    metadata,
    _fact("id", BigInteger, "key"),  # hash of the sorted set ids
    _fact("set_id", BigInteger, "key"),
    Index("version_set", "set_id"),
    **_COMPACT,
)

run_lineage = Table(
    "run_lineage",
    metadata,
    _fact("run_id", BigInteger, "key"),
    _fact("version", BigInteger, "key"),  # the sets that an event of the run said together
    _fact("time", BigInteger, "latest"),
    _fact("event_id", BigInteger, "latest"),
    Index("run_lineage_version", "version", "time"),
    **_COMPACT,
)

declaration = Table(
    "declaration",
    metadata,
    _fact("event_id", Id, "key"),
    _fact("owner_id", BigInteger, "identity"),
    _fact("time", BigInteger, "identity"),
    _fact("version", BigInteger, "identity"),
    _fact("ends", SmallInteger, "identity"),  # 1: it decommissions the job
    Index("declaration_owner", "owner_id"),
)

FACTS: tuple[Table, ...] = (
    event,
    receipt,
    producer,
    dataset,
    field,
    job,
    run,
    containment,
    facet,
    run_facets,
    alias,
    schema_version,
    schema_body,
    lineage_set,
    lineage_edge,
    version,
    run_lineage,
    declaration,
)
"""In the order in which one transaction merges them: the same in every writer, so that two never deadlock."""

facet_body = Table(
    "facet_body",
    metadata,
    _plain("subject_id", BigInteger, primary_key=True),
    _plain("name", Text, primary_key=True),
    _plain("body_id", BigInteger),
    _plain("payload", Text),  # JSON; empty = deleted
    **_COMPACT,
)
"""The payload of each facet: apart, because most events change when a facet was said last, not what it says."""

# What follows is derived from the facts by `store/settle.py`.

touched = Table(
    "touched",
    metadata,
    _plain("owner_id", BigInteger, primary_key=True),  # whose statements those are; of an alias, the dataset
    _plain("kind", SmallInteger, primary_key=True),  # Touch
    _plain("statement_id", BigInteger, primary_key=True),  # a run, a declaring event, or a dataset with aliases
    **_COMPACT,
)

statement = Table(
    "statement",
    metadata,
    _plain("id", Id, primary_key=True),
    _plain("owner_id", BigInteger),
    _plain("aspect", SmallInteger),  # 0 observed, 1 read, 2 declared
    _plain("at", BigInteger),
    _plain("confirmed", Boolean),
    _plain("own_version", BigInteger),
    _plain("held_version", BigInteger),  # what holds after it
    _plain("held_confirmed", Boolean),
    Index("statement_owner", "owner_id", "aspect", "at", "id"),
)

span = Table(
    "span",
    metadata,
    _plain("owner_id", BigInteger, primary_key=True),
    _plain("aspect", SmallInteger, primary_key=True),
    _plain("valid_from", BigInteger, primary_key=True),
    _plain("valid_to", BigInteger),
    _plain("version", BigInteger),
    _plain("confirmed", Boolean),
    _plain("statement_id", BigInteger),
    Index("span_version", "version"),
    **_COMPACT,
)

edge = Table(
    "edge",
    metadata,
    _plain("owner_id", BigInteger, primary_key=True),
    _plain("aspect", SmallInteger, primary_key=True),
    _plain("set_id", BigInteger, primary_key=True),
    _plain("ordinal", Integer, primary_key=True),
    _plain("source_id", BigInteger),
    _plain("target_id", BigInteger),
    _plain("source_dataset_id", BigInteger),
    _plain("target_dataset_id", BigInteger),
    _plain("type", Text),
    _plain("subtype", Text),
    _plain("masking", Boolean),
    _plain("description", Text),
    _plain("origin", Text),
    _plain("confirmed", Boolean),
    Index("edge_source", "source_id"),
    Index("edge_target", "target_id"),
    **_COMPACT,
)

alias_group = Table(
    "alias_group",
    metadata,
    _plain("dataset_id", Id, primary_key=True),
    _plain("representative_id", BigInteger),
    Index("alias_group_representative", "representative_id"),
)

progress = Table(
    "progress",
    metadata,
    _plain("name", Text, primary_key=True),  # "log": all records before this position are in the tables
    _plain("position", BigInteger),
)

DERIVED: tuple[Table, ...] = (facet_body, statement, span, edge, alias_group)
