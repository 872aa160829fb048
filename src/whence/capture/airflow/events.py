"""A DAG run as events: the run of the DAG, and below it each try of its tasks, with assets as inputs and outputs."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from whence.capture.airflow.assets import describe_asset
from whence.capture.airflow.facets import dag_facets, run_facets, task_facets, try_facets
from whence.capture.airflow.records import DagRunRecord, map_index, try_key
from whence.capture.airflow.run_ids import dag_run_id, logical_date, try_run_id
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.runs import COMPLETE, FAIL, START, RunRef, error_facet, run_event

_ENDS = {"success": COMPLETE, "skipped": COMPLETE, "failed": FAIL, "up_for_retry": FAIL}
"""Ends of tasks. A task that is skipped did what it was to do; its state is in the facet `whence_airflowTask`."""
_RUN_ENDS = {"success": COMPLETE, "failed": FAIL}
_NEVER_STARTED = frozenset(("upstream_failed", "removed"))


def run_events(record: DagRunRecord, naming: Naming) -> Iterator[Json]:
    """The events of a DAG run and of the tries in it. A run that has not started has none."""
    at = logical_date(record.run)
    if at is None:
        return
    dag = str(record.run["dag_id"])
    root = (naming.parent.root or naming.parent) if naming.parent else None

    def run_after(clearings: int) -> RunRef:
        return RunRef(naming.namespace, dag, dag_run_id(naming.namespace, dag, at, clearings), root)

    yield from _dag_run(record, run_after(len(record.clearings)), naming)
    for instance in record.tries:
        if instance.get("start_date") and instance.get("state") not in _NEVER_STARTED:
            started = _time(instance["start_date"])
            before = sum(_time(one) < started for one in record.clearings)
            yield from _try(record, instance, run_after(before), at, naming)


def _dag_run(record: DagRunRecord, run: RunRef, naming: Naming) -> Iterator[Json]:
    common: dict[str, Any] = {
        "parent": naming.parent,
        "run_facets": run_facets(record),
        "job_facets": dag_facets(record),
        "inputs": _unite(record.consumed, naming),
    }
    started, ended = record.run.get("start_date"), record.run.get("end_date")
    if started:
        yield run_event(START, run, _time(started), **common)
    state = _RUN_ENDS.get(str(record.run.get("state")))
    if state and ended:
        if state == FAIL:
            common["run_facets"] = {**common["run_facets"], "errorMessage": _dag_error(record.tries)}
        yield run_event(state, run, _time(ended), **common)


def _dag_error(tries: tuple[Json, ...]) -> Json:
    """The tasks whose last try failed: the API has no other reason of a failed run."""
    last = {(str(one["task_id"]), map_index(one)): one for one in tries}
    names = ", ".join(dict.fromkeys(task for (task, _), one in last.items() if one.get("state") == "failed"))
    return error_facet(f"Tasks failed: {names}" if names else "The DAG run failed")


def _try(record: DagRunRecord, instance: Json, parent: RunRef, at: datetime, naming: Naming) -> Iterator[Json]:
    dag, task = str(record.run["dag_id"]), str(instance["task_id"])
    number, place = int(instance.get("try_number") or 0), map_index(instance)
    run_id = try_run_id(naming.namespace, dag, task, number, at, place)
    run = RunRef(naming.namespace, f"{dag}.{task}", run_id, parent.root or parent)
    state = _ENDS.get(str(instance.get("state")))
    common: dict[str, Any] = {
        "parent": parent,
        "run_facets": try_facets(record, instance),
        "job_facets": task_facets(record, task),
        "inputs": _unite(record.inlets.get(task, ()), naming),
    }
    yield run_event(START, run, _time(instance["start_date"]), **common)
    if state is None or not instance.get("end_date"):
        return
    if error := record.errors.get(try_key(instance)):
        facet = error_facet(str(error.get("message", "")), str(error.get("stack", "")))
        common["run_facets"] = {**common["run_facets"], "errorMessage": facet}
    outputs = _unite(_outputs(record, instance), naming)
    yield run_event(state, run, _time(instance["end_date"]), outputs=outputs, **common)


def _outputs(record: DagRunRecord, instance: Json) -> tuple[Json, ...]:
    """What a try that succeeded wrote, and its declared outlets. Any other try may have written none of them."""
    if instance.get("state") != "success":
        return ()
    return (*_written(record, instance), *record.outlets.get(str(instance["task_id"]), ()))


def _written(record: DagRunRecord, instance: Json) -> tuple[Json, ...]:
    return tuple(
        one
        for one in record.written
        if one.get("source_task_id") == instance["task_id"] and _place(one) == map_index(instance)
    )


def _place(event: Json) -> int:
    found = event.get("source_map_index")
    return -1 if found is None else int(found)


def _unite(assets: Iterable[Json], naming: Naming) -> tuple[Dataset, ...]:
    """Each dataset once; the first mention counts, which is that of an event if there is one."""
    found: dict[tuple[str, str], Dataset] = {}
    for asset in assets:
        dataset = describe_asset(asset, naming)
        found.setdefault(dataset.key, dataset)
    return tuple(found.values())


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
