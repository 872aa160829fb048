"""The sensitivity labels of all that a viewer may see, computed once for each state of the graph."""

from collections import OrderedDict
from collections.abc import Callable
from threading import BoundedSemaphore, Lock

from fastapi import Request

from whence.api.auth.guard import viewer_tag
from whence.api.requests.catalog import catalog_over
from whence.errors import QuestionsBusyError
from whence.query.answers.completeness import graph_version
from whence.query.sensitivity.estate_labels import EstateLabels, label_estate
from whence.query.visibility.visible_ids import QuestionGraph

KEPT = 8
"""The most viewers and states of which labels are kept; those of a million columns are 20 MB."""
WAITING = 4
"""The most requests that wait for labels, so that other questions have threads; others are rejected."""

_Key = tuple[object, ...]


class EstateLabelsCache:
    """Labels by viewer and state of the graph. Thread-safe; they are computed one after another."""

    def __init__(self) -> None:
        """Nothing is kept yet."""
        self._kept: OrderedDict[_Key, EstateLabels] = OrderedDict()
        self._computing = Lock()
        self._places = BoundedSemaphore(WAITING)

    def get(self, key: _Key, compute: Callable[[], EstateLabels]) -> EstateLabels:
        """The labels under a key, computed if they are not kept. Raises QuestionsBusyError."""
        if (found := self._kept.get(key)) is not None:
            return found
        if not self._places.acquire(blocking=False):
            raise QuestionsBusyError
        try:
            with self._computing:
                return self._compute(key, compute)
        finally:
            self._places.release()

    def _compute(self, key: _Key, compute: Callable[[], EstateLabels]) -> EstateLabels:
        if (found := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return found
        found = self._kept[key] = compute()
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found


def labels_for(request: Request, graph: QuestionGraph, at: int | None = None) -> EstateLabels:
    """The labels of all that the caller may see, at a time (µs), None: now. Raises QuestionsBusyError."""
    key = (graph_version(graph), graph.forgotten_before(), viewer_tag(request), at)
    cache: EstateLabelsCache = request.app.state.estate_labels
    return cache.get(key, lambda: label_estate(catalog_over(request, graph), graph, at))
