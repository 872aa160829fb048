"""Random estates of jobs under an Airflow, and an independent answer to what depends on a column of theirs.

Truth comes from how the estate was made, never from events: which job reads which column, and which DAGs start it.
"""

import json
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, own_facet, parent_facet, run_event

SECOND = 1_000_000
AT = 1_790_000_000_000_000
HOSTILE = ("a.b.c", "daily.load", "räv‮", 'x"; drop', "tab\there", "n" * 300)
"""Names with dots, quotes, control characters, text from right to left, and great length."""


@dataclass
class JobMade:
    """A job as it was made: its edges, the DAGs that started its runs (none: a person did), and how deep in them."""

    name: JobName
    edges: list[Edge]
    dags: tuple[str, ...]
    depth: int
    is_running: bool
    """Whether a further run goes on. Only runs that completed assert lineage."""


@dataclass
class Estate:
    """Jobs over columns, from a seed. Every name has the seed in its namespace, so that estates share a store."""

    seed: int
    jobs: list[JobMade] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.datasets = [
            DatasetName(f"{stage}.db{self.seed}", f"t{number}{self.dice.choice(HOSTILE)}")
            for stage in ("prod", "staging", "dev")
            for number in range(3)
        ]
        names = self.dice.sample(HOSTILE, 4)
        self.dags = [f"{name}/{number}" for number, name in enumerate(names)]
        self.jobs = [self._job(number) for number in range(8)]

    @property
    def airflow(self) -> str:
        return f"prod.airflow{self.seed}"

    def columns(self, of: DatasetName) -> list[FieldName]:
        return [FieldName(of, one) for one in ("a", "b", "c.d")]

    def _job(self, number: int) -> JobMade:
        target = self.dice.choice(self.datasets)
        sources = [one for one in self.dice.sample(self.datasets, 2) if one != target]
        columns = [column for of in sources for column in self.columns(of)]
        first, second = self.dice.sample(self.columns(target), 2)
        ends = [(self.dice.choice(columns), first), (self.dice.choice(columns), second)]
        edges = [Edge(source=source, target=end, type="DIRECT", subtype="IDENTITY") for source, end in ends]
        if other := [one for one in columns if one not in dict(ends)]:
            # A filter of one column only: of all, it would be a filter of the rows.
            edges.append(Edge(source=self.dice.choice(other), target=first, type="INDIRECT", subtype="FILTER"))
        starters = tuple(sorted(self.dice.sample(self.dags, self.dice.choice((0, 1, 1, 2)))))
        name = JobName(f"spark{self.seed}", f"{self.dice.choice(HOSTILE)}.job{number}")
        return JobMade(name, edges, starters, self.dice.choice((0, 1, 2)), self.dice.random() < 0.3)

    def bodies(self) -> list[bytes]:
        return [json.dumps(event).encode() for event in self._events()]

    def _events(self) -> Iterator[dict[str, Any]]:
        at = AT
        for job in self.jobs:
            for dag in job.dags or ("",):
                at += 10 * SECOND
                parent = (yield from self._airflow(dag, at, job.depth)) if dag else None
                yield from self._run(job, RunState.COMPLETE, at, parent)
            if job.is_running:
                yield run_event(at + SECOND, RunState.START, RunName(self._id(), job.name))

    def _run(self, job: JobMade, state: RunState, at: int, parent: RunName | None) -> Iterator[dict[str, Any]]:
        ends = sorted({edge.target.dataset for edge in job.edges if isinstance(edge.target, FieldName)})
        outputs = [
            dataset(end, facets={"columnLineage": column_lineage([e for e in job.edges if _of(e.target) == end])})
            for end in ends
        ]
        inputs = [dataset(one) for one in sorted({_of(edge.source) for edge in job.edges})]
        yield run_event(
            at,
            state,
            RunName(self._id(), job.name),
            run_facets={"parent": parent_facet(parent)} if parent else {},
            inputs=inputs,
            outputs=outputs,
        )

    def _airflow(self, dag: str, at: int, depth: int) -> Generator[dict[str, Any], None, RunName]:
        """The runs that contain the run of a job: of the DAG alone, of a task, or of a task and something inside it."""
        top = RunName(self._id(), JobName(self.airflow, dag))
        yield self._typed(top, at, "DAG", None)
        task = RunName(self._id(), JobName(self.airflow, f"{dag}.task"))
        if depth == 0:
            return top
        facets = {"airflow": own_facet("AirflowRunFacet", dag={"dag_id": dag})} if self.dice.random() < 0.5 else {}
        yield self._typed(task, at + 1, "TASK", top, facets)
        if depth == 1:
            return task
        inner = RunName(self._id(), JobName(f"spark{self.seed}", f"{dag}.application"))
        yield run_event(at + 2, RunState.START, inner, run_facets={"parent": parent_facet(task)})
        return inner

    def _typed(
        self, run: RunName, at: int, kind: str, parent: RunName | None, more: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        facets = {**({"parent": parent_facet(parent)} if parent else {}), **(more or {})}
        event = run_event(at, RunState.COMPLETE, run, run_facets=facets)
        typed = facet("JobTypeJobFacet", processingType="BATCH", integration="AIRFLOW", jobType=kind)
        event["job"]["facets"] = {"jobType": typed}
        return event

    def _id(self) -> str:
        return str(UUID(int=self.dice.getrandbits(128)))

    def dependents(self, root: FieldName | DatasetName) -> dict[JobName, int]:
        """Each job that depends on a column or dataset, with its distance: by trying every edge often."""
        level: dict[FieldName | DatasetName, int] = {root: 0}
        found: dict[JobName, int] = {}
        for hop in range(1, 50):
            for job in self.jobs:
                for source, target in _ends(job, whole=isinstance(root, DatasetName)):
                    if level.get(source, hop) < hop:
                        found.setdefault(job.name, hop)
                        level.setdefault(target, hop)
        return found

    def schedules(self, root: FieldName | DatasetName) -> dict[str, tuple[int, frozenset[JobName], bool]]:
        """Each DAG that starts one of them: its distance, its jobs, and whether a run of them goes on."""
        jobs = {job.name: job for job in self.jobs}
        found: dict[str, tuple[int, frozenset[JobName], bool]] = {}
        for name, hop in self.dependents(root).items():
            for dag in jobs[name].dags:
                before = found.get(dag, (hop, frozenset(), False))
                is_running = before[2] or jobs[name].is_running
                found[dag] = (min(before[0], hop), before[1] | {name}, is_running)
        return found


def _of(end: object) -> DatasetName:
    assert isinstance(end, FieldName)
    return end.dataset


def _ends(job: JobMade, *, whole: bool) -> Iterator[tuple[FieldName | DatasetName, FieldName | DatasetName]]:
    for edge in job.edges:
        assert isinstance(edge.source, FieldName)
        assert isinstance(edge.target, FieldName)
        yield (edge.source.dataset, edge.target.dataset) if whole else (edge.source, edge.target)
