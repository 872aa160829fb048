"""The executions of a run: what each task read, by its pipeline, and which tasks did not run again."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from whence.capture.kubeflow.records import Argument, Artifact, Constant, Execution, Output, Pipeline, Source, Task
from whence.capture.kubeflow.runs import RunFolder, Written
from whence.capture.members import object_at, text_at

Iteration = tuple[int, ...]
Cached = Sequence[tuple[datetime, tuple[Artifact, ...]]]
Executions = dict[str, dict[Iteration, Execution]]
"""By the name of the task, then by the iterations of the loops around it."""


def read_executions(folder: RunFolder, pipeline: Pipeline, cached: Cached | None) -> Executions:
    """What the tasks of a pipeline did in a run. `cached`: the outputs that the runner keeps, None without a cache."""
    reading = _Reading(folder, pipeline, cached or ())
    reading.read_outputs()
    return {name: {at: reading.add_inputs(one) for at, one in found.items()} for name, found in reading.found.items()}


def find_missing(pipeline: Pipeline, present: Collection[str]) -> list[str]:
    """The tasks that left nothing, though others that need them ran: the runner took their outputs from its cache."""
    tasks = pipeline.tasks
    needed = {one for name in present for one in tasks[name].needs}
    return sorted(one for one in needed & tasks.keys() if one not in present and not tasks[one].loops)


@dataclass(slots=True)
class _Reading:
    folder: RunFolder
    pipeline: Pipeline
    cached: Cached
    found: Executions = field(default_factory=dict)

    def read_outputs(self) -> None:
        """Each task with its outputs: those in its folder, what it imports, or those of an earlier run."""
        for task in self.pipeline.tasks.values():
            self.found[task.name] = self._written(task)
        while missing := find_missing(self.pipeline, {name for name, found in self.found.items() if found}):
            for name in missing:
                self.found[name] = {(): self._from_cache(self.pipeline.tasks[name])}

    def add_inputs(self, execution: Execution) -> Execution:
        """The execution with the artifacts that it read."""
        task, found, gaps = execution.task, list[Artifact](), dict(execution.gaps)
        for key, sources in task.inputs.items():
            artifacts = [one for source in sources for one in self._made(source, execution)]
            found += artifacts
            if not artifacts:
                gaps[f"input {key}"] = f"what it read as {key} is not known"
        return replace(execution, inputs=tuple({one.uri: one for one in found}.values()), gaps=gaps)

    def _written(self, task: Task) -> dict[Iteration, Execution]:
        if task.importer:
            return {} if task.loops else {(): self._import(task)}
        return {iteration: _execution(task, iteration, one) for iteration, one in self.folder.find(task)}

    def _import(self, task: Task) -> Execution:
        """What an importer registers, at the beginning of the run: it leaves no files."""
        place = object_at(task.importer, "artifactUri")
        source = task.parameters.get(text_at(place, "runtimeParameter"))
        uri = source.value if isinstance(source, Constant) else place.get("constant")
        execution = Execution(task=task, iteration=(), at=self.folder.started)
        if isinstance(uri, str):
            type_ = text_at(object_at(task.importer, "typeSchema"), "schemaTitle")
            return replace(execution, outputs=(Artifact(key="artifact", uri=uri, type=type_),))
        names = f"the argument {source.name}" if isinstance(source, Argument) else "a value of the run"
        return replace(execution, gaps={"artifact": f"it imports what {names} says: the runner keeps no arguments"})

    def _from_cache(self, task: Task) -> Execution:
        """A task whose outputs the runner took from its cache. Which ones is known if there can only be one answer."""
        keys = set(object_at(task.component, "outputDefinitions", "artifacts"))
        kept = (outputs for at, outputs in self.cached if at <= self.folder.changed and keys)
        fitting = {tuple(one.uri for one in outputs): outputs for outputs in kept if _are_of(outputs, task, keys)}
        execution = Execution(task=task, iteration=(), at=self.folder.started, is_cached=True)
        if len(fitting) == 1:
            (outputs,) = fitting.values()
            return replace(execution, outputs=_typed(outputs, task))
        reason = "its outputs were taken from an earlier run; from which one is not known"
        return replace(execution, gaps={"outputs": reason} if keys else {})

    def _made(self, source: Source, reader: Execution) -> Iterator[Artifact]:
        """The artifacts of an output that a reader gets: those of its own iterations of the loops that both are in."""
        if not isinstance(source, Output) or source.task not in self.found:
            return
        maker, loops = self.pipeline.tasks[source.task], reader.task.loops
        shared = _count_shared(maker.loops, loops)
        listed = [
            artifact
            for iteration, one in sorted(self.found[source.task].items())
            if iteration[:shared] == reader.iteration[:shared]
            for artifact in one.outputs
            if artifact.key == source.key
        ]
        if source.item in loops:
            position = reader.iteration[loops.index(source.item)]
            listed = listed[position : position + 1]
        yield from listed


def _execution(task: Task, iteration: Iteration, written: Written) -> Execution:
    return Execution(
        task=task,
        iteration=iteration,
        at=written.at,
        outputs=_typed(written.outputs or (), task),
        numbers=written.numbers,
        is_unfinished=written.outputs is None,
        gaps={"outputs": written.flaw} if written.flaw else {},
    )


def _typed(outputs: Sequence[Artifact], task: Task) -> tuple[Artifact, ...]:
    """The outputs with the types that the component declares."""
    declared = object_at(task.component, "outputDefinitions", "artifacts")
    titles = {key: text_at(object_at(declared, key, "artifactType"), "schemaTitle") for key in declared}
    return tuple(replace(one, type=one.type or titles.get(one.key, "")) for one in outputs)


def _are_of(outputs: Sequence[Artifact], task: Task, keys: set[str]) -> bool:
    """Whether kept outputs are those of a task, by where the runner puts them."""
    is_there = all(one.uri.endswith(f"/{task.folder}/{one.key}") for one in outputs)
    return is_there and {one.key for one in outputs} == keys


def _count_shared(some: Sequence[str], others: Sequence[str]) -> int:
    pairs = zip(some, others, strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(some), len(others)))
