"""Compiled pipelines: the tasks of all pipelines inside one another, and where each gets its inputs from."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from whence.capture.kubeflow.records import Argument, Constant, Output, Pipeline, Source, Task
from whence.capture.members import object_at, objects_at, text_at
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_LARGEST = 16 * 1024 * 1024
_MOST_TASKS, _DEEPEST = 10_000, 50
_COMPLETED = "ALL_UPSTREAM_TASKS_COMPLETED"
_PLACEHOLDER = "{{$"
_GROUP = re.compile(r"(?:exit-handler|condition-branches|condition|for-loop)-\d+\.")
"""The compiler's own names of what is around tasks: they change when another loop is put before."""
Sources = Mapping[str, tuple[Source, ...]]
Parameters = Mapping[str, Source | None]


def read_pipelines(path: Path) -> tuple[tuple[Pipeline, ...], dict[str, str]]:
    """The pipelines in the files below a folder, or in one file, and why others are not read."""
    found, flaws = list[Pipeline](), dict[str, str]()
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.suffix in (".yaml", ".yml"))
    for file in files:
        name = file.name if path.is_file() else file.relative_to(path).as_posix()
        try:
            found.append(read_pipeline(file, name))
        except ArtifactError as error:
            flaws[name] = error.reason
    return tuple(found), flaws


