"""The inputs of a run, the runs that had written them, their inputs, and so on."""

from collections.abc import Sequence
from dataclasses import dataclass

from whence.model.catalog import RunEntry, Write
from whence.model.names import DatasetName
from whence.query.lookup.descriptions import DescribedRun, describe_runs
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph

MOST_RUNS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A dataset that a run read, and its last writer before the last event of the reader, or None."""

    dataset: DatasetName
    write: Write | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """A run and its inputs."""

    run: DescribedRun
    reads: tuple[Read, ...]


def upstream_runs(catalog: Catalog, graph: Graph, run_id: str, depth: int) -> tuple[tuple[RunStep, ...], bool]:
    """The run with this UUID, and the runs whose output it read, up to `depth` hops: nearest first; empty if unknown.

    Returns at most MOST_RUNS runs, and whether the result is complete: not cut by that limit, by `depth`, or by
    visibility.
    """
    found: dict[int, RunStep] = {}
    unseen = False
    frontier = list(catalog.runs([run_id])[:1])
    for _ in range(depth + 1):
        steps = _read(catalog, graph, frontier[: MOST_RUNS - len(found)])
        found |= {step.run.entry.id: step for step in steps}
        left = frontier[len(steps) :]
        writers = {read.write.run.name.run_id for step in steps for read in step.reads if read.write}
        wrote = catalog.runs(writers) if writers else ()
        unseen = unseen or not writers <= {one.name.run_id for one in wrote}
        frontier = [*left, *(one for one in wrote if one.id not in found)]
        if not frontier or len(found) >= MOST_RUNS:
            break
    return tuple(found.values()), not (frontier or unseen)


def _read(catalog: Catalog, graph: Graph, runs: Sequence[RunEntry]) -> Sequence[RunStep]:
    touched = catalog.touched(one.id for one in runs)
    steps = []
    for run in describe_runs(catalog, graph, runs):
        inputs = touched[run.entry.id].inputs if run.entry.id in touched else ()
        names, writes = graph.nodes(inputs), catalog.last_writes(inputs, run.entry.seen_to)
        reads = [(names[one], writes.get(one)) for one in inputs if one in names]
        known = [Read(dataset=name, write=write) for name, write in reads if isinstance(name, DatasetName)]
        steps.append(RunStep(run=run, reads=tuple(known)))
    return steps
