"""The tables. Fact columns carry their merge rule, so that the SQL upsert and the in-memory fold are made from one
declaration.

Rules (docs/state.md): `key` and `identity` (equal or refused), `min`, `max`, `or` (bits), and `latest`/`earliest`:
columns that travel together, the row with the largest/smallest tuple of them wins. Times are microseconds UTC, ids
are `model.ids`.
"""

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, SmallInteger, Table, Text

Rule = Literal["key", "identity", "min", "max", "or", "latest", "earliest"]

FOREVER = 2**63 - 1
"""`valid_to` of what still holds."""

metadata = MetaData()


def _fact(name: str, type_: Any, rule: Rule, **options: Any) -> Column[Any]:
    nullable = rule not in ("key", "identity") and bool(options.pop("nullable", False))
    primary = rule == "key"
    return Column(
        name, type_, info={"merge": rule}, nullable=nullable, primary_key=primary, autoincrement=False, **options
    )


def merge_rules(table: Table) -> Mapping[str, Rule]:
    """Column name → merge rule of a fact table."""
    return {column.name: column.info["merge"] for column in table.columns}


event = Table(
    "event",
    metadata,
    _fact("key", Text, "key"),
    _fact("kind", Text, "identity"),
    _fact("time", BigInteger, "identity"),
    _fact("producer", Text, "identity"),
    _fact("state", SmallInteger, "identity"),
    _fact("subject_id", BigInteger, "identity"),  # the run, job or dataset that the event is about
    _fact("warnings", Text, "identity"),  # a JSON array
    _fact("position", BigInteger, "min"),
    Index("event_subject", "subject_id"),
)

receipt = Table(
    "receipt",
    metadata,
    _fact("position", BigInteger, "key"),
    _fact("key", Text, "identity"),
    _fact("outcome", Text, "identity"),  # event | quarantined
    _fact("reason", Text, "identity"),
    Index("receipt_key", "key"),
)

dataset = Table(
    "dataset",
    metadata,
    _fact("id", BigInteger, "key"),
    _fact("namespace", Text, "identity"),
    _fact("name", Text, "identity"),
    _fact("first_seen", BigInteger, "min"),
    _fact("last_seen", BigInteger, "max"),
)

field = Table(
    "field",
    metadata,
    _fact("id", BigInteger, "key"),
    _fact("dataset_id", BigInteger, "identity"),
    _fact("name", Text, "identity"),
    _fact("declared", Integer, "or"),  # 1: a schema facet lists it
    Index("field_dataset", "dataset_id"),
)

job = Table(
    "job",
    metadata,
    _fact("id", BigInteger, "key"),
    _fact("namespace", Text, "identity"),
    _fact("name", Text, "identity"),
    _fact("first_seen", BigInteger, "min"),
    _fact("last_seen", BigInteger, "max"),
)

run = Table(
    "run",
    metadata,
    _fact("id", BigInteger, "key"),
    _fact("run_id", Text, "identity"),
    _fact("job_id", BigInteger, "identity"),
    _fact("state_rank", SmallInteger, "latest"),  # -1: a placeholder, known from its children only
    _fact("state_at", BigInteger, "latest"),
    _fact("state", SmallInteger, "latest"),
    _fact("started_at", BigInteger, "min", nullable=True),
    _fact("seen_from", BigInteger, "min", nullable=True),
    _fact("seen_to", BigInteger, "max", nullable=True),
    _fact("streaming", Integer, "or"),
    _fact("partial", Integer, "or"),
    _fact("terminals", Integer, "or"),  # bit = RunState value
    Index("run_run_id", "run_id"),
    Index("run_job", "job_id", "seen_to"),
)

containment = Table(
    "containment",
    metadata,
    _fact("run_id", BigInteger, "key"),
    _fact("container_id", BigInteger, "key"),
    _fact("relation", Text, "key"),  # parent | root
    Index("containment_container", "container_id"),
)

facet = Table(
    "facet",
    metadata,
    _fact("subject_id", BigInteger, "key"),  # a dataset, job or run
    _fact("role", Text, "key"),  # "" | input | output: with a role, the subject is the run
    _fact("dataset_id", BigInteger, "key"),  # of an input or output facet, else 0
    _fact("name", Text, "key"),
    _fact("time", BigInteger, "latest"),
    _fact("rank", SmallInteger, "latest"),
    _fact("key", Text, "latest"),
    _fact("payload", Text, "latest"),  # JSON; empty = deleted
)

