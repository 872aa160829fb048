"""Results of the checks of a dataset or of one of its columns, as runs reported them, the newest first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.facets.assertions import Assertion, RunChecks
from whence.query.answers.completeness import completeness_of
from whence.query.answers.values import Completeness
from whence.query.questions.measurements import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one run found of one assertion. `time` (µs): of the run's last event. `run` is None if it was forgotten."""

    time: int
    dataset: DatasetName
    assertion: Assertion
    run: RunName | None

    @property
    def order(self) -> tuple[int, str, str, str, str]:
        """The newest first, then by column and name."""
        return -self.time, self.assertion.column or "", self.assertion.name, str(self.dataset), str(self.run)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResults:
    """The results of the checks of a node, in order. If more was reported than was read, or the viewer may not read
    checks, `completeness` reports it.
    """

    node: Node
    results: tuple[CheckResult, ...]
    completeness: Completeness


class ResultsPage(NamedTuple):
    """Results of checks, and why they are not all (`ChecksPage.stopped_by`)."""

    results: Sequence[CheckResult]
    stopped_by: str | None


def check_results(graph: Measured, node: Node, at: int | None) -> CheckResults:
    """The results of the checks of a dataset by any of its names, or of one column; as of a time (µs), None: now.

    A job has none: the datasets that it checks have them.
    """
    if isinstance(node, JobName):
        return CheckResults(node=node, results=(), completeness=completeness_of(graph, at))
    dataset, column = (node.dataset, node.field) if isinstance(node, FieldName) else (node, None)
    names = graph.groups([node_id(dataset)]).get(node_id(dataset), (dataset,))
    page = results_of(graph, names, at)
    chosen = sorted((one for one in page.results if column in (None, one.assertion.column)), key=lambda one: one.order)
    completeness = completeness_of(graph, at, stopped_by=page.stopped_by)
    return CheckResults(node=node, results=tuple(chosen), completeness=completeness)


def results_of(graph: Measured, datasets: Sequence[DatasetName], at: int | None) -> ResultsPage:
    """The results of the checks of several datasets under just these names, in the order of `ChecksPage`."""
    page = graph.checks([node_id(name) for name in datasets], at)
    runs = {row.id: row.name for row in graph.runs({one.run_id for one in page.found})}
    named = {node_id(name): name for name in datasets}
    return ResultsPage([one for row in page.found for one in _results(row, named, runs)], page.stopped_by)


def _results(row: RunChecks, names: Mapping[int, DatasetName], runs: Mapping[int, RunName]) -> Iterator[CheckResult]:
    return (
        CheckResult(time=row.time, dataset=names[row.dataset_id], assertion=one, run=runs.get(row.run_id))
        for one in row.checks
    )
