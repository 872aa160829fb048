"""What a pipeline says of its tasks, and what the files of a run say of their executions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from whence.openlineage.json.wire import Json


@dataclass(frozen=True, slots=True)
class Output:
    """An output of a task. `item`: the loop whose iteration reads one artifact of the list; empty if all are read."""

    task: str
    key: str
    item: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the pipeline has itself."""

    value: object


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the pipeline: its value is not in the files of a run."""

    name: str


Source = Output | Constant | Argument


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that runs a component or an importer; the tasks around it, which are pipelines, are part of its name.

    `job` is the name without those that the compiler made for loops and conditions. `loops` and `branches` are the
    tasks around it that are such, the outermost first. `folder` is that of its files, below the folder of the run or of
    the innermost iteration.
    """

    name: str
    job: str
    folder: str
    component: Json
    executor: Json
    title: str = ""
    loops: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    inputs: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    parameters: Mapping[str, Source | None] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()
    """The tasks that must have succeeded before this one starts."""
    is_cacheable: bool = False

    @property
    def importer(self) -> Json:
        """What an importer registers; empty for a component."""
        found = self.executor.get("importer")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A compiled pipeline. `file` is where it was read."""

    name: str
    file: str
    tasks: Mapping[str, Task]
    description: str = ""
    sdk: str = ""
    changed: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An artifact of an execution: `key` is the name of the output, `type` the title of its schema."""

    key: str
    uri: str
    type: str = ""
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A task that has run, once for each iteration of the loops around it.

    `is_cached`: it did not run, and its outputs are those of an earlier run. `is_unfinished`: it began, and left no
    outputs.
    """

    task: Task
    iteration: tuple[int, ...]
    at: datetime
    inputs: tuple[Artifact, ...] = ()
    outputs: tuple[Artifact, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Output parameters that are numbers; texts may show rows."""
    is_cached: bool = False
    is_unfinished: bool = False
    gaps: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run of a pipeline on the local runner. `run` is the name of its folder, `pipeline` None if it is not known.

    `state` is a state of OpenLineage, OTHER if the files do not tell how it ended; `failure` says what failed.
    """

    name: str
    run: str
    started: datetime
    ended: datetime
    digest: str
    pipeline: Pipeline | None
    executions: tuple[Execution, ...]
    state: str
    failure: str = ""
    gaps: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Files that are no compiled pipelines, and why."""

    at: datetime
    digest: str
    flaws: Mapping[str, str]
