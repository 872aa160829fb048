"""What runs themselves reported: commits, and versions of what they wrote, from their own events in the log."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection

from whence.govern.containment.rollback_documents import Reported
from whence.govern.run_events.end_events import read_end_events
from whence.govern.run_events.run_commits import commit_of_event
from whence.log import Log
from whence.model.names import DatasetName
from whence.openlineage.names.naming import normalise

Json = Mapping[str, Any]

_EVENTS = 20
"""Last events of a run that are read: a commit is reported beside the end of its run, before or after it."""


def read_run_reports(connection: Connection, log: Log, run_ids: Iterable[int]) -> Mapping[int, Reported]:
    """What each run reported; runs without stored events are left out. Raises LogError."""
    found = read_end_events(connection, log, run_ids, _EVENTS)
    return {id_: _reported(events) for id_, events in found.items()}


def _reported(events: Iterable[Json]) -> Reported:
    several = list(events)
    commits = [commit for one in several if (commit := commit_of_event(one))]
    versions = dict(pair for one in several for pair in _versions(one))
    return Reported(commit=commits[-1] if commits else None, versions=versions)


def _versions(event: Json) -> Iterator[tuple[DatasetName, str]]:
    """The version of each output in an event (OpenLineage's `version` facet)."""
    outputs = event.get("outputs")
    for one in outputs if isinstance(outputs, list) else ():
        facets = one.get("facets") if isinstance(one, dict) else None
        facet = facets.get("version") if isinstance(facets, dict) else None
        version = facet.get("datasetVersion") if isinstance(facet, dict) else None
        if isinstance(version, str) and isinstance(one.get("namespace"), str) and isinstance(one.get("name"), str):
            yield normalise(one["namespace"], one["name"]), version
