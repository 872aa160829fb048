"""How long the data of a dataset is kept where it comes from: the shortest retention of all datasets that it shows."""

import heapq
from collections.abc import Mapping
from typing import NamedTuple

from whence.govern.policies.estate import SourceRetention
from whence.model.names import DatasetName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.values import dataset_of
from whence.query.sensitivity.propagation import Widths

_PERSONAL = Grade.PSEUDONYMOUS
"""What shows less of a value is another value, with a retention of its own."""


class _Found(NamedTuple):
    days: int
    path: tuple[Node, ...]


def shortest_retentions(
    days: Mapping[DatasetName, int], widths: tuple[Widths, Widths]
) -> Mapping[DatasetName, SourceRetention]:
    """For each dataset the shortest retention upstream of it, along ways on which whole or pseudonymous values pass.

    `widths`: how much passes at most, and for certain.
    """
    at_most, proven = (_shortest(days, _targets(one)) for one in widths)
    return {
        dataset: SourceRetention(
            days=found.days, proven=proven[dataset].days if dataset in proven else None, path=found.path
        )
        for dataset, found in at_most.items()
    }


def _targets(widths: Widths) -> Mapping[DatasetName, set[DatasetName]]:
    found: dict[DatasetName, set[DatasetName]] = {}
    for ends, width in widths.items():
        source, target = map(dataset_of, ends)
        if width >= _PERSONAL and source and target and source != target:
            found.setdefault(source, set()).add(target)
    return found


def _shortest(
    days: Mapping[DatasetName, int], targets: Mapping[DatasetName, set[DatasetName]]
) -> Mapping[DatasetName, _Found]:
    """The shortest first: the first to reach a dataset is the shortest, and reaches all beyond it, too."""
    found: dict[DatasetName, _Found] = {}
    queue: list[tuple[int, int, str, DatasetName, tuple[Node, ...]]] = []
    queue += [(kept, 1, str(one), one, (one,)) for one, kept in days.items()]
    heapq.heapify(queue)
    while queue:
        kept, length, _, node, path = heapq.heappop(queue)
        for target in targets.get(node, ()):
            if target not in found and target not in path:
                found[target] = _Found(kept, (*path, target))
                heapq.heappush(queue, (kept, length + 1, str(target), target, found[target].path))
    return found
