"""Rows that leave Spark as a frame of pandas or table of Arrow, and those that come back: lineage goes along."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence_client.captures.patches import is_hooked
from whence_client.frames.frames import FrameLineage
from whence_client.frames.pending import PendingDataset, settle
from whence_client.lineage.columns import (
    FILTER,
    GROUP_BY,
    IDENTITY,
    JOIN,
    LEFT_THE_ENGINE,
    SORT,
    WINDOW,
    Column,
    Edge,
    Source,
    unknown,
)
from whence_client.lineage.rows import Rows
from whence_client.spark.capture.reading import read_plan
from whence_client.spark.capture.scala import call, read_sequence
from whence_client.spark.plan.relations import read_relation

if TYPE_CHECKING:
    from whence_client.captures.patches import Patches
    from whence_client.frames.memory import FrameMemory
    from whence_client.spark.capture.capture import SparkCapture
    from whence_client.spark.plan.attributes import Relation

_WAIT_SECONDS = 2.0
_EXPORTS = ("toPandas", "toArrow")
_ROWS = (FILTER, JOIN, GROUP_BY, SORT, WINDOW)


@dataclass
class _Export:
    """Rows that left Spark. The thread of the capture reads what they are made of."""

    capture: SparkCapture
    relation: Relation | None = None
    columns: dict[str, Column] = field(default_factory=dict)

    def read(self, execution: Any) -> None:
        """Read the plan of the rows."""
        query = read_plan("toPandas", "", execution.analyzed(), call(execution, "sparkSession"), None)
        found = read_relation(query.plan, self.capture.context(query))
        self.columns = {one.name: column for one, column in zip(found.output, found.values)}
        self.relation = found

    def resolve(self, name: str) -> Column:
        """The sources of a column, or of what decided on the rows in one way (`_ROWS`), once the plan was read."""
        if self.relation is None:
            self.capture.drain(_WAIT_SECONDS)
        if self.relation is None:
            return unknown(LEFT_THE_ENGINE)
        if name in self.columns:
            column = self.columns[name]
            return Column(column.direct, column.indirect, column.reasons)
        rows = self.relation.influences
        return Column(indirect=frozenset(one for one in rows.edges if f"<{one.subtype}>" == name), reasons=rows.reasons)


class FrameHandover:
    """The hooks of one Spark application where rows pass between it and the memory of the other captures."""

    def __init__(self, capture: SparkCapture, memory: FrameMemory) -> None:
        self._capture, self._memory = capture, memory

    def install(self, patches: Patches) -> None:
        """Observe how frames are made of Spark's, and Spark's of frames."""
        from pyspark.sql import SparkSession

        frames = _class_of_frames()
        for name in _EXPORTS:
            if hasattr(frames, name):
                patches.observe(frames, name, self._on_export)
        patches.observe(SparkSession, "createDataFrame", self._on_import)

    def _on_export(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not hasattr(result, "column_names") and not is_hooked(sys.modules["pandas"]):
            return  # nobody would see how the frame is changed
        execution, export = args[0]._jdf.queryExecution(), _Export(self._capture)
        self._capture.submit("toPandas", lambda: export.read(execution))
        dataset = PendingDataset(f"spark {id(export)}", export.resolve)
        columns = {name: _pending(dataset, str(name)) for name in _names_of(result)}
        rows = Rows(frozenset(Edge(Source(dataset, f"<{one}>"), one) for one in _ROWS))
        self._memory.remember(result, FrameLineage(columns, rows, frozenset((dataset,))))

    def _on_import(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        lineage = self._memory.find(args[1] if len(args) > 1 else named.get("data"))
        if lineage is None or not hasattr(result, "_jdf"):
            return
        known = settle(lineage)
        columns = [known.rows.decide(one) for one in known.columns.values()]
        plan = result._jdf.queryExecution().analyzed()
        self._capture.submit("createDataFrame", lambda: self._remember(plan, columns))

    def _remember(self, plan: Any, columns: list[Column]) -> None:
        """Keep the columns of a frame by the attributes of the rows that it became."""
        leaves = read_sequence(plan.collectLeaves())
        numbers = [one.exprId().id() for leaf in leaves for one in read_sequence(leaf.output())]
        if len(leaves) == 1 and len(numbers) == len(columns):
            self._capture.remember(dict(zip(numbers, columns)))


def _class_of_frames() -> Any:
    """The class of frames that are no remote ones: Spark 4 has one of its own for them."""
    try:
        module = importlib.import_module("pyspark.sql.classic.dataframe")
    except ImportError:
        module = importlib.import_module("pyspark.sql.dataframe")
    return module.DataFrame


def _pending(dataset: PendingDataset, name: str) -> Column:
    return Column(frozenset((Edge(Source(dataset, name), IDENTITY),)))


def _names_of(frame: Any) -> list[Any]:
    """The names of the columns of a frame of pandas, or of a table of Arrow."""
    return list(getattr(frame, "column_names", None) or frame.columns)
