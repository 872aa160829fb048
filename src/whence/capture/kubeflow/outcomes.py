"""A run with its pipeline: which compiled pipeline it is one of, and how it ended, as far as its files tell."""

from collections.abc import Iterable
from dataclasses import dataclass

from whence.capture.kubeflow.executions import Cached, Executions, find_missing, read_executions
from whence.capture.kubeflow.records import Pipeline, RunRecord, Task
from whence.capture.kubeflow.runs import RunFolder
from whence.capture.members import object_at
from whence_client.events.runs import COMPLETE, FAIL, OTHER

_BRANCHES = "condition-branches-"
_NO_PIPELINE = "no compiled pipeline of this name has all tasks of the run: what they read is not known"
_UNTOLD = "whether it failed, was skipped or taken from the cache is not known"


def read_run(folder: RunFolder, pipelines: Iterable[Pipeline], cached: Cached | None) -> RunRecord:
    """What a run did. `cached` are the outputs that the runner keeps, None if it keeps none."""
    has_cache = cached is not None
    fitting = [one for one in pipelines if _fits(one, folder, has_cache=has_cache)]
    fitting.sort(key=lambda one: (one.changed, one.file))
    earlier = [one for one in fitting if one.changed <= folder.started]
    pipeline = earlier[-1] if earlier else next(iter(fitting), None)
    if pipeline is None:
        return _record(folder, None, {}, _Outcome(OTHER), {"pipeline": _NO_PIPELINE})
    found = read_executions(folder, pipeline, cached)
    outcome = _find_outcome(pipeline, found, has_cache=has_cache)
    others = [one.file for one in fitting if one.tasks != pipeline.tasks]
    doubt = f"it is taken for a run of {pipeline.file}, but may be one of {', '.join(others)}"
    return _record(folder, pipeline, found, outcome, {"pipeline": doubt} if others else {})


@dataclass(frozen=True, slots=True)
class _Outcome:
    state: str
    reason: str = ""


def _record(
    folder: RunFolder, pipeline: Pipeline | None, found: Executions, outcome: _Outcome, gaps: dict[str, str]
) -> RunRecord:
    executions = sorted(
        (one for each in found.values() for one in each.values()),
        key=lambda one: (one.at, one.task.name, one.iteration),
    )
    unknown = {"state": outcome.reason} if outcome.state == OTHER and outcome.reason else {}
    return RunRecord(
        name=folder.pipeline,
        run=folder.path.name,
        started=folder.started,
        ended=folder.changed,
        digest=folder.digest,
        pipeline=pipeline,
        executions=tuple(executions),
        state=outcome.state,
        failure=outcome.reason if outcome.state == FAIL else "",
        gaps={**gaps, **unknown},
    )


def _fits(pipeline: Pipeline, folder: RunFolder, *, has_cache: bool) -> bool:
    """Whether a run can be one of a pipeline: each folder is that of a task, and no task ran before those it needs."""
    if pipeline.name != folder.pipeline:
        return False
    tasks = {one.folder: one for one in pipeline.tasks.values()}
    known = {name: object_at(one.component, "outputDefinitions", "artifacts") for name, one in tasks.items()}
    written = {key[-1]: {one.key for one in found.outputs or ()} for key, found in folder.written.items()}
    if any(name not in known or not keys <= known[name].keys() for name, keys in written.items()):
        return False
    importers = {one.name for one in tasks.values() if one.importer}
    return has_cache or not find_missing(pipeline, {tasks[name].name for name in written} | importers)


def _find_outcome(pipeline: Pipeline, found: Executions, *, has_cache: bool) -> _Outcome:
    """A task that began and left no outputs has failed. One that left nothing has, too, if it had to run."""
    unfinished = [
        each.job for each in pipeline.tasks.values() if any(one.is_unfinished for one in found[each.name].values())
    ]
    if unfinished:
        return _Outcome(FAIL, f"no outputs of {', '.join(unfinished)}")
    taken = {branch for name, each in found.items() if each for branch in pipeline.tasks[name].branches}
    missing = {one.name: one for one in pipeline.tasks.values() if _is_missing(one, pipeline, found, taken)}
    first = [one for one in missing.values() if missing.keys().isdisjoint(one.needs)]
    if not first:
        return _Outcome(COMPLETE)
    names = ", ".join(one.job for one in first)
    if any(not one.branches and not one.loops and not (has_cache and one.is_cacheable) for one in first):
        return _Outcome(FAIL, f"nothing of {names}")
    return _Outcome(OTHER, f"nothing of {names}: {_UNTOLD}")


def _is_missing(task: Task, pipeline: Pipeline, found: Executions, taken: set[str]) -> bool:
    """Whether a task that may have had to run left nothing, or not in all iterations that others left something of."""
    if task.importer or any(_is_other(one, taken) for one in task.branches):
        return False
    beside = (found[one.name] for one in pipeline.tasks.values() if one.loops == task.loops) if task.loops else ()
    iterations = {iteration for each in beside for iteration in each}
    return not found[task.name] or bool(iterations - found[task.name].keys())


def _is_other(branch: str, taken: set[str]) -> bool:
    """Whether another branch was taken, of `if`, `elif` and `else`."""
    around = branch.rpartition(".")[0]
    is_one_of_several = around.rpartition(".")[2].startswith(_BRANCHES)
    return is_one_of_several and branch not in taken and any(one.rpartition(".")[0] == around for one in taken)
