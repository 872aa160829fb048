"""A connector as events: its run, and below it a run for each topic, from or to what is at the other end."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from whence.capture.kafka_connect.records import ConnectorRecord
from whence.capture.kafka_connect.systems import find_other_end
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import own_facet
from whence_client.events.runs import (
    COMPLETE,
    FAIL,
    RUNNING,
    START,
    RunRef,
    error_facet,
    extraction_error_facet,
    job_type_facet,
    run_event,
)

_FAILED, _ENDED = "FAILED", frozenset(("STOPPED",))
Ends = tuple[tuple[Dataset, ...], tuple[Dataset, ...]]


def state_of(record: ConnectorRecord) -> str:
    """What the run of a connector is: failed if one of its tasks is, ended if it is stopped or deleted."""
    if not record.status or record.status["connector"]["state"] in _ENDED:
        return COMPLETE
    return FAIL if any(one["state"] == _FAILED for one in _workers(record)) else RUNNING


def connector_events(record: ConnectorRecord, bootstrap: str, naming: Naming) -> Iterator[Json]:
    """The events of a connector. `bootstrap` are the servers that name its topics."""
    run = naming.run(record.name, record.name, record.began)
    ends, gaps = _ends(record, bootstrap, naming)
    facets: dict[str, Any] = {"whence_connector": _described(record)} if record.info else {}
    if gaps:
        facets["extractionError"] = extraction_error_facet(gaps)
    yield from _states(record, run, naming.parent, facets, ((), ()))
    for topic in record.topics:
        below = naming.run(f"{record.name}.{topic}", record.name, topic, record.began)
        below = RunRef(below.namespace, below.job, below.run_id, run.root or run)
        yield from _states(record, below, run, {}, ends.get(topic, ((), ())))


def _states(
    record: ConnectorRecord, run: RunRef, parent: RunRef | None, facets: dict[str, Any], ends: Ends
) -> Iterator[Json]:
    inputs, outputs = ends
    kind = "CONNECTOR" if run.job == record.name else "TOPIC"
    jobs = {"jobType": job_type_facet(kind, "KAFKA_CONNECT", "STREAMING")}
    common: dict[str, Any] = {"parent": parent, "job_facets": jobs, "inputs": inputs, "outputs": outputs}
    state = state_of(record)
    yield run_event(START, run, datetime.fromisoformat(record.began), **common)
    if state == FAIL:
        facets = {**facets, "errorMessage": _error(record)}
    yield run_event(state, run, datetime.fromisoformat(record.polled), run_facets=facets, **common)


def _ends(record: ConnectorRecord, bootstrap: str, naming: Naming) -> tuple[dict[str, Ends], dict[str, str]]:
    """Inputs and outputs by topic, and by topic the reason why one end is not known."""
    ends: dict[str, Ends] = {}
    gaps: dict[str, str] = {}
    for topic in record.topics if record.info else ():
        here, there = (naming.topic(bootstrap, topic),), find_other_end(record, topic, naming)
        if isinstance(there, str):
            gaps[topic] = there
        other = () if isinstance(there, str) else (there,)
        ends[topic] = (here, other) if record.is_sink else (other, here)
    return ends, gaps


def _described(record: ConnectorRecord) -> Json:
    """What is shown of a connector: no setting but these, since any of them may be a secret."""
    settings = record.settings
    members: Json = {
        "class": settings.get("connector.class", ""),
        "type": record.info.get("type", ""),
        "state": record.status["connector"]["state"],
        "tasks": [{"task": one["id"], "state": one["state"]} for one in record.status.get("tasks") or ()],
        "topics": "used" if record.is_tracked else "configured",
        "transforms": [
            settings.get(f"transforms.{alias.strip()}.type", "")
            for alias in settings.get("transforms", "").split(",")
            if alias.strip()
        ],
    }
    return own_facet("ConnectorFacet", **members)


def _error(record: ConnectorRecord) -> Json:
    traces = [str(one.get("trace") or "") for one in _workers(record) if one["state"] == _FAILED]
    trace = next((one for one in traces if one), "")
    return error_facet(trace.partition("\n")[0] or "A task of the connector failed", trace, "JAVA")


def _workers(record: ConnectorRecord) -> tuple[Json, ...]:
    return (record.status["connector"], *(record.status.get("tasks") or ()))
