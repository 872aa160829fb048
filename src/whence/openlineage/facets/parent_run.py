"""The facet `parent` of a run: its parent run and its root run."""

from uuid import NAMESPACE_URL, uuid3

from whence.model.names import JobName, RunName
from whence.openlineage.facets.facets import Facets
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.names.entity_names import read_job_name
from whence.openlineage.names.run_ids import parse_uuid


def read_parents(facets: Facets, own: JobName, at: str, notes: Notes) -> tuple[RunName | None, RunName | None]:
    """The parent run and the root run in the parent facet of a run of the job `own`."""
    facet = facets.get("parent")
    if facet is None:
        return None, None
    root = facet.get("root")
    parent = _read_run_name(facet, own, f"{at}/parent", notes)
    return parent, _read_run_name(root, own, f"{at}/parent/root", notes) if root else None


def _read_run_name(reference: object, own: JobName, at: str, notes: Notes) -> RunName | None:
    if type(reference) is dict and type(run := reference.get("run")) is dict and type(reference.get("job")) is dict:
        raw_id, job = run.get("runId"), read_job_name(reference["job"], f"{at}/job")
        if type(raw_id) is str and raw_id and job:
            run_id = parse_uuid(raw_id)
            return RunName(run_id, job) if run_id else _derive_run_name(raw_id, job, own, at, notes)
    notes.add(at, "needs a run with an id and a job with a namespace and a name; ignored")
    return None


def _derive_run_name(raw_id: str, job: JobName, own: JobName, at: str, notes: Notes) -> RunName:
    """The name of a run whose id is not a UUID, with the UUID that Marquez derives for it.

    Old Airflow providers name DAG runs so, and the task's own job instead of the DAG's.
    """
    dag = job.name.rpartition(".")[0] if "." in job.name else job.name
    run_id = str(uuid3(NAMESPACE_URL, f"{dag}.{raw_id}"))
    notes.add(f"{at}/run/runId", f"{raw_id[:40]!r} is no UUID; known as {run_id}")
    return RunName(run_id, JobName(job.namespace, dag) if job == own else job)
