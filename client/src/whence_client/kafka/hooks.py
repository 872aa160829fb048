"""The capture of confluent-kafka: hooks where messages are handed over and where they arrive.

Messages are counted by topic. The first message of a topic is an event, and so is every five minutes of further ones:
one event for each message would be more than the messages. The client's own classes are C types, which cannot be
patched; in their place in the module are subclasses without other behaviour.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Observer, Patches, hook_once
from whence_client.captures.session import Session
from whence_client.events.facets import Event
from whence_client.events.ids import new_run_id
from whence_client.events.runs import COMPLETE, RUNNING
from whence_client.frames.writes import script_name
from whence_client.kafka.records import Topic, Traffic, traffic_event

_SECONDS_BETWEEN_EVENTS = 300.0
_SERVERS = ("bootstrap.servers", "metadata.broker.list")
_CLUSTER = "_whence_cluster"
"""The attribute of a client with its servers."""
_READ, _WRITTEN = "read", "written"

Key = tuple[str, str, str]
"""Whether it was read or written, the servers, and the topic."""


class KafkaCapture:
    """The topics of a process that uses confluent-kafka."""

    name = "confluent_kafka"
    kind = ATTACH
    versions = Versions("2.6.0", "2.16.1")

    def check(self) -> Findings:
        """Whether confluent-kafka is there, and of a release that is known."""
        return check_package("confluent-kafka", self.versions)

    def translate(self, record: Traffic, naming: Naming) -> Iterable[Event]:
        """The event of the messages so far."""
        return (traffic_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook confluent-kafka, which the job has imported."""
        module = sys.modules["confluent_kafka"]
        return hook_once(module, lambda: _Hooks(self, session, module).install())


class _Hooks:
    """The hooks of one process, whose messages belong to one run."""

    def __init__(self, capture: KafkaCapture, session: Session, module: Any) -> None:
        self._capture, self._session, self._module = capture, session, module
        self._guard = session.guard(capture.name)
        self._patches = Patches(self._guard)
        self._begin()
        _hooks.add(self)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[Key, int] = {}
        self._run_id = new_run_id()
        self._due_at = 0.0
        self._reported_in: Naming | None = None
        """The run around the first message: at the exit, where the last event is made, it has ended."""

    def install(self) -> Undo:
        """Put the hooks in place. The run ends with the process, or when they are taken back."""
        module = self._module
        producers, consumers = [module.SerializingProducer], [module.DeserializingConsumer]
        for name, owners in (("Producer", producers), ("Consumer", consumers)):
            self._patches.replace(module, name, _make_subclass)
            owners.append(getattr(module, name))
        for owner in (*producers, *consumers):
            self._patches.observe(owner, "__init__", self._on_client)
        for owner in producers:
            self._observe(owner, "produce", self._on_produce)
            self._observe(owner, "produce_batch", self._on_produce_batch)
        for owner in consumers:
            self._observe(owner, "poll", self._on_poll)
            self._observe(owner, "consume", self._on_consume)

        def undo() -> None:
            atexit.unregister(self._end)
            self._end()
            self._patches.undo()

        return undo

    def _observe(self, owner: Any, name: str, observer: Observer) -> None:
        """Observe a method that is called for each message. Taking its time would be longer than the hook itself."""
        guard = self._guard

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def observed(*args: Any, **named: Any) -> Any:
                result = original(*args, **named)
                try:
                    observer(result, args, named)
                except Exception as error:
                    guard.note(name, error)
                return result

            return observed

        if hasattr(owner, name):
            self._patches.replace(owner, name, make)

    def _on_client(self, _: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A client was made of a dictionary, or of named settings."""
        given = args[1] if len(args) > 1 else {}
        settings = {**(given if isinstance(given, dict) else {}), **named}
        setattr(args[0], _CLUSTER, next((str(settings[one]) for one in _SERVERS if settings.get(one)), ""))

    def _on_produce(self, _: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._count(_WRITTEN, args[0], args[1] if len(args) > 1 else named["topic"], 1)

    def _on_produce_batch(self, taken: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A list of messages was handed over; the client says how many of them it took."""
        self._count(_WRITTEN, args[0], args[1] if len(args) > 1 else named["topic"], int(taken or 0))

    def _on_poll(self, message: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if message is not None and message.error() is None:
            self._count(_READ, args[0], message.topic(), 1)

    def _on_consume(self, messages: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        for message in messages or ():
            self._on_poll(message, args, named)

    def _count(self, how: str, client: Any, topic: str, messages: int) -> None:
        key = (how, getattr(client, _CLUSTER, ""), topic)
        with self._lock:
            before = self._counts.get(key, 0)
            self._counts[key] = before + messages
        if not before or time.monotonic() >= self._due_at:
            self._guard.run("report", self._report, RUNNING)

    def _end(self) -> None:
        if self._counts:
            self._guard.run("end", self._report, COMPLETE)
        self._begin()

    def _end_at_exit(self) -> None:
        """End the run before the outbox is closed, which is registered already."""
        atexit.register(self._end)
        if "multiprocessing.util" in sys.modules:  # its children end without atexit
            from multiprocessing.util import Finalize

            Finalize(None, self._end, exitpriority=20)

    def _report(self, state: str) -> None:
        with self._lock:
            counts = dict(self._counts)
            self._due_at = time.monotonic() + _SECONDS_BETWEEN_EVENTS
        at = datetime.now(timezone.utc)
        reads, writes = (_topics_of(counts, how) for how in (_READ, _WRITTEN))
        traffic = Traffic(state, reads, writes, script_name(), self._run_id, at)
        naming = self._reported_in or self._session.naming()
        for event in self._capture.translate(traffic, naming):
            self._session.emit(event, capture=self._capture.name)
        if self._reported_in is None:
            self._reported_in = naming
            self._end_at_exit()


_hooks: weakref.WeakSet[_Hooks] = weakref.WeakSet()


def _after_fork() -> None:
    """In a forked child: the counts and the run are the parent's."""
    for one in list(_hooks):
        one._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _topics_of(counts: Mapping[Key, int], wanted: str) -> tuple[Topic, ...]:
    found = (Topic(servers, name, number) for (how, servers, name), number in counts.items() if how == wanted)
    return tuple(sorted(found))


def _make_subclass(original: type) -> type:
    """A class that is the original for whoever asks, and can be patched."""

    class Same(type(original)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, original) if cls is made else super().__instancecheck__(instance)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, original) if cls is made else super().__subclasscheck__(other)

    named = {"__module__": original.__module__, "__qualname__": original.__qualname__, "__doc__": original.__doc__}
    made: type = Same(original.__name__, (original,), named)
    return made


capture = KafkaCapture()
