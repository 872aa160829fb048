"""The commits of runs, from their own events in the log, not from the latest event of their job."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection

from whence.govern.run_events.end_events import read_end_events
from whence.log import Log
from whence.query.runs.commits import FACET, Commit, commit_in


def read_run_commits(connection: Connection, log: Log, run_ids: Iterable[int]) -> Mapping[int, Commit]:
    """The commit of each run; runs without stored events, or without a commit, are left out. Raises LogError."""
    found: dict[int, Commit] = {}
    for run, events in read_end_events(connection, log, run_ids).items():
        for event in events:
            if commit := commit_of_event(event):
                found[run] = commit
    return found


def commit_of_event(event: Mapping[str, Any]) -> Commit | None:
    """The commit that an event reports."""
    job = event.get("job")
    facets = job.get("facets") if isinstance(job, dict) else None
    return commit_in(facets.get(FACET)) if isinstance(facets, dict) else None
