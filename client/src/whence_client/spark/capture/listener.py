"""Spark's query listener in Python, called through py4j, and how it is put on sessions and taken away again."""

from __future__ import annotations

import atexit
import contextlib
import socket
import sys
from typing import TYPE_CHECKING, Any, Callable

from whence_client.captures.patches import Patches
from whence_client.captures.session import process_session
from whence_client.frames.memory import memory_of
from whence_client.spark.capture.capture import NAME, Names, SparkCapture
from whence_client.spark.capture.handover import FrameHandover
from whence_client.spark.capture.streams import make_listener
from whence_client.spark.ml.hooks import ModelHooks

if TYPE_CHECKING:
    from whence_client.captures.session import Session

_BUS_MILLISECONDS = 5_000
_DRAIN_SECONDS = 5.0

Undo = Callable[[], None]


class QueryListener:
    """A `QueryExecutionListener`. Spark calls it on its listener bus, not in the thread of the query."""

    def __init__(self, capture: SparkCapture) -> None:
        self._capture = capture

    def onSuccess(self, action: str, execution: Any, nanoseconds: int) -> None:
        if not self._capture.has_ended:  # Spark may not find a listener in Python that is taken away
            self._capture.note_success(action, execution, nanoseconds)

    def onFailure(self, action: str, execution: Any, error: Any) -> None:
        if not self._capture.has_ended:
            self._capture.note_failure(action, execution, error)

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


class Installation:
    """The capture on one SparkContext and all of its sessions."""

    def __init__(self, spark: Any, session: Session, names: Names) -> None:
        self._spark = spark
        self._guard = session.guard(NAME)
        self._patches = Patches(self._guard)
        self._listeners: list[tuple[Any, Any]] = []
        self._streams: Any = None
        self._stop_waiting: Undo = lambda: None
        self.is_automatic = names.is_automatic
        self._memory = memory_of(session if names.is_automatic else process_session())
        self.capture = SparkCapture(spark, session, names)

    def install(self) -> None:
        """Put the listener on the session, and on each that is made of it later."""
        from pyspark import SparkContext, java_gateway
        from pyspark.sql import SparkSession

        start_callbacks: Callable[[Any], None] = java_gateway.ensure_callback_server_started
        start_callbacks(self._spark.sparkContext._gateway)
        self.capture.begin()
        self._register(self._spark)
        self._patches.observe(SparkSession, "newSession", lambda made, args, named: self._register(made))
        self._patches.replace(SparkContext, "stop", self._wrap_stop)
        self._guard.run("streams", self._watch_streams)
        with self._guard("frames"):
            FrameHandover(self.capture, self._memory).install(self._patches)
        with self._guard("models"):
            self._stop_waiting = ModelHooks(self._spark, self.capture).install(self._patches)
        atexit.register(self._end_of_process)

    def undo(self) -> None:
        """Take the listener and all patches away."""
        atexit.unregister(self._end_of_process)
        self._stop_waiting()
        self._patches.undo()
        for manager, listener in self._listeners:
            self._guard.run("unregister", manager.unregister, listener)
        self._listeners.clear()
        if self._streams is not None:
            self._guard.run("unregister", self._spark.streams.removeListener, self._streams)
            self._streams = None

    def drain(self, seconds: float = _DRAIN_SECONDS) -> bool:
        """Wait until every query so far is reported."""
        bus = self._spark.sparkContext._jsc.sc().listenerBus()
        bus.waitUntilEmpty(int(seconds * 1000))
        return self.capture.drain(seconds)

    def _register(self, spark: Any) -> None:
        listener = QueryListener(self.capture)
        manager = spark._jsparkSession.listenerManager()
        manager.register(listener)
        self._listeners.append((manager, listener))

    def _watch_streams(self) -> None:
        self._streams = make_listener(self._spark, self.capture)
        self._spark.streams.addListener(self._streams)

    def _wrap_stop(self, original: Any) -> Any:
        def stop(context: Any, *args: Any, **named: Any) -> Any:
            if context is self._spark.sparkContext:
                self._guard.run("stop", self.end)
            return original(context, *args, **named)

        stop.__doc__ = original.__doc__
        return stop

    def end(self, error: BaseException | None = None) -> None:
        """Report what is left, and the end of the application."""
        with self._guard("drain"):
            self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(_BUS_MILLISECONDS)
        self.capture.end(_DRAIN_SECONDS, error)
        self.undo()

    def _end_of_process(self) -> None:
        """Report what is left before the JVM ends, and close the server that it would call in vain."""
        error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        self._guard.run("exit", self.end, error)
        self._guard.run("exit", _close_callbacks, self._spark.sparkContext._gateway)


def _close_callbacks(gateway: Any) -> None:
    """Close the server that the JVM calls. Its threads wait for the next call: closing what they read from would wait
    for them, so their connections are ended first.
    """
    for connection in list(gateway._callback_server.connections):
        with contextlib.suppress(OSError, AttributeError):  # it has ended meanwhile
            connection.socket.shutdown(socket.SHUT_RDWR)
    gateway.shutdown_callback_server()


_installed: dict[int, Installation] = {}


def install(spark: Any, session: Session, names: Names) -> Installation:
    """Put the capture on a session's SparkContext, once. What a program attaches replaces what nobody asked for."""
    context = spark.sparkContext
    found = _installed.get(id(context))
    if found is not None and not found.capture.has_ended:
        if names.is_automatic or not found.is_automatic:
            return found
        found.end()
    made = Installation(spark, session, names)
    made.install()
    _installed[id(context)] = made
    return made
