"""The tables: facts, and what is derived from them. Times are microseconds UTC, ids are `model.ids`."""

from sqlalchemy import BigInteger, Boolean, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text, text

from whence.store.schema.columns import (
    COMPACT,
    Id,
    beginning,
    derived_column,
    fact_column,
    indexes_of_facets,
    key_columns,
    plain_column,
    stamp_columns,
    witness_columns,
)
from whence.store.schema.run_states import RUN_STATE, RUN_STATE_AT

FOREVER = 2**63 - 1  # the `valid_to` of what still holds

metadata = MetaData()

event = Table(
    "event",
    metadata,
    fact_column("id", Id, "key"),  # model.ids.event_id: the first half of the event's key
    fact_column("rest", BigInteger, "identity"),  # the other half
    fact_column("kind", SmallInteger, "identity"),  # model.events.EventKind
    fact_column("time", BigInteger, "identity"),
    fact_column("producer_id", BigInteger, "identity"),
    fact_column("state", SmallInteger, "identity"),
    fact_column("subject_id", BigInteger, "identity"),  # the run, job or dataset that the event is about
    fact_column("warnings", Text, "identity"),  # a JSON array; empty: none
    fact_column("position", BigInteger, "min"),  # of the receipt that was applied; the others are in `receipt`
    Index("event_subject", "subject_id"),
    Index("event_time", "time", "id", "kind", "state"),
    **COMPACT,
)

receipt = Table(
    "receipt",
    metadata,
    fact_column("position", Id, "key"),
    fact_column("event_id", BigInteger, "identity"),
    fact_column("rest", BigInteger, "identity"),
    fact_column("reason", Text, "identity"),  # why it is in quarantine; empty: it came before, or again
    Index("receipt_event", "event_id"),
)

producer = Table(
    "producer",
    metadata,
    fact_column("id", Id, "key"),
    fact_column("uri", Text, "identity"),
)

dataset = Table(
    "dataset",
    metadata,
    fact_column("id", Id, "key"),
    fact_column("namespace", Text, "identity"),
    fact_column("name", Text, "identity"),
    fact_column("first_seen", BigInteger, "min"),
    fact_column("last_seen", BigInteger, "max"),
)

field = Table(
    "field",
    metadata,
    fact_column("id", Id, "key"),
    fact_column("dataset_id", BigInteger, "identity"),
    fact_column("name", Text, "identity"),
    fact_column("declared", Integer, "or"),  # 1: a schema facet lists it
    Index("field_dataset", "dataset_id"),
)

job = Table(
    "job",
    metadata,
    fact_column("id", Id, "key"),
    fact_column("namespace", Text, "identity"),
    fact_column("name", Text, "identity"),
    fact_column("first_seen", BigInteger, "min"),
    fact_column("last_seen", BigInteger, "max"),
)

run = Table(
    "run",
    metadata,
    fact_column("id", Id, "key"),
    fact_column("run_id", Text, "identity"),
    fact_column("job_id", BigInteger, "identity"),
    fact_column("state_rank", SmallInteger, "latest"),  # -1: a placeholder, known from its children only
    fact_column("latest_at", BigInteger, "latest"),
    fact_column("latest_state", SmallInteger, "latest"),  # the latest of the highest rank
    fact_column("started_at", BigInteger, "min", nullable=True),
    fact_column("restarted_at", BigInteger, "max", nullable=True),  # the latest START
    fact_column("aborted_at", BigInteger, "max", nullable=True),
    fact_column("failed_at", BigInteger, "max", nullable=True),
    fact_column("seen_from", BigInteger, "min", nullable=True),
    fact_column("seen_to", BigInteger, "max", nullable=True),
    fact_column("streaming", SmallInteger, "or"),
    fact_column("partial", SmallInteger, "or"),
    fact_column("terminals", SmallInteger, "or"),  # bit = RunState value
    derived_column("state", SmallInteger, RUN_STATE),
    derived_column("state_at", BigInteger, RUN_STATE_AT),
    Index("run_run_id", "run_id"),
    Index("run_job", "job_id", "seen_to"),
)

containment = Table(
    "containment",
    metadata,
    fact_column("run_id", BigInteger, "key"),
    fact_column("container_id", BigInteger, "key"),
    fact_column("relation", SmallInteger, "or"),  # 1: parent, 2: root
    Index("containment_container", "container_id"),
    **COMPACT,
)

facet = Table(
    "facet",
    metadata,
    fact_column("subject_id", BigInteger, "key"),  # a dataset or job
    fact_column("name", Text, "key"),
    *stamp_columns(),
    fact_column("body_id", BigInteger, "latest"),  # hash of the payload, which is in `facet_body`
    **COMPACT,
)

facet_template = Table(
    "facet_template",
    metadata,
    fact_column("id", Id, "key"),  # hash of the content
    fact_column("content", LargeBinary, "identity"),  # store.schema.facet_templates
)

