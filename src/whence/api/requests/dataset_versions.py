"""The versions of a dataset, from the events about it and about the runs that wrote it, in the log."""

from fastapi import Request

from whence.api.requests.catalog import catalog_over
from whence.govern.run_events.end_events import read_end_events
from whence.model.catalog import Window
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.answers.completeness import completeness_of
from whence.query.history.table_versions import DatasetVersions, collect_versions
from whence.query.visibility.graph import VisibleGraph
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.snapshots.graph import StoreGraph

MOST = 500
"""The newest writes, and the newest events about the dataset, that are read."""
_EVENTS_OF_A_RUN = 20


def read_versions(request: Request, graph: QuestionGraph, dataset: DatasetName) -> DatasetVersions:
    """The versions of a dataset under all its names. Raises LogError.

    What runs reported that the caller may not see is left out, and these runs are counted as hidden.
    """
    whole = graph.visible_ids.graph if isinstance(graph, VisibleGraph) else graph
    assert isinstance(whole, StoreGraph)
    names = graph.groups([node_id(dataset)]).get(node_id(dataset), (dataset,))
    ids = sorted(map(node_id, names))
    writes = catalog_over(request, graph).writes_of_all(ids, Window(limit=MOST))
    hidden = graph.hidden([one.run.id for one in writes])
    runs = {node_id(one.run.name): one.run.name for one in writes if one.run.id not in hidden}
    states = {one.run.name: one.run.state for one in writes}
    log = request.app.state.log
    found = {
        **read_end_events(whole.connection, log, ids, MOST),
        **read_end_events(whole.connection, log, runs, _EVENTS_OF_A_RUN),
    }
    reported = [(runs.get(subject), event) for subject, events in found.items() for event in events]
    return DatasetVersions(
        dataset=dataset,
        versions=collect_versions(reported, frozenset(names), states),
        completeness=completeness_of(graph, None, reached=hidden, stopped_by="runs" if len(writes) == MOST else None),
    )
