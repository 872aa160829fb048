"""Live enrichment (docs/sql.md): which events have SQL that is to be read, and whether any is."""

import os
from typing import TypeGuard

from whence.derive.dataset_rows import FacetRow, body_id
from whence.model.events import DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import node_id
from whence.openlineage.facets import SQL_COMPARISON, SQL_LINEAGE

SETTING = "WHENCE_READ_SQL"
OWN_PRODUCER = "https://github.com/whence-lineage/whence/"
"""What Whence itself captured was read by the same reader before."""


def reads_sql() -> bool:
    """Whether events are enriched: unless the environment says `WHENCE_READ_SQL=off`."""
    return os.environ.get(SETTING, "on").strip().lower() not in ("off", "0", "false", "no")


def speaks_sql(event: Event) -> TypeGuard[RunEvent | JobEvent]:
    """Whether an event says which SQL wrote its outputs."""
    if isinstance(event, DatasetEvent) or not event.outputs or event.producer.startswith(OWN_PRODUCER):
        return False
    return any(facet.key == "sql" and not facet.deleted for facet in event.job.facets)


def ended(event: Event) -> tuple[FacetRow, ...]:
    """What was read in a job's SQL ends to hold with the facet that said the SQL."""
    if isinstance(event, DatasetEvent) or not any(one.key == "sql" and one.deleted for one in event.job.facets):
        return ()
    job = node_id(event.job.name)
    return tuple((job, key, body_id(""), "") for key in (SQL_LINEAGE, SQL_COMPARISON))