run_facets = Table(
    "run_facets",
    metadata,
    fact_column("run_id", BigInteger, "key"),
    fact_column("shape_id", BigInteger, "key"),  # of facets said together: equal shapes replace each other
    *stamp_columns(),
    fact_column("template_id", BigInteger, "latest"),
    fact_column("content", LargeBinary, "latest"),  # the variables of the template
    **COMPACT,
)

measurement = Table(
    "measurement",
    metadata,
    fact_column("source_id", BigInteger, "key"),  # the run, or the dataset event, that measured
    fact_column("dataset_id", BigInteger, "key"),
    fact_column("facet", SmallInteger, "key"),  # its role and name (store.schema.packed.MEASURED_FACETS)
    *stamp_columns(),
    fact_column("content", LargeBinary, "latest"),  # store.schema.packed: columns, metrics, values
    Index("measurement_dataset", "dataset_id", "time"),
    **COMPACT,
)

checked_dataset = Table(
    "checked_dataset",
    metadata,
    fact_column("job_id", BigInteger, "key"),  # its runs reported results of checks of this input
    fact_column("dataset_id", BigInteger, "key"),
    fact_column("first_seen", BigInteger, "min"),
    **COMPACT,
)

alias = Table(
    "alias",
    metadata,
    fact_column("dataset_id", BigInteger, "key"),
    fact_column("alias_id", BigInteger, "key"),
    fact_column("type", Text, "key"),
    *witness_columns(),
    Index("alias_reverse", "alias_id"),
    **COMPACT,
)

schema_version = Table(
    "schema_version",
    metadata,
    fact_column("dataset_id", BigInteger, "key"),
    fact_column("body_id", BigInteger, "key"),  # hash of the schema facet's payload
    *witness_columns(),
    **COMPACT,
)

schema_body = Table(
    "schema_body",
    metadata,
    fact_column("dataset_id", BigInteger, "key"),
    fact_column("body_id", BigInteger, "key"),
    fact_column("payload", Text, "identity"),
    **COMPACT,
)

tag_report = Table(
    "tag_report",
    metadata,
    *key_columns("subject_id", "facet", "time", "rank", "event_id"),  # facet: its place in TAG_FACETS (steward_tags.py)
    fact_column("body_id", BigInteger, "identity"),  # hash of the facet's payload
    **COMPACT,
)
"""Every report of tags, since a late event may separate two that are equal: so the tags of any time are known."""

tag_body = Table(
    "tag_body",
    metadata,
    *key_columns("subject_id", "facet", "body_id"),
    fact_column("payload", Text, "identity"),  # JSON; empty = deleted
    **COMPACT,
)

_UNREPORTED, _INCOMPLETE = text("origin = 'unreported'"), text("origin = 'incomplete'")
lineage_set = Table(
    "lineage_set",
    metadata,
    fact_column("id", Id, "key"),
    fact_column("digest", Text, "identity"),  # of owner, output, level, origin and edges
    fact_column("owner_id", BigInteger, "identity"),
    fact_column("output_id", BigInteger, "identity"),  # 0: none
    fact_column("level", Text, "identity"),
    fact_column("origin", Text, "identity"),
    *witness_columns(),
    Index("lineage_set_owner", "owner_id"),
    Index("lineage_set_unreported", "owner_id", sqlite_where=_UNREPORTED, postgresql_where=_UNREPORTED),
    Index("lineage_set_incomplete", "owner_id", sqlite_where=_INCOMPLETE, postgresql_where=_INCOMPLETE),
    Index("lineage_set_incomplete_output", "output_id", sqlite_where=_INCOMPLETE, postgresql_where=_INCOMPLETE),
)

lineage_edge = Table(
    "lineage_edge",
    metadata,
    fact_column("set_id", BigInteger, "key"),
    fact_column("ordinal", Integer, "key"),  # place among the set's sorted edges: a function of the content
    fact_column("source_id", BigInteger, "identity"),
    fact_column("target_id", BigInteger, "identity"),
    fact_column("source_dataset_id", BigInteger, "identity"),  # of a field or dataset; 0 for a job
    fact_column("target_dataset_id", BigInteger, "identity"),
    fact_column("type", Text, "identity"),
    fact_column("subtype", Text, "identity"),
    fact_column("masking", Boolean, "identity"),
    fact_column("description", Text, "identity"),
    Index("lineage_edge_source", "source_id"),
    Index("lineage_edge_target", "target_id"),
    **COMPACT,
)

unreported_column = Table(
    "unreported_column",
    metadata,
    fact_column("set_id", BigInteger, "key"),
    fact_column("field_id", BigInteger, "key"),
    fact_column("dataset_id", BigInteger, "identity"),
    Index("unreported_column_field", "field_id"),
    **COMPACT,
)

lineage_version = Table(
    "lineage_version",
    metadata,
    fact_column("id", BigInteger, "key"),  # hash of the sorted set ids
    fact_column("set_id", BigInteger, "key"),
    Index("lineage_version_set", "set_id"),
    **COMPACT,
)

