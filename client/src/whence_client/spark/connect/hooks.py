"""The hooks of Spark Connect: where a client runs its commands, and where its session ends."""

from __future__ import annotations

import atexit
import sys
import threading
from typing import TYPE_CHECKING, Any

from whence_client.captures.patches import Patches
from whence_client.spark.capture.capture import NAME, Names
from whence_client.spark.connect.capture import ConnectCapture

if TYPE_CHECKING:
    from whence_client.captures.session import Session

_DRAIN_SECONDS = 5.0


class ConnectInstallation:
    """The capture on one session of Spark Connect."""

    def __init__(self, spark: Any, session: Session, names: Names) -> None:
        self._spark = spark
        self._client = spark._client
        self._guard = session.guard(NAME)
        self._patches = Patches(self._guard)
        self._calls = threading.local()
        self.is_automatic = names.is_automatic
        self.capture = ConnectCapture(self._client, str(spark.version), session, names)

    def install(self) -> None:
        """Observe the commands of the session's client, and the end of the session."""
        self.capture.begin()
        self._patches.replace(type(self._client), "execute_command", self._wrap_command)
        self._patches.replace(type(self._spark), "stop", self._wrap_stop)
        atexit.register(self._end_of_process)

    def undo(self) -> None:
        """Take all patches away."""
        atexit.unregister(self._end_of_process)
        self._patches.undo()

    def drain(self, seconds: float = _DRAIN_SECONDS) -> bool:
        """Wait until every command so far is reported."""
        return self.capture.drain(seconds)

    def _wrap_command(self, original: Any) -> Any:
        capture, guard = self.capture, self._guard

        def execute_command(client: Any, command: Any, *args: Any, **named: Any) -> Any:
            if client is not self._client:
                return original(client, command, *args, **named)
            with guard("names"):
                capture.wait_for_names(command)
            pending = guard.run("command", capture.note_begin, command)
            try:
                result = original(client, command, *args, **named)
            except BaseException as error:
                guard.run("command", self._note_failure, pending, command, error)
                raise
            guard.run("command", self._note_end, pending, command, result)
            return result

        execute_command.__doc__ = original.__doc__
        return execute_command

    def _note_failure(self, pending: Any, command: Any, error: BaseException) -> None:
        if pending is not None:
            self.capture.note_end(pending, {}, error)
        elif command.WhichOneof("command_type") == "streaming_query_command":
            self.capture.note_stream(command.streaming_query_command, None, error)

    def _note_end(self, pending: Any, command: Any, result: Any) -> None:
        properties = result[1]
        if pending is not None:
            self.capture.note_end(pending, properties, None)
        kind = command.WhichOneof("command_type")
        if kind == "streaming_query_command":
            answer = properties["streaming_query_command_result"]
            self.capture.note_stream(command.streaming_query_command, answer, None)
        elif kind == "create_dataframe_view":
            self.capture.note_view(command.create_dataframe_view)
        elif kind != "checkpoint_command":
            self.capture.note_names()

    def _wrap_stop(self, original: Any) -> Any:
        def stop(spark: Any, *args: Any, **named: Any) -> Any:
            if spark is self._spark:
                self._guard.run("stop", self.end)
            return original(spark, *args, **named)

        stop.__doc__ = original.__doc__
        return stop

    def end(self, error: BaseException | None = None) -> None:
        """Report what is left, and the end of the application."""
        self.capture.end(_DRAIN_SECONDS, error)
        self.undo()

    def _end_of_process(self) -> None:
        error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        self._guard.run("exit", self.end, error)


_installed: dict[int, ConnectInstallation] = {}


def install_remote(spark: Any, session: Session, names: Names) -> ConnectInstallation:
    """Put the capture on a session of Spark Connect, once. What a program attaches replaces what nobody asked for."""
    found = _installed.get(id(spark._client))
    if found is not None and not found.capture.has_ended:
        if names.is_automatic or not found.is_automatic:
            return found
        found.end()
    made = ConnectInstallation(spark, session, names)
    made.install()
    _installed[id(spark._client)] = made
    return made
