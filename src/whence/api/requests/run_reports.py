"""What runs themselves reported: commits, and versions of what they wrote, from their events in the log."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastapi import Request

from whence.govern.containment.rollback_documents import Reported
from whence.govern.run_events.end_events import read_end_events
from whence.govern.run_events.run_commits import commit_of_event
from whence.model.ids import node_id
from whence.model.names import DatasetName, RunName
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.snapshots.graph import StoreGraph

Json = dict[str, Any]

_EVENTS = 20
"""Last events of a run that are read: a commit is reported beside the end of its run, before or after it."""


def reported_by(request: Request, graph: QuestionGraph, runs: Iterable[RunName]) -> Mapping[RunName, Reported]:
    """What each run reported. Those of jobs that the caller may not see are left out. Raises LogError."""
    whole = graph.visible_ids.graph if isinstance(graph, VisibleGraph) else graph
    assert isinstance(whole, StoreGraph)
    ids = {node_id(one): one for one in runs if not graph.hidden([node_id(one)])}
    found = read_end_events(whole.connection, request.app.state.log, ids, _EVENTS)
    return {ids[id_]: _reported(events) for id_, events in found.items()}


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
            yield DatasetName(one["namespace"], one["name"]), version
