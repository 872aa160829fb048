"""The commit of a run's code, from its own events."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whence.model.events import Job
from whence.model.graph import FacetRow, RunRow
from whence.model.ids import node_id
from whence.query.ports.graph import Graph

FACET = "sourceCodeLocation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The location of a job's source code, and its version: OpenLineage's sourceCodeLocation facet. Empty: not
    reported.
    """

    version: str
    url: str
    branch: str = ""


def commits_of(graph: Graph, runs: Iterable[RunRow]) -> Mapping[int, Commit]:
    """The commit that each run itself reported.

    The facet belongs to the job, and only its latest payload is stored. So a commit is known only for the latest run of
    each job that reported it.
    """
    jobs = {node_id(row.name.job): row for row in runs}
    facets = {row.subject_id: row for row in graph.facets(sorted(jobs), (FACET,))}
    events = graph.events({row.event_id for row in facets.values()})
    run_by_job = {facet.subject_id: events[facet.event_id][1] for facet in facets.values() if facet.event_id in events}
    return {run_id: commit for job, run_id in run_by_job.items() if (commit := _commit(facets[job]))}


def _commit(row: FacetRow) -> Commit | None:
    return commit_in(json.loads(row.payload))


def reported_commit(job: Job) -> Commit | None:
    """The commit that an event reports of its job."""
    return next((commit_in(json.loads(one.payload)) for one in job.facets if one.key == FACET), None)


def commit_in(facet: Any) -> Commit | None:
    """The commit in a decoded facet, or None."""
    texts = {key: facet.get(key) for key in ("version", "url", "repoUrl", "branch")} if isinstance(facet, dict) else {}
    members = {key: value for key, value in texts.items() if isinstance(value, str)}
    url = members.get("repoUrl") or members.get("url", "")
    if not url and "version" not in members:
        return None
    return Commit(version=members.get("version", ""), url=url, branch=members.get("branch", ""))
