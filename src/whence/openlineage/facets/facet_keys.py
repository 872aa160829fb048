"""The keys of facets that Whence defines, and of values in them."""

LIFECYCLE, DECOMMISSIONED = "whence_lifecycle", "DECOMMISSIONED"
SQL_LINEAGE, SQL_COMPARISON = "whence_sqlLineage", "whence_sqlComparison"
"""Job facets that only the pipeline writes: how it read the job's SQL, and where that contradicts the producer."""
TIER, CONTRACT = "whence_tier", "whence_contract"
ALIASES, CUT, JOINED = "whence_aliases", "whence:cut", "whence:joined"
"""A dataset facet by which a person asserts that another name is, or is not, an alias of this dataset (state.md)."""
