"""The last events of runs, as they are in the log: what they reported then, whatever came later.

Parts that their sender was not entitled to are removed, as everywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection

from whence.errors import EventError
from whence.log import Kind, Log, Position, Record
from whence.model.ids import join_event_key
from whence.openlineage.authority.governed_parts import enforce
from whence.openlineage.facets.warnings import Notes
from whence.store.status.failing_jobs import read_run_events

Json = dict[str, Any]


def read_end_events(
    connection: Connection, log: Log, run_ids: Iterable[int], last: int = 1
) -> Mapping[int, Sequence[Json]]:
    """The first and the last events of each run, `last` many; runs without stored events are left out.

    Raises LogError.
    """
    events_by_run = read_run_events(connection, run_ids)
    ends = [(run, end) for run, events in events_by_run.items() for end in dict.fromkeys((events[0], *events[-last:]))]
    records = log.read_records([Position.from_int(position) for _, (_, _, position) in ends])
    found: dict[int, list[Json]] = {}
    for (run, (id_, rest, _)), record in zip(ends, records, strict=True):
        if record is None or record.kind is not Kind.EVENT or record.key != join_event_key(id_, rest):
            continue
        if event := _applied(record):
            found.setdefault(run, []).append(event)
    return found


def _applied(record: Record) -> Json | None:
    """An event as it is applied; None if nothing of it is."""
    event: Any = msgspec.json.decode(record.payload)
    if not isinstance(event, dict):
        return None
    try:
        return enforce(event, Notes())
    except EventError:
        return None