def read_pipeline(file: Path, name: str = "") -> Pipeline:
    """The pipeline in a file, as the compiler of kfp writes it. Raises ArtifactError."""
    try:
        state = file.stat()
        if state.st_size > _LARGEST:
            raise ArtifactError(str(file), f"it has more than {_LARGEST >> 20} MiB")
        document: Any = next(iter(yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)), None)
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(str(file), f"it cannot be read: {error}") from None
    except yaml.YAMLError:
        raise ArtifactError(str(file), "it is no YAML") from None
    title = text_at(object_at(document, "pipelineInfo"), "name") if isinstance(document, dict) else ""
    if not title or not object_at(document, "root", "dag", "tasks"):
        raise ArtifactError(str(file), "it is no compiled pipeline of kfp 2")
    tasks = _Reading(document).read()
    return Pipeline(
        name=title,
        file=name or file.name,
        tasks=tasks,
        description=text_at(object_at(document, "pipelineInfo"), "description"),
        sdk=text_at(document, "sdkVersion"),
        changed=datetime.fromtimestamp(state.st_mtime, UTC),
    )


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is around the tasks of a pipeline: `inputs` are its own, by name; of artifacts and of parameters."""

    prefix: str = ""
    artifacts: Sources = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    loops: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    depth: int = 0


@dataclass(slots=True)
class _Reading:
    document: Json
    tasks: dict[str, Task] = field(default_factory=dict)

    def read(self) -> dict[str, Task]:
        """The tasks in the order of their names."""
        root = object_at(self.document, "root")
        arguments = {one: Argument(one) for one in object_at(root, "inputDefinitions", "parameters")}
        self._pipeline(object_at(root, "dag"), _Scope(parameters=arguments))
        counts = Counter(one.job for one in self.tasks.values())
        unique = (one if counts[one.job] == 1 else replace(one, job=one.name) for one in self.tasks.values())
        return {one.name: one for one in sorted(unique, key=lambda one: one.name)}

    def _pipeline(self, dag: Json, scope: _Scope) -> None:
        if scope.depth > _DEEPEST:
            raise ArtifactError("", f"its pipelines are nested more than {_DEEPEST} deep")
        for name, task in object_at(dag, "tasks").items():
            if isinstance(task, dict):
                self._task(name, task, dag, scope)

    def _task(self, name: str, task: Json, dag: Json, scope: _Scope) -> None:
        component = self._component(task)
        artifacts: Sources = {key: self._artifact(one, dag, scope) for key, one in _members(task, "artifacts")}
        parameters: Parameters = {key: self._parameter(one, dag, scope) for key, one in _members(task, "parameters")}
        whole = f"{scope.prefix}{name}"
        needs = scope.needs | self._needs(task, dag, scope.prefix)
        if inner := object_at(component, "dag"):
            loops, artifacts, parameters = _iterate(whole, task, artifacts, parameters)
            branch = (whole,) if text_at(object_at(task, "triggerPolicy"), "condition") else ()
            around = _Scope(
                prefix=f"{whole}.",
                artifacts=artifacts,
                parameters={**_defaults(component), **parameters},
                loops=(*scope.loops, *loops),
                branches=(*scope.branches, *branch),
                needs=needs,
                depth=scope.depth + 1,
            )
            self._pipeline(inner, around)
            return
        if len(self.tasks) >= _MOST_TASKS:
            raise ArtifactError("", f"it has more than {_MOST_TASKS:,} tasks")
        executor = object_at(self.document, "deploymentSpec", "executors", text_at(component, "executorLabel"))
        self.tasks[whole] = Task(
            name=whole,
            job=_GROUP.sub("", whole),
            folder=text_at(object_at(task, "componentRef"), "name").removeprefix("comp-"),
            component=component,
            executor=executor,
            title=text_at(object_at(task, "taskInfo"), "name"),
            loops=scope.loops,
            branches=scope.branches,
            inputs=artifacts,
            parameters=parameters,
            needs=needs,
            is_cacheable=object_at(task, "cachingOptions").get("enableCache") is True,
        )

    def _component(self, task: Json) -> Json:
        return object_at(self.document, "components", text_at(object_at(task, "componentRef"), "name"))

    def _needs(self, task: Json, dag: Json, prefix: str) -> frozenset[str]:
        """The tasks that a task waits for; of a pipeline those inside that always run. Nothing for the last of all."""
        if text_at(object_at(task, "triggerPolicy"), "strategy") == _COMPLETED:
            return frozenset()
        named = task.get("dependentTasks")
        above = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
        return frozenset().union(*(self._inside(one, dag, prefix) for one in above))

    def _inside(self, name: str, dag: Json, prefix: str, depth: int = 0) -> Iterator[str]:
        """The names of the tasks that a task consists of, without those in loops and under conditions."""
        task = object_at(dag, "tasks", name)
        inner = object_at(self._component(task), "dag")
        is_optional = object_at(task, "parameterIterator") or object_at(task, "artifactIterator")
        if is_optional or object_at(task, "triggerPolicy").get("condition") or depth > _DEEPEST:
            return
        if not inner:
            yield f"{prefix}{name}"
            return
        for one in object_at(inner, "tasks"):
            yield from self._inside(one, inner, f"{prefix}{name}.", depth + 1)

    def _artifact(self, found: Json, dag: Json, scope: _Scope) -> tuple[Source, ...]:
        if made := object_at(found, "taskOutputArtifact"):
            return tuple(self._made(made, "artifacts", dag, scope.prefix))
        return scope.artifacts.get(text_at(found, "componentInputArtifact"), ())

    def _parameter(self, found: Json, dag: Json, scope: _Scope) -> Source | None:
        if made := object_at(found, "taskOutputParameter"):
            return next(self._made(made, "parameters", dag, scope.prefix), None)
        if "runtimeValue" in found:
            value = object_at(found, "runtimeValue").get("constant")
            return None if isinstance(value, str) and _PLACEHOLDER in value else Constant(value)
        if text_at(found, "parameterExpressionSelector"):
            return None
        return scope.parameters.get(text_at(found, "componentInputParameter"))

    def _made(self, made: Json, kind: str, dag: Json, prefix: str, depth: int = 0) -> Iterator[Output]:
        """The outputs that an output of a task is; of a pipeline, those of the tasks inside that it selects."""
        task = text_at(made, "producerTask") or text_at(made, "producerSubtask")
        key = text_at(made, "outputArtifactKey") or text_at(made, "outputParameterKey")
        inner = object_at(self._component(object_at(dag, "tasks", task)), "dag")
        if not inner:
            yield Output(f"{prefix}{task}", key)
        elif depth < _DEEPEST:
            chosen = object_at(inner, "outputs", kind, key)
            one, several = object_at(chosen, "valueFromParameter"), object_at(chosen, "valueFromOneof")
            listed = (*objects_at(chosen, "artifactSelectors"), *objects_at(several, "parameterSelectors"))
            for each in (*listed, *((one,) if one else ())):
                yield from self._made(each, kind, inner, f"{prefix}{task}.", depth + 1)


def _iterate(
    whole: str, task: Json, artifacts: Sources, parameters: Parameters
) -> tuple[tuple[str, ...], Sources, Parameters]:
    """The loop that a task is, and its inputs with the item of an iteration."""
    if iterator := object_at(task, "artifactIterator"):
        listed = artifacts.get(text_at(object_at(iterator, "items"), "inputArtifact"), ())
        items = tuple(replace(one, item=whole) if isinstance(one, Output) else one for one in listed)
        return (whole,), {**artifacts, text_at(iterator, "itemInput"): items}, parameters
    if iterator := object_at(task, "parameterIterator"):
        return (whole,), artifacts, {**parameters, text_at(iterator, "itemInput"): None}
    return (), artifacts, parameters


def _members(task: Json, kind: str) -> Iterator[tuple[str, Json]]:
    found = object_at(task, "inputs", kind)
    return ((key, one) for key, one in found.items() if isinstance(one, dict))


def _defaults(component: Json) -> dict[str, Source | None]:
    found = object_at(component, "inputDefinitions", "parameters")
    return {key: Constant(one["defaultValue"]) for key, one in found.items() if "defaultValue" in one}
