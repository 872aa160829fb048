"""What Prefect knows of flows, deployments and their runs, as facets: those of the specification, and Whence's own."""

from collections.abc import Iterable, Mapping
from typing import Any

from whence.capture.prefect.records import FlowRunRecord
from whence.openlineage.json.wire import Json
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import error_facet, extraction_error_facet, job_type_facet
from whence_client.process.commit import Commit, code_facets, web_address

_NO_EVENTS = "Prefect has no events of this run any more: which assets it read and wrote is not known"


def flow_run_facets(record: FlowRunRecord) -> dict[str, Facet]:
    """The facets of a flow run; its parameters are parameters."""
    run = record.run
    known = {
        "flowRunId": run["id"],
        "name": run.get("name"),
        "state": run.get("state_name"),
        "runCount": run.get("run_count"),
        "flowVersion": run.get("flow_version"),
        "deployment": record.deployment.get("name"),
        "workPool": run.get("work_pool_name"),
        "createdBy": (run.get("created_by") or {}).get("display_value"),
    }
    own = {"whence_prefectFlowRun": own_facet("PrefectFlowRunFacet", **_known(known))}
    gaps = {name: f"this user may not read {name} (HTTP 403)" for name in record.refused}
    if not record.has_events and "events" not in gaps:
        gaps["events"] = _NO_EVENTS
    return {**_nominal_time(run), **own, **_parameters(run), **_tagged(run.get("tags")), **gap_facets(gaps)}


def task_run_facets(task: Json, gaps: Mapping[str, str]) -> dict[str, Facet]:
    """The facets of a task run. Its tries are one run: Prefect keeps the times of the last one."""
    known = {
        "taskRunId": task["id"],
        "name": task.get("name"),
        "state": task.get("state_name"),
        "runCount": task.get("run_count"),
        "seconds": task.get("total_run_time"),
    }
    own = {"whence_prefectTaskRun": own_facet("PrefectTaskRunFacet", **_known(known))}
    return {**own, **_tagged(task.get("tags")), **gap_facets(gaps)}


def flow_facets(record: FlowRunRecord) -> dict[str, Facet]:
    """The facets of the job of a flow or deployment."""
    text = record.deployment.get("description")
    documented = {"documentation": facet("DocumentationJobFacet", description=text)} if text else {}
    return {**documented, **_code(record.deployment), "jobType": job_type_facet("FLOW", "PREFECT")}


def task_facets() -> dict[str, Facet]:
    """The facets of the job of a task."""
    return {"jobType": job_type_facet("TASK", "PREFECT")}


def failure_facet(state: Json, log: str) -> Facet:
    """The error of a run: the message of its state, and the stack in its log."""
    stack = log.partition("Traceback")
    return error_facet(str(state.get("message") or state.get("name") or "It failed"), "".join(stack[1:]))


def gap_facets(gaps: Mapping[str, str]) -> dict[str, Facet]:
    """What is not known of a run."""
    return {"extractionError": extraction_error_facet(gaps)} if gaps else {}


def _nominal_time(run: Json) -> dict[str, Facet]:
    at = run.get("expected_start_time") if run.get("auto_scheduled") else None
    return {"nominalTime": facet("NominalTimeRunFacet", nominalStartTime=at)} if at else {}


def _parameters(run: Json) -> dict[str, Facet]:
    given = sorted((run.get("parameters") or {}).items())
    listed = [{"key": name, "name": name, "value": str(value)} for name, value in given]
    return {"executionParameters": facet("ExecutionParametersRunFacet", parameters=listed)} if listed else {}


def _tagged(tags: Iterable[Any] | None) -> dict[str, Facet]:
    listed = [{"key": str(one), "value": str(one), "source": "PREFECT"} for one in sorted(tags or ())]
    return {"tags": facet("TagsRunFacet", tags=listed)} if listed else {}


def _code(deployment: Json) -> dict[str, Facet]:
    """Where the code of a deployment is: `flows/shop.py:shop`, at the commit of its version if Prefect knows it."""
    path = str(deployment.get("entrypoint") or "").partition(":")[0]
    version = deployment.get("version_info") or {}
    sha = str(version.get("commit_sha") or "")
    if not path:
        return {}
    repository = web_address(str(version.get("url") or "").partition("/tree/")[0])
    commit = Commit(sha, repository, str(version.get("branch") or ""), _folder(path)) if sha else None
    return code_facets(path, 0, commit)


def _folder(path: str) -> str:
    folder, separator, _ = path.rpartition("/")
    return "" if path.startswith(("/", ".")) else folder + separator


def _known(members: Json) -> Json:
    return {name: value for name, value in members.items() if value not in (None, "")}
