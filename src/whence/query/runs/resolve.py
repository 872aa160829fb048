"""Resolution of typed text to a run: by its id, or as the latest run of a job."""

from typing import Protocol

from whence.errors import NodeNotFoundError
from whence.model.graph import RunRow
from whence.model.ids import node_id
from whence.model.names import JobName
from whence.query.lookup.resolve import resolve
from whence.query.ports.graph import Names, Runs
from whence.query.runs.run_lineage import resolve_run


class JobRuns(Runs, Names, Protocol):
    """A graph with the latest run of each job."""

    def latest_run(self, job_id: int) -> RunRow | None:
        """The latest run of a job; None if it has none."""
        ...


def resolve_run_name(graph: JobRuns, typed: str) -> RunRow:
    """The run with this id, or else the latest run of this job. Raises NodeNotFoundError, AmbiguousNodeError."""
    try:
        return resolve_run(graph, typed)
    except NodeNotFoundError:
        job = resolve(graph, typed)
        if isinstance(job, JobName) and (latest := graph.latest_run(node_id(job))):
            return latest
        raise
