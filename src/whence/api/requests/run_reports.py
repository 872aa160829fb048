"""What runs themselves reported, of those that the caller may see."""

from collections.abc import Iterable, Mapping

from fastapi import Request

from whence.govern.containment.rollback_documents import Reported
from whence.govern.run_events.run_reports import read_run_reports
from whence.model.ids import node_id
from whence.model.names import RunName
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.snapshots.graph import StoreGraph


def reported_by(request: Request, graph: QuestionGraph, runs: Iterable[RunName]) -> Mapping[RunName, Reported]:
    """What each run reported. Those of jobs that the caller may not see are left out. Raises LogError."""
    whole = graph.visible_ids.graph if isinstance(graph, VisibleGraph) else graph
    assert isinstance(whole, StoreGraph)
    ids = {node_id(one): one for one in runs if not graph.hidden([node_id(one)])}
    found = read_run_reports(whole.connection, request.app.state.log, ids)
    return {ids[id_]: one for id_, one in found.items()}
