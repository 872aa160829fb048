"""the tables of the first release

Frozen: a later release adds a migration, this one never changes. A column is `name:type`, `?` after it: may be NULL.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TYPES: dict[str, Any] = {
    "id": sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
    "exact": sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
    "big": sa.BigInteger(),
    "small": sa.SmallInteger(),
    "int": sa.Integer(),
    "text": sa.Text(),
    "bool": sa.Boolean(),
    "bytes": sa.LargeBinary(),
    "float": sa.Float(),
}

_FAILED_AT = "CASE WHEN failed_at IS NULL OR aborted_at > failed_at THEN aborted_at ELSE failed_at END"
_FAILURE = "CASE WHEN failed_at IS NULL OR aborted_at > failed_at THEN 4 ELSE 5 END"
_FAILED = (
    f"latest_state = 3 AND ({_FAILED_AT}) IS NOT NULL AND "
    f"(restarted_at IS NULL OR restarted_at <= ({_FAILED_AT}) OR restarted_at > latest_at)"
)
_STATE = f"CASE WHEN {_FAILED} THEN {_FAILURE} ELSE latest_state END"
_STATE_AT = f"CASE WHEN {_FAILED} THEN {_FAILED_AT} ELSE latest_at END"


def upgrade() -> None:
    _create_events()
    _create_names()
    _create_facets()
    _create_lineage()
    _create_derived_state()
    _create_progress()
    _create_retention()
    _create_search_index()
    _create_periodic_jobs()


def _create_events() -> None:
    _create_table(
        "event",
        key="id",
        columns="id:id rest:big kind:small time:big producer_id:big state:small subject_id:big warnings:text "
        "position:big",
    )
    op.create_index("event_subject", "event", ["subject_id"])
    op.create_index("event_time", "event", ["time", "id", "kind", "state"])
    _create_table(
        "receipt",
        key="position",
        columns="position:id event_id:big rest:big reason:text",
    )
    op.create_index("receipt_event", "receipt", ["event_id"])
    _create_table(
        "producer",
        key="id",
        columns="id:id uri:text",
    )


def _create_names() -> None:
    _create_table(
        "dataset",
        key="id",
        columns="id:id namespace:text name:text first_seen:big last_seen:big",
    )
    op.create_index("dataset_begun", "dataset", [sa.text("substr(namespace, 1, 200)"), "first_seen"])
    op.create_index(
        "dataset_listed", "dataset", [sa.text("substr(namespace, 1, 200)"), sa.text("substr(name, 1, 200)"), "id"]
    )
    _create_table(
        "field",
        key="id",
        columns="id:id dataset_id:big name:text declared:int",
    )
    op.create_index("field_dataset", "field", ["dataset_id"])
    op.create_index("field_named", "field", [sa.text("substr(name, 1, 200)"), "dataset_id"])
    _create_table(
        "job",
        key="id",
        columns="id:id namespace:text name:text first_seen:big last_seen:big",
    )
    op.create_index("job_begun", "job", [sa.text("substr(namespace, 1, 200)"), "first_seen"])
    op.create_index("job_listed", "job", [sa.text("substr(namespace, 1, 200)"), sa.text("substr(name, 1, 200)"), "id"])
    _create_table(
        "run",
        key="id",
        columns="id:id run_id:text job_id:big state_rank:small latest_at:big latest_state:small started_at:big? "
        "restarted_at:big? aborted_at:big? failed_at:big? seen_from:big? seen_to:big? streaming:small "
        "partial:small terminals:small",
        computed=(("state", sa.SmallInteger(), _STATE), ("state_at", sa.BigInteger(), _STATE_AT)),
    )
    op.create_index("run_job", "run", ["job_id", "seen_to"])
    op.create_index("run_run_id", "run", ["run_id"])
    _create_table(
        "containment",
        key="run_id container_id",
        columns="run_id:big container_id:big relation:small",
        compact=True,
    )
    op.create_index("containment_container", "containment", ["container_id"])


def _create_facets() -> None:
    _create_table(
        "facet",
        key="subject_id name",
        columns="subject_id:big name:text time:big rank:small event_id:big body_id:big",
        compact=True,
    )
    _create_table(
        "facet_body",
        key="subject_id name",
        columns="subject_id:big name:text body_id:big payload:text",
        compact=True,
    )
    _create_partial_index("facet_body_lifecycle", "facet_body", "subject_id", where="name = 'whence_lifecycle'")
    _create_partial_index(
        "facet_body_sql_comparison", "facet_body", "subject_id", where="name = 'whence_sqlComparison'"
    )
    _create_partial_index("facet_body_steward_tags", "facet_body", "subject_id", where="name = 'whence_stewardTags'")
    _create_partial_index("facet_body_tags", "facet_body", "subject_id", where="name = 'tags'")
    _create_table(
        "run_facets",
        key="run_id shape_id",
        columns="run_id:big shape_id:big time:big rank:small event_id:big content:bytes",
        compact=True,
    )
    _create_table(
        "alias",
        key="dataset_id alias_id type",
        columns="dataset_id:big alias_id:big type:text first_time:big first_event:big last_time:big last_event:big",
        compact=True,
    )
    op.create_index("alias_reverse", "alias", ["alias_id"])
    _create_table(
        "schema_version",
        key="dataset_id body_id",
        columns="dataset_id:big body_id:big first_time:big first_event:big last_time:big last_event:big",
        compact=True,
    )
    _create_table(
        "schema_body",
        key="dataset_id body_id",
        columns="dataset_id:big body_id:big payload:text",
        compact=True,
    )


def _create_lineage() -> None:
    _create_table(
        "lineage_set",
        key="id",
        columns="id:id digest:text owner_id:big output_id:big level:text origin:text first_time:big first_event:big "
        "last_time:big last_event:big",
    )
    _create_partial_index("lineage_set_dropped", "lineage_set", "output_id", where="origin = 'dropped'")
    op.create_index("lineage_set_owner", "lineage_set", ["owner_id"])
    _create_partial_index("lineage_set_unreported", "lineage_set", "owner_id", where="origin = 'unreported'")
    _create_table(
        "lineage_edge",
        key="set_id ordinal",
        columns="set_id:big ordinal:int source_id:big target_id:big source_dataset_id:big target_dataset_id:big "
        "type:text subtype:text masking:bool description:text",
        compact=True,
    )
    op.create_index("lineage_edge_source", "lineage_edge", ["source_id"])
    op.create_index("lineage_edge_target", "lineage_edge", ["target_id"])
    _create_table(
        "unreported_column",
        key="set_id field_id",
        columns="set_id:big field_id:big dataset_id:big",
        compact=True,
    )
    op.create_index("unreported_column_field", "unreported_column", ["field_id"])
    _create_table(
        "lineage_version",
        key="id set_id",
        columns="id:big set_id:big",
        compact=True,
    )
    op.create_index("lineage_version_set", "lineage_version", ["set_id"])
    _create_table(
        "run_lineage",
        key="run_id version",
        columns="run_id:big version:big time:big event_id:big",
        compact=True,
    )
    op.create_index("run_lineage_version", "run_lineage", ["version", "time"])
    _create_table(
        "declaration",
        key="event_id",
        columns="event_id:id owner_id:big time:big version:big ends:small",
    )
    op.create_index("declaration_owner", "declaration", ["owner_id"])


def _create_derived_state() -> None:
    _create_table(
        "dirty_key",
        key="owner_id kind statement_id",
        columns="owner_id:big kind:small statement_id:big",
        compact=True,
    )
    _create_table(
        "statement",
        key="id",
        columns="id:id owner_id:big aspect:small at:big confirmed:bool own_version:big held_version:big "
        "held_confirmed:bool",
    )
    op.create_index("statement_owner", "statement", ["owner_id", "aspect", "at", "id"])
    _create_table(
        "validity_interval",
        key="owner_id aspect valid_from",
        columns="owner_id:big aspect:small valid_from:big valid_to:big version:big confirmed:bool statement_id:big",
        compact=True,
    )
    op.create_index("validity_interval_version", "validity_interval", ["version"])
    _create_table(
        "edge",
        key="owner_id aspect set_id ordinal",
        columns="owner_id:big aspect:small set_id:big ordinal:int source_id:big target_id:big source_dataset_id:big "
        "target_dataset_id:big type:text subtype:text masking:bool description:text origin:text "
        "confirmed:bool",
        compact=True,
    )
    op.create_index("edge_source", "edge", ["source_id"])
    op.create_index("edge_target", "edge", ["target_id"])
    _create_table(
        "alias_group",
        key="dataset_id",
        columns="dataset_id:id representative_id:big",
    )
    op.create_index("alias_group_representative", "alias_group", ["representative_id"])
    _create_table(
        "dropped_dataset",
        key="dataset_id",
        columns="dataset_id:big at:big statement_id:big",
        compact=True,
    )


def _create_progress() -> None:
    _create_table(
        "progress",
        key="name",
        columns="name:text position:big",
    )
    _create_table(
        "change_version",
        key="number",
        columns="number:big stamp:big",
    )
    _create_table(
        "change",
        key="kind id",
        columns="kind:small id:big version:big",
        compact=True,
    )
    op.create_index("change_version_of", "change", ["version"])
    _create_table(
        "data_key",
        key="id",
        columns="id:text wrapped:bytes master:text made_at:big",
    )


def _create_retention() -> None:
    _create_table(
        "retention_horizon",
        key="number lane",
        columns="number:int lane:text position:big runs:big keep:int history:big finished:bool",
    )
    _create_table(
        "run_summary",
        key="job_id month state",
        columns="job_id:big month:big state:small runs:big timed:big microseconds:big first_seen:big last_seen:big",
        compact=True,
    )
    _create_table(
        "record_summary",
        key="outcome reason producer_id month",
        columns="outcome:text reason:text producer_id:big month:big records:big last_seen:big",
        compact=True,
    )


def _create_search_index() -> None:
    _create_table(
        "word",
        key="word",
        columns="word:exact",
        compact=True,
    )
    _create_table(
        "word_gram",
        key="gram word",
        columns="gram:exact word:exact",
        compact=True,
    )
    _create_table(
        "word_name",
        key="word kind size id",
        columns="word:exact kind:small size:small id:big",
        compact=True,
    )
    _create_table(
        "field_name",
        key="id",
        columns="id:id name:text",
    )
    _create_table(
        "facet_word",
        key="word facet id",
        columns="word:exact facet:small id:big subject_id:big",
        compact=True,
    )
    op.create_index("facet_word_subject", "facet_word", ["subject_id", "facet"])


def _create_periodic_jobs() -> None:
    _create_table(
        "blast_radius",
        key="generation node_id",
        columns="generation:int node_id:big datasets:big fields:big jobs:big dashboards:big models:big estimated:small",
        compact=True,
    )
    _create_table(
        "blast_generation",
        key="generation",
        columns="generation:int progress:text computed_at:big error:float graph:text",
    )
    _create_table(
        "scheduled_job",
        key="name",
        columns="name:text started_at:big ended_at:big failure:text",
    )


def _create_table(
    name: str, key: str, columns: str, computed: tuple[tuple[str, Any, str], ...] = (), compact: bool = False
) -> None:
    made = [_column(*spec.split(":")) for spec in columns.split()]
    made += [sa.Column(name, type_, sa.Computed(expression)) for name, type_, expression in computed]
    # SQLite keeps the rows of such a table in the key's own tree, once.
    options = {"sqlite_with_rowid": False} if compact else {}
    op.create_table(name, *made, sa.PrimaryKeyConstraint(*key.split()), **options)


def _column(name: str, type_: str) -> sa.Column[Any]:
    return sa.Column(name, _TYPES[type_.rstrip("?")], autoincrement=False, nullable=type_.endswith("?"))


def _create_partial_index(name: str, table: str, column: str, where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, [column], sqlite_where=condition, postgresql_where=condition)
