"""The jobs whose producers report other columns than their SQL has (docs/sql.md)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, literal_column, select

from whence.model.names import JobName
from whence.openlineage.facets import SQL_COMPARISON
from whence.store.tables import facet_body, job

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One job: column edges that its SQL has and its producer does not report, and the other way round."""

    job: JobName
    missing_in_report: int
    missing_in_parse: int

    @property
    def size(self) -> int:
        """How many edges only one of the two has."""
        return self.missing_in_report + self.missing_in_parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """All jobs together: how many were compared, how many disagree, in how much. `worst`: the first of them."""

    compared: int = 0
    jobs: int = 0
    missing_in_report: int = 0
    missing_in_parse: int = 0
    worst: tuple[Disagreement, ...] = ()


def count_disagreements(connection: Connection) -> Disagreements:
    """What the latest comparison of each job says. Reads one facet of every job that was compared."""
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
    # Written out, for an index of this name alone is found by it.
    named = facet_body.c.name == literal_column(f"'{SQL_COMPARISON}'")
    for namespace, name, payload in connection.execute(query.where(named, facet_body.c.payload != "")):
        said = json.loads(payload)
        yield Disagreement(
            job=JobName(namespace, name),
            missing_in_report=said["missingInReport"],
            missing_in_parse=said["missingInParse"],
        )
