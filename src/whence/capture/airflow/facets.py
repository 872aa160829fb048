"""What Airflow knows of DAGs, tasks and their runs, as facets: those of the specification, and Whence's own."""

from typing import Any

from whence.capture.airflow.records import DagRunRecord, map_index
from whence.openlineage.json.wire import Json
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import extraction_error_facet, job_type_facet


def dag_facets(record: DagRunRecord) -> dict[str, Facet]:
    """The facets of a DAG's job."""
    dag = record.dag
    known = {
        "schedule": dag.get("timetable_summary"),
        "file": dag.get("relative_fileloc") or dag.get("fileloc"),
        "bundle": dag.get("bundle_name"),
        "bundleVersion": record.run.get("bundle_version"),
        "isPaused": dag.get("is_paused"),
    }
    own = {"whence_airflowDag": own_facet("AirflowDagFacet", **_known(known))} if dag else {}
    return {**_described(dag.get("description")), **_owned(dag.get("owners")), **_tagged(dag), **own, **_kind("DAG")}


def task_facets(record: DagRunRecord, task: str) -> dict[str, Facet]:
    """The facets of a task's job: its own owner, the tags of its DAG."""
    found = record.tasks.get(task, {})
    text = found.get("doc_md") or record.dag.get("description")
    owner = found.get("owner")
    return {**_described(text), **_owned([owner] if owner else None), **_tagged(record.dag), **_kind("TASK")}


def run_facets(record: DagRunRecord) -> dict[str, Facet]:
    """The facets of a DAG run; its configuration are parameters."""
    run = record.run
    known = {
        "runId": run["dag_run_id"],
        "clearings": len(record.clearings) or None,
        "runType": run.get("run_type"),
        "state": run.get("state"),
        "user": run.get("triggering_user_name"),
        "partition": run.get("partition_key"),
        "seconds": run.get("duration"),
    }
    own = {"whence_airflowDagRun": own_facet("AirflowDagRunFacet", **_known(known))}
    given = run.get("conf") if isinstance(run.get("conf"), dict) else {}
    parameters = [{"key": name, "name": name, "value": str(value)} for name, value in sorted((given or {}).items())]
    listed = {"executionParameters": facet("ExecutionParametersRunFacet", parameters=parameters)} if parameters else {}
    return {**_nominal_time(run), **own, **listed, **_refused(record.refused)}


def try_facets(record: DagRunRecord, instance: Json) -> dict[str, Facet]:
    """The facets of a try of a task."""
    known = {
        "runId": record.run["dag_run_id"],
        "tryNumber": instance.get("try_number"),
        "maxTries": instance.get("max_tries"),
        "mapIndex": map_index(instance),
        "state": instance.get("state"),
        "operator": instance.get("operator_name") or instance.get("operator"),
        "pool": instance.get("pool"),
        "queue": instance.get("queue"),
        "host": instance.get("hostname"),
        "queued": instance.get("queued_when"),
        "seconds": instance.get("duration"),
    }
    return {**_nominal_time(record.run), "whence_airflowTask": own_facet("AirflowTaskFacet", **_known(known))}


def _refused(names: tuple[str, ...]) -> dict[str, Facet]:
    """What is not known of a run because the user of the API may not read it."""
    missing = {name: f"this user may not read {name} (HTTP 403)" for name in names}
    return {"extractionError": extraction_error_facet(missing)} if missing else {}


def _nominal_time(run: Json) -> dict[str, Facet]:
    start, end = run.get("data_interval_start"), run.get("data_interval_end")
    if not start:
        return {}
    members = {"nominalStartTime": start, **({"nominalEndTime": end} if end else {})}
    return {"nominalTime": facet("NominalTimeRunFacet", **members)}


def _described(text: object) -> dict[str, Facet]:
    return {"documentation": facet("DocumentationJobFacet", description=text)} if text else {}


def _owned(owners: Any) -> dict[str, Facet]:
    listed = [{"name": str(one)} for one in sorted(owners or ())]
    return {"ownership": facet("OwnershipJobFacet", owners=listed)} if listed else {}


def _tagged(dag: Json) -> dict[str, Facet]:
    """Tags as the provider reports them: the key is the value, too."""
    names = sorted(str(one.get("name")) for one in dag.get("tags") or ())
    listed = [{"key": name, "value": name, "source": "AIRFLOW"} for name in names]
    return {"tags": facet("TagsJobFacet", tags=listed)} if listed else {}


def _kind(kind: str) -> dict[str, Facet]:
    return {"jobType": job_type_facet(kind, "AIRFLOW")}


def _known(members: Json) -> Json:
    return {name: value for name, value in members.items() if value not in (None, "")}
