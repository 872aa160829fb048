"""The captures of one task: on while it runs, with the task's run as their parent. Airflow is not imported here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whence_client.captures.contract import Undo
from whence_client.captures.imports import install_on_import
from whence_client.captures.registry import uninstall_all
from whence_client.captures.session import Session, process_session
from whence_client.events.runs import RunRef
from whence_client.runs.active import enter, leave

NAME = "airflow"
DESTINATIONS = ("WHENCE_URL", "WHENCE_TRANSPORT", "OPENLINEAGE_URL", "OPENLINEAGE__TRANSPORT")
"""Variables that say where events go: without any, they go where Airflow's provider sends its own."""


@dataclass(frozen=True)
class TaskRun:
    """The run of a task, as Airflow's OpenLineage provider names it."""

    ref: RunRef


class TaskCaptures:
    """The captures around the task that this process runs. Tasks of one process come one after the other."""

    def __init__(self, session: Session | None = None) -> None:
        self._session = session
        self._set: list[str] = []
        """The variables that `begin` has set."""
        self._run: TaskRun | None = None
        self._token: Any = None
        self._undo: Undo | None = None

    def begin(self, run: RunRef, variables: Mapping[str, str]) -> None:
        """Put the captures in place. `variables` are set until the end; those that are set already stay as they are."""
        self.end()
        for name, value in variables.items():
            if name not in os.environ:
                self._set.append(name)
                os.environ[name] = value
        self._run = TaskRun(run)
        self._token = enter(self._run)
        self._undo = install_on_import(self._session)

    def end(self) -> None:
        """Take the captures back and send what they found: nothing else is called before a task's process ends."""
        if self._run is None:
            return
        session = self._session or process_session()
        if self._undo is not None:
            self._undo()
        uninstall_all()
        leave(self._run, self._token)
        session.outbox.flush(session.outbox.settings.exit_seconds)
        for name in self._set:
            os.environ.pop(name, None)
        self._set, self._run, self._undo = [], None, None


def destination_variables(transport: Mapping[str, Any], namespace: str, text: str) -> dict[str, str]:
    """The variables that send events where Airflow's provider sends its own. `text` is the transport as JSON."""
    is_set = any(os.environ.get(name) for name in DESTINATIONS)
    found = {} if is_set or not transport else {"OPENLINEAGE__TRANSPORT": text}
    return {**found, "OPENLINEAGE_NAMESPACE": namespace}
