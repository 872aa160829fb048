"""Live enrichment (docs/how-to/sql.md): which events have SQL to parse, and whether enrichment is enabled."""

import os
from typing import TypeGuard

from whence.derive.rows.dataset_rows import FacetRow, hash_payload
from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import node_id
from whence.openlineage.facets.facet_keys import SQL_COMPARISON, SQL_LINEAGE

SETTING = "WHENCE_READ_SQL"
OWN_PRODUCER = "https://github.com/whence-lineage/whence/"
"""Events that Whence itself captured were parsed by the same reader before."""


def is_enrichment_enabled() -> bool:
    """Whether events are enriched: yes, unless the environment has `WHENCE_READ_SQL=off`."""
    return os.environ.get(SETTING, "on").strip().lower() not in ("off", "0", "false", "no")


def has_sql(event: Event) -> TypeGuard[RunEvent | JobEvent]:
    """Whether an event reports the SQL that wrote its outputs."""
    if isinstance(event, DatasetEvent) or not event.outputs or event.producer.startswith(OWN_PRODUCER):
        return False
    return any(facet.key == "sql" and not facet.deleted for facet in event.job.facets)


def make_end_rows(event: Event) -> tuple[FacetRow, ...]:
    """Rows that delete what was parsed from a job's SQL when the job's `sql` facet is deleted."""
    if isinstance(event, DatasetEvent) or not any(facet.key == "sql" and facet.deleted for facet in event.job.facets):
        return ()
    job = node_id(event.job.name)
    return tuple((job, key, hash_payload(""), "") for key in (SQL_LINEAGE, SQL_COMPARISON))
