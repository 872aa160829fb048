"""The record of a poll: a DAG run in Airflow's own JSON, with what belongs to it already beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.openlineage.json.wire import Json

Assets = Mapping[str, tuple[Json, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DagRunRecord:
    """A DAG run as `dagRuns` returns it. An asset is `{"name": …, "uri": …}`.

    `dag` and `tasks` are as they are today, empty if the DAG is deleted; so are `inlets` and `outlets`, by task.
    `tries` are task instances, one for each try. `errors` has `{"message": …, "stack": …}` of tries by `try_key`.
    `written` are the asset events of the run, `consumed` those that triggered it. `clearings`: the times at which
    somebody cleared it. `refused`: what the user of the API may not read of it, such as `logs`.
    """

    run: Json
    dag: Json = field(default_factory=dict)
    tasks: Mapping[str, Json] = field(default_factory=dict)
    tries: tuple[Json, ...] = ()
    errors: Mapping[str, Json] = field(default_factory=dict)
    inlets: Assets = field(default_factory=dict)
    outlets: Assets = field(default_factory=dict)
    written: tuple[Json, ...] = ()
    consumed: tuple[Json, ...] = ()
    clearings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def try_key(instance: Json) -> str:
    """A try within its DAG run."""
    return f"{instance['task_id']}/{map_index(instance)}/{instance.get('try_number', 0)}"


def map_index(instance: Json) -> int:
    """The place of a mapped task instance; -1 for a task that is not mapped."""
    found: Any = instance.get("map_index", -1)
    return -1 if found is None else int(found)