alias = Table(
    "alias",
    metadata,
    _fact("dataset_id", BigInteger, "key"),
    _fact("alias_id", BigInteger, "key"),
    _fact("type", Text, "key"),
    _fact("first_time", BigInteger, "earliest"),
    _fact("first_key", Text, "earliest"),
    _fact("last_time", BigInteger, "latest"),
    _fact("last_key", Text, "latest"),
    Index("alias_reverse", "alias_id"),
)

lineage_set = Table(
    "lineage_set",
    metadata,
    _fact("id", BigInteger, "key"),
    _fact("digest", Text, "identity"),  # of owner, output, level, origin and edges
    _fact("owner_id", BigInteger, "identity"),
    _fact("output_id", BigInteger, "identity"),  # 0: none
    _fact("level", Text, "identity"),
    _fact("origin", Text, "identity"),
    _fact("first_time", BigInteger, "earliest"),
    _fact("first_key", Text, "earliest"),
    _fact("last_time", BigInteger, "latest"),
    _fact("last_key", Text, "latest"),
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
)

run_lineage = Table(
    "run_lineage",
    metadata,
    _fact("run_id", BigInteger, "key"),
    _fact("set_id", BigInteger, "key"),
    _fact("time", BigInteger, "latest"),
    _fact("key", Text, "latest"),
    Index("run_lineage_set", "set_id", "time"),
)

declaration = Table(
    "declaration",
    metadata,
    _fact("key", Text, "key"),
    _fact("owner_id", BigInteger, "identity"),
    _fact("time", BigInteger, "identity"),
    Index("declaration_owner", "owner_id"),
)

declared_lineage = Table(
    "declared_lineage",
    metadata,
    _fact("key", Text, "key"),
    _fact("set_id", BigInteger, "key"),
    Index("declared_lineage_set", "set_id"),
)

FACTS: tuple[Table, ...] = (
    receipt,
    event,
    dataset,
    field,
    job,
    run,
    containment,
    facet,
    alias,
    lineage_set,
    lineage_edge,
    run_lineage,
    declaration,
    declared_lineage,
)
"""In the order in which one transaction merges them: the same in every writer, so that two never deadlock."""

# What follows is derived from the facts by `store/settle.py`.

touched = Table(
    "touched",
    metadata,
    Column(
        "statement_id", BigInteger, primary_key=True, autoincrement=False
    ),  # a run, or the first 64 bits of a declaring event
    Column("key", Text, nullable=False),  # of the declaring event, or empty
)

version = Table(
    "version",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),  # hash of the sorted set ids
    Column("set_id", BigInteger, primary_key=True, autoincrement=False),
    Index("version_set", "set_id"),
)

statement = Table(
    "statement",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("owner_id", BigInteger, nullable=False),
    Column("aspect", SmallInteger, nullable=False),  # 0 observed, 1 read, 2 declared
    Column("at", BigInteger, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("own_version", BigInteger, nullable=False),
    Column("held_version", BigInteger, nullable=False),  # what holds after it
    Column("held_confirmed", Boolean, nullable=False),
    Index("statement_owner", "owner_id", "aspect", "at", "id"),
)

span = Table(
    "span",
    metadata,
    Column("owner_id", BigInteger, primary_key=True, autoincrement=False),
    Column("aspect", SmallInteger, primary_key=True, autoincrement=False),
    Column("valid_from", BigInteger, primary_key=True, autoincrement=False),
    Column("valid_to", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("statement_id", BigInteger, nullable=False),
    Index("span_version", "version"),
)

edge = Table(
    "edge",
    metadata,
    Column("owner_id", BigInteger, primary_key=True, autoincrement=False),
    Column("aspect", SmallInteger, primary_key=True, autoincrement=False),
    Column("set_id", BigInteger, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("source_id", BigInteger, nullable=False),
    Column("target_id", BigInteger, nullable=False),
    Column("source_dataset_id", BigInteger, nullable=False),
    Column("target_dataset_id", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("subtype", Text, nullable=False),
    Column("masking", Boolean, nullable=False),
    Column("description", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Index("edge_source", "source_id"),
    Index("edge_target", "target_id"),
)

alias_group = Table(
    "alias_group",
    metadata,
    Column("dataset_id", BigInteger, primary_key=True, autoincrement=False),
    Column("representative_id", BigInteger, nullable=False),
    Index("alias_group_representative", "representative_id"),
)

progress = Table(
    "progress",
    metadata,
    Column("name", Text, primary_key=True),  # "log": all records before this position are in the tables
    Column("position", BigInteger, nullable=False),
)

DERIVED: tuple[Table, ...] = (version, statement, span, edge, alias_group)
