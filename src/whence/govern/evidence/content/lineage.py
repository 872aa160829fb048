"""The lineage of a pack: everything upstream of its node, each edge with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from whence.model.graph import AssertingEvent, AssertingRun
from whence.model.names import DatasetName, JobName, Node, RunName
from whence.query.answers.values import Answer, Question, dataset_of
from whence.query.ports.graph import Graph
from whence.query.questions.lineage import upstream
from whence.query.traversal.evidence import prove_all

MOST_RUNS = 100
"""The most runs that are listed as evidence of an edge: the latest. The same as `whence why`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackLineage:
    """An answer with proven edges, and what it names. `datasets` has all names of each dataset."""

    answer: Answer
    datasets: tuple[DatasetName, ...]
    jobs: tuple[JobName, ...]
    runs: tuple[AssertingRun, ...]
    events: tuple[AssertingEvent, ...]

    @property
    def nodes(self) -> frozenset[str]:
        """The ids of the datasets and jobs."""
        return frozenset(map(str, (*self.datasets, *self.jobs)))


def prove_lineage(graph: Graph, root: Node, question: Question) -> PackLineage:
    """The nodes upstream of a node, and the events and runs that prove each edge."""
    found = upstream(graph, root, question)
    answer = replace(found, edges=tuple(prove_all(graph, found.edges, question.at, MOST_RUNS)))
    names = list(_names(answer))
    evidence = [one for edge in answer.edges for one in edge.evidence]
    runs: dict[RunName, AssertingRun] = {run.name: run for one in evidence for run in one.runs}
    return PackLineage(
        answer=answer,
        datasets=tuple(sorted({of for one in names if (of := dataset_of(one)) is not None})),
        jobs=tuple(sorted({one for one in names if isinstance(one, JobName)})),
        runs=tuple(runs[name] for name in sorted(runs, key=_run_order)),
        events=tuple({event.key: event for one in evidence for event in (one.first, one.last)}.values()),
    )


def _names(answer: Answer) -> Iterator[Node]:
    yield answer.root
    for node in answer.nodes:
        yield from (node.name, *node.aliases)
    for edge in answer.edges:
        yield from (edge.source, edge.target, edge.owner)


def _run_order(name: RunName) -> tuple[str, str]:
    return str(name.job), str(name)