run_lineage = Table(
    "run_lineage",
    metadata,
    fact_column("run_id", BigInteger, "key"),
    fact_column("version", BigInteger, "key"),  # the sets that an event of the run said together
    fact_column("time", BigInteger, "latest"),
    fact_column("event_id", BigInteger, "latest"),
    Index("run_lineage_version", "version", "time"),
    **COMPACT,
)

declaration = Table(
    "declaration",
    metadata,
    fact_column("event_id", Id, "key"),
    fact_column("owner_id", BigInteger, "identity"),
    fact_column("time", BigInteger, "identity"),
    fact_column("version", BigInteger, "identity"),
    fact_column("ends", SmallInteger, "identity"),  # 1: it decommissions the job
    Index("declaration_owner", "owner_id"),
)

_NAMED = (event, receipt, producer, dataset, field, job, run, containment)
_OF_RUNS = (facet_template, run_facets, measurement, checked_dataset)
_REPORTED = (facet, *_OF_RUNS, alias, schema_version, schema_body, tag_report, tag_body)
_LINEAGE = (lineage_set, lineage_edge, unreported_column, lineage_version, run_lineage, declaration)
FACTS: tuple[Table, ...] = (*_NAMED, *_REPORTED, *_LINEAGE)
"""In the order in which one transaction merges them: the same in every writer, so that two never deadlock."""

facet_body = Table(
    "facet_body",
    metadata,
    plain_column("subject_id", BigInteger, primary_key=True),
    plain_column("name", Text, primary_key=True),
    plain_column("body_id", BigInteger),
    plain_column("payload", Text),  # JSON; empty = deleted
    *indexes_of_facets(),
    **COMPACT,
)
"""The payload of each facet: apart, because most events change when a facet was said last, not what it says."""

# What follows is derived from the facts by `store/ingest/recompute.py`.

dirty_key = Table(
    "dirty_key",
    metadata,
    plain_column("owner_id", BigInteger, primary_key=True),  # whose statements those are; of an alias, the dataset
    plain_column("kind", SmallInteger, primary_key=True),  # Touch
    plain_column("statement_id", BigInteger, primary_key=True),  # a run, a declaring event, or a dataset with aliases
    **COMPACT,
)

statement = Table(
    "statement",
    metadata,
    plain_column("id", Id, primary_key=True),
    plain_column("owner_id", BigInteger),
    plain_column("aspect", SmallInteger),  # 0 observed, 1 read, 2 declared
    plain_column("at", BigInteger),
    plain_column("confirmed", Boolean),
    plain_column("own_version", BigInteger),
    plain_column("held_version", BigInteger),  # what holds after it
    plain_column("held_confirmed", Boolean),
    Index("statement_owner", "owner_id", "aspect", "at", "id"),
    **COMPACT,
)

validity_interval = Table(
    "validity_interval",
    metadata,
    plain_column("owner_id", BigInteger, primary_key=True),
    plain_column("aspect", SmallInteger, primary_key=True),
    plain_column("valid_from", BigInteger, primary_key=True),
    plain_column("valid_to", BigInteger),
    plain_column("version", BigInteger),
    plain_column("confirmed", Boolean),
    plain_column("statement_id", BigInteger),
    Index("validity_interval_version", "version"),
    **COMPACT,
)

edge = Table(
    "edge",
    metadata,
    plain_column("owner_id", BigInteger, primary_key=True),
    plain_column("aspect", SmallInteger, primary_key=True),
    plain_column("set_id", BigInteger, primary_key=True),
    plain_column("ordinal", Integer, primary_key=True),
    plain_column("source_id", BigInteger),
    plain_column("target_id", BigInteger),
    plain_column("source_dataset_id", BigInteger),
    plain_column("target_dataset_id", BigInteger),
    plain_column("type", Text),
    plain_column("subtype", Text),
    plain_column("masking", Boolean),
    plain_column("description", Text),
    plain_column("origin", Text),
    plain_column("confirmed", Boolean),
    Index("edge_source", "source_id"),
    Index("edge_target", "target_id"),
    **COMPACT,
)

alias_group = Table(
    "alias_group",
    metadata,
    plain_column("dataset_id", Id, primary_key=True),
    plain_column("representative_id", BigInteger),
    Index("alias_group_representative", "representative_id"),
)

progress = Table(
    "progress",
    metadata,
    plain_column("name", Text, primary_key=True),  # "log": all records before this position are in the tables
    plain_column("position", BigInteger),
)


for _named in (dataset, job):
    Index(f"{_named.name}_listed", beginning(_named.c.namespace), beginning(_named.c.name), _named.c.id)
    Index(f"{_named.name}_begun", beginning(_named.c.namespace), _named.c.first_seen)

DERIVED: tuple[Table, ...] = (facet_body, statement, validity_interval, edge, alias_group)
