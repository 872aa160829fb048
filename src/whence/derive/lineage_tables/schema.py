"""The published tables: their columns, each with its meaning, and the version of all of them together."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from whence.model.blast_radius import COUNTED

SCHEMA_VERSION = 1
"""Increases when a column changes its meaning or is removed, not for a new column or table."""

LONG, DOUBLE, TEXT, FLAG = pa.int64(), pa.float64(), pa.string(), pa.bool_()
TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Published:
    """One table: what a row is, and its columns with their meaning (as Delta's column comments)."""

    meaning: str
    columns: tuple[tuple[str, pa.DataType, str], ...]

    @property
    def schema(self) -> pa.Schema:
        """The columns, with their meaning."""
        return pa.schema(
            [pa.field(name, type_, metadata={"comment": meaning}) for name, type_, meaning in self.columns]
        )

    @property
    def plain(self) -> pa.Schema:
        """The columns alone."""
        return pa.schema([(name, type_) for name, type_, _ in self.columns])


def _end(name: str, what: str) -> tuple[tuple[str, pa.DataType, str], ...]:
    return (
        (f"{name}_id", LONG, f"{what}: its id"),
        (name, TEXT, "its node id: `dataset:…`, `datasetField:…` or `job:…`"),
        (f"{name}_dataset_id", LONG, "the dataset, or the dataset of the field; null for a job"),
        (f"{name}_namespace", TEXT, "namespace of the dataset or job"),
        (f"{name}_name", TEXT, "name of the dataset or job"),
        (f"{name}_field", TEXT, "the field; null if it is none"),
    )


_SEEN = (
    ("first_seen", TIME, "the earliest eventTime that mentions it"),
    ("last_seen", TIME, "the latest"),
)

TABLES: Mapping[str, Published] = {
    "dataset": Published(
        "A dataset by one of its names. Names that are aliases of each other have one representative.",
        (
            ("id", LONG, "64-bit id, minted from namespace and name"),
            ("node", TEXT, "its node id: `dataset:<namespace>:<name>`"),
            ("namespace", TEXT, "as OpenLineage has it"),
            ("name", TEXT, "as OpenLineage has it"),
            ("representative_id", LONG, "the dataset that stands for all its aliases; its own id if it has none"),
            ("type", TEXT, "from the `datasetType` facet of it or an alias, in capitals; null if none"),
            ("certified", FLAG, "it, or an alias, is tagged `certified` = `true`"),
            ("is_origin", FLAG, "somebody asserts that nothing upstream is expected (`whence_boundary`)"),
            ("is_terminal", FLAG, "somebody asserts that nothing downstream is expected (`whence_boundary`)"),
            ("upstream_complete", FLAG, "walking upstream on tables ends at asserted origins or known producers only"),
            *_SEEN,
        ),
    ),
    "field": Published(
        "A field of a dataset.",
        (
            ("id", LONG, "64-bit id"),
            ("node", TEXT, "its node id: `datasetField:<namespace>:<name>:<field>`"),
            ("dataset_id", LONG, "its dataset"),
            ("namespace", TEXT, "of the dataset"),
            ("dataset", TEXT, "name of the dataset"),
            ("name", TEXT, "of the field; nested ones are dotted"),
            ("declared", FLAG, "a schema lists it; else it is known from lineage only"),
        ),
    ),
    "job": Published(
        "A job.",
        (
            ("id", LONG, "64-bit id"),
            ("node", TEXT, "its node id: `job:<namespace>:<name>`"),
            ("namespace", TEXT, "as OpenLineage has it"),
            ("name", TEXT, "as OpenLineage has it"),
            ("type", TEXT, "jobType of its `jobType` facet, in capitals; null if none"),
            ("reports", FLAG, "it has events of its own; else others name it only (as a parent, or in lineage)"),
            *_SEEN,
        ),
    ),
    "run": Published(
        "A run of a job. A run that only its children name has no times.",
        (
            ("id", LONG, "64-bit id of run and job"),
            ("run_id", TEXT, "OpenLineage's run id, a UUID"),
            ("job_id", LONG, "the job"),
            ("job_namespace", TEXT, "its namespace"),
            ("job_name", TEXT, "its name"),
            ("parent_id", LONG, "the run that contains it, by `id`; null if none is known"),
            ("root_id", LONG, "the outermost run, by `id`; null if none is known"),
            ("state", TEXT, "`START`, `RUNNING`, `COMPLETE`, `ABORT`, `FAIL` or `OTHER`"),
            ("reported_start", FLAG, "its START arrived"),
            ("reported_end", FLAG, "a COMPLETE, ABORT or FAIL arrived"),
            ("streaming", FLAG, "it does not end by itself"),
            ("partial", FLAG, "its lineage is incomplete: the producer said so"),
            ("started_at", TIME, "of START"),
            ("ended_at", TIME, "of the terminal event that counts"),
            ("seen_from", TIME, "of its first event; null: only others name it"),
            ("seen_to", TIME, "of its last event"),
        ),
    ),
    "edge": Published(
        "An edge of lineage and an uninterrupted time in which it held. The current graph: `valid_to IS NULL`.",
        (
            *_end("source", "where it comes from"),
            *_end("target", "where it leads"),
            ("owner_id", LONG, "the job or dataset whose lineage it is"),
            ("owner", TEXT, "its node id"),
            ("aspect", TEXT, "`observed` in runs, `read` by runs that write nothing, or `declared`"),
            ("level", TEXT, "`dataset` or `field`: an edge with a field at an end"),
            (
                "origin",
                TEXT,
                "`explicit`, `columnLineage`, `parsed` (SQL), `inferred` (inputs × outputs), `boundary` or `renamed`",
            ),
            ("type", TEXT, "`DIRECT`, `INDIRECT` or `UNKNOWN`"),
            ("subtype", TEXT, "`IDENTITY`, `AGGREGATION`, `JOIN`, `FILTER` …; empty if unknown"),
            ("masking", FLAG, "the value is hidden on the way"),
            ("description", TEXT, "an expression, if the producer gave one"),
            ("confirmed", FLAG, "a run that ended well speaks for it"),
            ("valid_from", TIME, "it held from then on, inclusive"),
            ("valid_to", TIME, "until then, exclusive; null: it holds"),
        ),
    ),
    "dependency": Published(
        "A dataset that depends on another one now, whatever their names and whoever says it: `edge` in short.",
        (
            ("source_id", LONG, "representative of the dataset that is upstream"),
            ("target_id", LONG, "representative of the one that depends on it"),
            ("stated", FLAG, "some producer says it; else it is parsed from SQL or inferred from inputs and outputs"),
            ("by_column", FLAG, "it is known by columns"),
        ),
    ),
    "assertion": Published(
        "A data quality assertion that a run checked on a dataset (`dataQualityAssertions`).",
        (
            ("run_id", LONG, "the run, by `id`"),
            ("dataset_id", LONG, "the dataset"),
            ("assertion", TEXT, "what was checked"),
            ("field", TEXT, "of which field; null: of the dataset"),
            ("success", FLAG, "whether it held"),
            ("at", TIME, "eventTime"),
        ),
    ),
    "report": Published(
        "A dependency that somebody reports to be false (`whence_falsePositives`).",
        (
            ("source_id", LONG, "representative of the dataset that is not upstream in truth"),
            ("target_id", LONG, "representative of the dataset that was said to depend on it"),
            ("reason", TEXT, "why, in their words; empty if not given"),
        ),
    ),
    "blast_radius": Published(
        "How much is downstream of a dataset, field or job (blast-radius.md). Empty until it was counted.",
        (
            ("node_id", LONG, "the dataset (a representative), field or job"),
            *((name, LONG, f"{name} downstream") for name in COUNTED),
            *((f"{name}_error", DOUBLE, "relative standard error of that count; 0: exact") for name in COUNTED),
            ("computed_at", TIME, "when it was counted"),
        ),
    ),
}
"""Each is replaced as a whole."""

KPI = Published(
    "A measurement of lineage. Each measuring appends a row for each KPI (docs/reference/kpis.md).",
    (
        ("measured_at", TIME, "of when it is true"),
        ("name", TEXT, "of the KPI"),
        ("value", DOUBLE, "null if there is nothing to measure"),
        ("unit", TEXT, "`ratio`, `seconds`, `nodes` or `score`"),
        ("numerator", DOUBLE, "of a ratio, else of what the value is made"),
        ("denominator", DOUBLE, "of a ratio, else how many things were measured"),
    ),
)
