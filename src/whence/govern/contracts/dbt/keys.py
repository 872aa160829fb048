"""The keys that dbt reads in the properties of a model (docs.getdbt.com/reference/model-properties)."""

MODEL = frozenset(
    (
        "access",
        "agg_time_dimension",
        "columns",
        "config",
        "constraints",
        "data_tests",
        "deprecation_date",
        "derived_semantics",
        "description",
        "docs",
        "freshness",
        "group",
        "latest_version",
        "meta",
        "metrics",
        "name",
        "primary_entity",
        "quote_columns",
        "semantic_model",
        "tags",
        "tests",
        "time_spine",
        "versions",
    )
)
VERSION = frozenset(
    (
        "access",
        "columns",
        "config",
        "constraints",
        "data_tests",
        "defined_in",
        "deprecation_date",
        "description",
        "docs",
        "group",
        "meta",
        "tags",
        "tests",
        "v",
    )
)
COLUMN = frozenset(
    (
        "config",
        "constraints",
        "data_tests",
        "data_type",
        "description",
        "dimension",
        "docs",
        "entity",
        "granularity",
        "meta",
        "name",
        "policy_tags",
        "quote",
        "tags",
        "tests",
    )
)
INCLUDE = frozenset(("include", "exclude"))
CONTRACT = frozenset(("alias_types", "checksum", "enforced"))
CONSTRAINT = frozenset(
    ("columns", "expression", "name", "to", "to_columns", "type", "warn_unenforced", "warn_unsupported")
)
CONSTRAINT_TYPES = ("check", "custom", "foreign_key", "not_null", "primary_key", "unique")
