"""Jobs whose producers report other columns than their SQL contains (docs/how-to/sql.md)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, literal_column, select

from whence.model.names import JobName
from whence.openlineage.facets.facet_keys import SQL_COMPARISON
from whence.store.schema.tables import facet_body, job

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One job: column edges of its SQL that its producer does not report, and the reverse."""

    job: JobName
    missing_in_report: int
    missing_in_parse: int

    @property
    def size(self) -> int:
        """The number of edges that only one side has."""
        return self.missing_in_report + self.missing_in_parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """All jobs together: how many were compared, how many disagree, and by how much. `worst`: the first of them."""

    compared: int = 0
    jobs: int = 0
    missing_in_report: int = 0
    missing_in_parse: int = 0
    worst: tuple[Disagreement, ...] = ()


def count_disagreements(connection: Connection) -> Disagreements:
    """Count the latest comparison of each job. Reads one facet of every compared job."""
    compared = list(_compared(connection))
    differing = sorted((one for one in compared if one.size), key=lambda one: (-one.size, one.job))
    return Disagreements(
        compared=len(compared),
        jobs=len(differing),
        missing_in_report=sum(one.missing_in_report for one in differing),
        missing_in_parse=sum(one.missing_in_parse for one in differing),
        worst=tuple(differing[:_SHOWN]),
    )


def _compared(connection: Connection) -> Iterator[Disagreement]:
    query = select(job.c.namespace, job.c.name, facet_body.c.payload).join(job, job.c.id == facet_body.c.subject_id)
    # As literal text, so that the planner recognises the index of this name alone.
    named = facet_body.c.name == literal_column(f"'{SQL_COMPARISON}'")
    for namespace, name, payload in connection.execute(query.where(named, facet_body.c.payload != "")):
        comparison = json.loads(payload)
        yield Disagreement(
            job=JobName(namespace, name),
            missing_in_report=comparison["missingInReport"],
            missing_in_parse=comparison["missingInParse"],
        )
