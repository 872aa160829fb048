"""The plugin that Airflow loads by the entry point `airflow.plugins`: a listener of the tasks of this process."""

from __future__ import annotations

import json
from typing import Any

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin

from whence_client.airflow.tasks import NAME, TaskCaptures, destination_variables
from whence_client.captures.session import process_session
from whence_client.events.runs import RunRef
from whence_client.process.parent import parse_parent


class TaskListener:
    """Captures are on from the start of a task to its end. No error of theirs is the task's."""

    def __init__(self) -> None:
        self._captures = TaskCaptures()

    @hookimpl
    def on_task_instance_running(self, previous_state: Any, task_instance: Any) -> None:
        """A task begins in this process."""
        with process_session().guard(NAME)("begin"):
            self._begin(task_instance)

    @hookimpl
    def on_task_instance_success(self, previous_state: Any, task_instance: Any) -> None:
        """The task has succeeded."""
        self._end()

    @hookimpl
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """The task has failed, or will be tried again."""
        self._end()

    def _begin(self, task_instance: Any) -> None:
        from airflow.providers.openlineage import conf
        from airflow.providers.openlineage.plugins import macros

        if conf.is_disabled():
            return
        task = parse_parent(macros.lineage_parent_id(task_instance))
        root = parse_parent(macros.lineage_root_parent_id(task_instance))
        if task is not None:
            transport = conf.transport()
            variables = destination_variables(transport, conf.namespace(), json.dumps(transport))
            self._captures.begin(RunRef(task.namespace, task.job, task.run_id, root), variables)

    def _end(self) -> None:
        with process_session().guard(NAME)("end"):
            self._captures.end()


class WhencePlugin(AirflowPlugin):  # type: ignore[misc] # Airflow is not installed where types are checked
    """Captures of what tasks do inside, beside Airflow's OpenLineage provider."""

    name = "whence"
    listeners = (TaskListener(),)
