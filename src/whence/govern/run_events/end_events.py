"""The last events of runs, as they are in the log: what they reported then, whatever came later."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection

from whence.log import Kind, Log, Position
from whence.model.ids import join_event_key
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
        is_it = record is not None and record.kind is Kind.EVENT and record.key == join_event_key(id_, rest)
        event: Any = msgspec.json.decode(record.payload) if record is not None and is_it else None
        if isinstance(event, dict):
            found.setdefault(run, []).append(event)
    return found
