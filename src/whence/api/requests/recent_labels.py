"""How many columns have which labels, and which they are, as one viewer may see them; at most some minutes old."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Thread

from fastapi import FastAPI, Request

from whence.api.auth.guard import viewer_tag
from whence.api.http.clock import now_of
from whence.api.http.recent import RecentValues
from whence.api.requests.estate_labels import labels_for
from whence.api.requests.graph import open_visible_graph
from whence.errors import WhenceError
from whence.model.catalog import EntryFilter
from whence.model.ids import Kind
from whence.model.sensitivity import Grade
from whence.query.sensitivity.estate_labels import EstateLabels, label_estate
from whence.query.sensitivity.label_counts import LabelCounts, count_labels
from whence.query.sensitivity.labelled_columns import LabelledColumn, labelled_columns
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

_log = logging.getLogger(__name__)
LARGE = 2_000
"""Datasets of a graph of which the labels are counted when the server starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentLabels:
    """The labels of a time (µs). `columns`: those of grade *partial* or more."""

    at: int
    counts: LabelCounts
    columns: Sequence[LabelledColumn]


def recent_labels(request: Request) -> RecentLabels:
    """The labels that the caller may see. Raises QuestionsBusyError, StoreError."""
    kept: RecentValues[RecentLabels] = request.app.state.recent_labels
    return kept.get(viewer_tag(request), partial(_read_labels, request))


def warm_labels(app: FastAPI) -> Thread:
    """Begin to count the labels for who sees everything, if the graph is so large that somebody would wait for them.

    Join the thread before the engine is disposed of.
    """
    kept: RecentValues[RecentLabels] = app.state.recent_labels
    warming = Thread(target=_warm, args=(app, kept), daemon=True, name="labels")
    warming.start()
    return warming


def _warm(app: FastAPI, kept: RecentValues[RecentLabels]) -> None:
    try:
        with snapshot(app.state.engine) as connection:
            is_large = StoreCatalog(connection).count(Kind.DATASET, EntryFilter()) >= LARGE
        if is_large:
            kept.get("", partial(_read_whole, app))
    except WhenceError as error:
        _log.warning("the labels are not counted: %s", error)


def _read_whole(app: FastAPI) -> RecentLabels:
    with snapshot(app.state.engine) as connection:
        graph = StoreGraph(connection)
        return _counted(graph, label_estate(StoreCatalog(connection), graph), app.state.clock())


def _counted(graph: QuestionGraph, labels: EstateLabels, at: int) -> RecentLabels:
    columns = labelled_columns(graph, labels, Grade.PARTIAL)
    return RecentLabels(at=at, counts=count_labels(graph, labels), columns=columns)


def _read_labels(request: Request) -> RecentLabels:
    with open_visible_graph(request) as graph:
        return _counted(graph, labels_for(request, graph), now_of(request))
