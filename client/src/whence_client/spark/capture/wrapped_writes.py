"""Commands that wrap another one, such as `saveAsTable`: Spark reports both, and one of them is a run."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from whence_client.lineage.columns import Dataset
    from whence_client.spark.capture.records import Query

_WRAPPERS = frozenset(
    (
        "CreateDataSourceTableAsSelectCommand",
        "SaveAsV1TableCommand",
        "SaveIntoDataSourceCommand",
        "CreateTableAsSelect",
        "ReplaceTableAsSelect",
        "CreateDeltaTableCommand",
    )
)
"""Commands within which another command writes the same rows, and is reported first."""
_MOST_WRITES = 256


class _Write(NamedTuple):
    """The last command that wrote a dataset, and the leaves of its plan."""

    command: str
    leaves: frozenset[int]


class WrappedWrites:
    """The latest write of each dataset. Threads may write several datasets at a time."""

    def __init__(self) -> None:
        self._writes: OrderedDict[Dataset, _Write] = OrderedDict()

    def is_reported(self, query: Query) -> bool:
        """Whether this command only wraps a write that was reported before it."""
        dataset = self._find_written(query)
        if dataset is None:
            return False
        is_latest = next(reversed(self._writes), None) == dataset
        last, this = self._writes.pop(dataset, None), _Write(query.command, frozenset(query.leaves))
        self._writes[dataset] = this
        while len(self._writes) > _MOST_WRITES:
            self._writes.popitem(last=False)
        if query.command not in _WRAPPERS or last is None or last.command == query.command:
            return False
        return is_latest or last.leaves == this.leaves

    def _find_written(self, query: Query) -> Dataset | None:
        """The output of a command. A table without a database is the last one written with the same rows."""
        target = query.target
        if target is None or not target.is_unqualified:
            return target.dataset if target else None
        table, leaves = target.dataset.name.rpartition("/")[2], frozenset(query.leaves)
        found = (
            dataset
            for dataset, write in reversed(self._writes.items())
            if dataset.name.rpartition("/")[2] == table and write.leaves == leaves
        )
        return next(found, target.dataset)
