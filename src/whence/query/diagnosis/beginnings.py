"""When datasets began. What the first run of a dataset reports of it is no change: it broke nothing that was there."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from whence.model.names import DatasetName
from whence.query.answers.values import dataset_of
from whence.query.history.changes.values import Change, ChangeKind, UpstreamChange
from whence.query.ports.graph import Past

_REPORTS = (ChangeKind.SCHEMA, ChangeKind.LINEAGE)
"""What a first run reports, and what would be a change later."""


def read_beginnings(
    graph: Past,
    ids: Mapping[DatasetName, Sequence[int]],
    writes: Mapping[DatasetName, Sequence[int]],
    changes: Iterable[UpstreamChange],
    since: int,
) -> Mapping[DatasetName, int]:
    """Datasets of which nothing was known at `since` → when the first run that completed had written them, or when they
    were first reported if none has. Times are µs.

    `ids`: of each dataset under all its names; `writes`: when runs completed writing it, the oldest first; `changes`:
    those after `since`.
    """
    every = {id_: name for name, several in ids.items() for id_ in several}
    traces: dict[DatasetName, list[int]] = {name: list(writes[name][:1]) for name in ids}
    for row in graph.schemas(every):
        traces[every[row.dataset_id]].append(row.first_time)
    for one in changes:
        if one.kind in _REPORTS and (dataset := dataset_of(one.node)) in traces:
            traces[dataset].append(one.time)
    linked = {every[id_] for id_ in graph.present(every, since)}
    firsts = {name: min(times) for name, times in traces.items() if times and name not in linked}
    return {name: _first_end(writes[name], first) for name, first in firsts.items() if first > since}


def without_beginnings(
    changes: Iterable[UpstreamChange], beginnings: Mapping[DatasetName, int]
) -> Sequence[UpstreamChange]:
    """The changes, but for the columns and the lineage with which datasets began."""
    return [one for one in changes if not _is_of_beginning(one, beginnings)]


def _is_of_beginning(one: UpstreamChange, beginnings: Mapping[DatasetName, int]) -> bool:
    dataset = dataset_of(one.node)
    if dataset is None or one.kind not in _REPORTS or one.change is not Change.ADDED:
        return False
    return one.time <= beginnings.get(dataset, -1)


def _first_end(completed: Sequence[int], first: int) -> int:
    place = bisect_left(completed, first)
    return completed[place] if place < len(completed) else first
