"""The commits of runs, from their own events in the log, not from the latest event of their job."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection

from whence.log import Kind, Log, Position
from whence.model.ids import join_event_key
from whence.query.runs.commits import FACET, Commit, commit_in
from whence.store.status.failing_jobs import read_run_events


def read_run_commits(connection: Connection, log: Log, run_ids: Iterable[int]) -> Mapping[int, Commit]:
    """The commit of each run; runs without stored events, or without a commit, are left out. Raises LogError."""
    events_by_run = read_run_events(connection, run_ids)
    ends = [(run, end) for run, events in events_by_run.items() for end in {events[0], events[-1]}]
    records = log.read_records([Position.from_int(position) for _, (_, _, position) in ends])
    found: dict[int, Commit] = {}
    for (run, (id_, rest, _)), record in zip(ends, records, strict=True):
        is_it = record is not None and record.kind is Kind.EVENT and record.key == join_event_key(id_, rest)
        if record is not None and is_it and (commit := _commit(record.payload)):
            found[run] = commit
    return found


def _commit(payload: bytes) -> Commit | None:
    event: Any = msgspec.json.decode(payload)
    job = event.get("job") if isinstance(event, dict) else None
    facets = job.get("facets") if isinstance(job, dict) else None
    return commit_in(facets.get(FACET)) if isinstance(facets, dict) else None
