"""Whether the source of a dataset is silent, so that nobody knows whether its data is late.

The source is the namespace of the jobs that write it. It is silent if the regular jobs in it that do not write the
dataset, two or more, are late all together, and no job in it has reported anything since the first of them was due.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from whence.govern.slos.evaluation.facts import Silence, Write
from whence.govern.slos.objectives import DAY, Delivery, Freshness, Objective
from whence.model.catalog import SourceJob
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName
from whence.query.ports.catalog import Catalog
from whence.store.status.late_jobs import FEWEST_RUNS, MOST_UNEVEN, PATIENCE, SHORTEST_HISTORY

FEWEST_JOBS = 2
"""Regular jobs of a source, apart from those that write the dataset: fewer do not show that it is silent."""
PERIOD = 30 * DAY
"""The runs by which it is decided whether a job is late."""


def find_silences(
    catalog: Catalog,
    objectives: Iterable[Objective],
    writes: Mapping[DatasetName, Sequence[Write]],
    until: int,
) -> Mapping[DatasetName, Silence]:
    """The silence of the sources of datasets whose data is too old at a time (µs): of no others is it asked."""
    writers: dict[DatasetName, frozenset[JobName]] = {}
    for one in objectives:
        limit = _longest_age(one)
        if limit is not None:
            found_writers = _last_writers(writes.get(one.dataset, ()), limit, until)
            writers[one.dataset] = writers.get(one.dataset, frozenset()) | found_writers
    namespaces = {job.namespace for jobs in writers.values() for job in jobs}
    known = catalog.source_jobs(namespaces, until - PERIOD, until) if namespaces else ()
    found = {name: judge_silence(known, jobs, until) for name, jobs in writers.items() if jobs}
    return {name: one for name, one in found.items() if one is not None}


def judge_silence(known: Iterable[SourceJob], writers: AbstractSet[JobName], until: int) -> Silence | None:
    """The silence at a time (µs) of the namespaces of the jobs that write a dataset; None: one of them speaks."""
    of_source = [one for one in known if one.namespace in {job.namespace for job in writers}]
    own = {node_id(one) for one in writers}
    due = [time for one in of_source if one.job_id not in own and (time := due_of(one)) is not None]
    if len(due) < FEWEST_JOBS or max(due) > until:
        return None
    heard = max(one.heard for one in of_source)
    return Silence(since=max(due), heard=heard) if heard <= min(due) else None


def due_of(one: SourceJob) -> int | None:
    """When the next run of a job is late (µs), by its pauses; None: it runs on demand, or too little is known."""
    span = one.last - one.first
    is_regular = one.longest * (one.runs - 1) <= MOST_UNEVEN * span
    if one.runs < FEWEST_RUNS or span < SHORTEST_HISTORY or not is_regular:
        return None
    return one.last + int(PATIENCE * one.longest)


def _longest_age(one: Objective) -> int | None:
    """The age of the last write (µs) from which on the data may be missing; None: the objective is about something
    else.
    """
    match one.indicator:
        case Freshness(limit=limit):
            return limit
        case Delivery(within=within):
            return within
    return None


def _last_writers(writes: Sequence[Write], limit: int, until: int) -> frozenset[JobName]:
    """The jobs that write a dataset, if its last write is older than the limit: else its source does not matter."""
    known = [one for one in writes if one.time <= until]
    if not known or max(one.time for one in known) + limit > until:
        return frozenset()
    return frozenset(one.run.job for one in known if one.run is not None)
