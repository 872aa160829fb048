"""A flow run as events: the run of the flow or deployment, and below it its task runs, with assets as datasets."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from whence.capture.prefect.assets import read_assets, with_role
from whence.capture.prefect.facets import failure_facet, flow_facets, flow_run_facets, task_facets, task_run_facets
from whence.capture.prefect.records import FlowRunRecord
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.runs import ABORT, COMPLETE, FAIL, START, RunRef, run_event

_ENDS = {"COMPLETED": COMPLETE, "FAILED": FAIL, "CRASHED": FAIL, "CANCELLED": ABORT}
_HASH = re.compile(r"-[0-9a-f]{8}$")


def record_events(record: FlowRunRecord, naming: Naming) -> Iterator[Json]:
    """The events of a flow run. A run that has not started has none."""
    run, parent = _ref(record, naming), naming.parent
    if record.above:
        parent = _ref(record.above[0], naming)
    common: dict[str, Any] = {
        "parent": parent,
        "run_facets": flow_run_facets(record),
        "job_facets": flow_facets(record),
    }
    yield from _states(record.run, run, common, record.logs.get("", ""))
    for task in record.tasks:
        if not (task.get("state") or {}).get("state_details", {}).get("child_flow_run_id"):
            yield from _task(record, task, run, naming)


def job_of(record: FlowRunRecord) -> str:
    """The name of a flow run's job: that of the flow; with a deployment `FLOW/DEPLOYMENT`, as Prefect writes it.

    The events of the run have the names of a flow and a deployment that were deleted since.
    """
    name = str(record.flow.get("name") or _find_name(record, "flow") or record.run["flow_id"])
    deployment = record.deployment.get("name") or _find_name(record, "deployment") or record.run.get("deployment_id")
    return f"{name}/{deployment}" if deployment else name


def _find_name(record: FlowRunRecord, role: str) -> str:
    related = (one for event in record.events for one in event.get("related") or ())
    names = (one.get("prefect.resource.name") for one in related if one.get("prefect.resource.role") == role)
    return str(next(filter(None, names), ""))


def _ref(record: FlowRunRecord, naming: Naming) -> RunRef:
    """The run of a flow run, with the topmost run of its hierarchy."""
    found = naming.run(job_of(record), record.run["id"])
    if not record.above:
        return found
    top = naming.run(job_of(record.above[-1]), record.above[-1].run["id"])
    return RunRef(found.namespace, found.job, found.run_id, top.root or top)


def _task(record: FlowRunRecord, task: Json, parent: RunRef, naming: Naming) -> Iterator[Json]:
    id_ = f"prefect.task-run.{task['id']}"
    assets = read_assets(tuple(one for one in record.events if id_ in with_role(one, "task-run")), naming)
    name = _HASH.sub("", str(task.get("task_key") or task.get("name") or "task"))
    found = naming.run(f"{parent.job}.{name}", task["id"])
    run = RunRef(found.namespace, found.job, found.run_id, parent.root or parent)
    common: dict[str, Any] = {
        "parent": parent,
        "run_facets": task_run_facets(task, assets.gaps),
        "job_facets": task_facets(),
        "inputs": tuple(assets.inputs.values()),
    }
    ended = {"outputs": tuple(assets.outputs.values())} if assets.outputs else {}
    if ended:
        common["job_facets"]["lineage"] = assets.lineage()
    yield from _states(task, run, common, record.logs.get(task["id"], ""), ended)


def _states(source: Json, run: RunRef, common: dict[str, Any], log: str, ended: Any = None) -> Iterator[Json]:
    """START and the end of a run. `ended`: what only the end has."""
    state, began, end = _ENDS.get(str(source.get("state_type"))), source.get("start_time"), source.get("end_time")
    if began:
        yield run_event(START, run, datetime.fromisoformat(began), **common)
    if state and (at := end or (source.get("state") or {}).get("timestamp")):
        if state == FAIL:
            error = failure_facet(source.get("state") or {}, log)
            common = {**common, "run_facets": {**common["run_facets"], "errorMessage": error}}
        yield run_event(state, run, datetime.fromisoformat(at), **common, **(ended or {}))
