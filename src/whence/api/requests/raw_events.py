"""Events as they were sent, from the log; for events that the log has dropped, the remains in the store."""

import json
from collections.abc import Sequence

from whence.log import Kind, Log, Position, Record
from whence.model.catalog import EventEntry
from whence.model.events import EventKind
from whence.model.names import DatasetName, JobName, RunName
from whence.query.answers.instants import iso

REMEMBERED = "whence_remembered"
"""True in the remains of an event that the log has dropped."""


def raw_events(log: Log, entries: Sequence[EventEntry]) -> list[bytes]:
    """The JSON of each event. Raises LogError."""
    records = log.read_records([Position.from_int(one.position) for one in entries])
    return [_payload(record, one) for record, one in zip(records, entries, strict=True)]


def _payload(record: Record | None, entry: EventEntry) -> bytes:
    if record is not None and record.kind is Kind.EVENT and record.key == entry.key:
        return record.payload
    return json.dumps(_remembered(entry), ensure_ascii=False).encode()


def _remembered(entry: EventEntry) -> dict[str, object]:
    """The remains of an event that the log has dropped."""
    head: dict[str, object] = {"eventTime": iso(entry.time), "producer": entry.producer, REMEMBERED: True}
    if entry.kind is EventKind.RUN:
        head["eventType"] = entry.state.name
    match entry.subject:
        case RunName(run_id, job):
            return {**head, "run": {"runId": run_id}, "job": _named(job), "inputs": [], "outputs": []}
        case JobName() as job:
            return {**head, "job": _named(job), "inputs": [], "outputs": []}
        case DatasetName() as dataset:
            return {**head, "dataset": _named(dataset)}
    return head


def _named(name: DatasetName | JobName) -> dict[str, str]:
    return {"namespace": name.namespace, "name": name.name}
