"""An outbox that keeps events in memory, as lines of JSON, as they would leave the process."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from whence.openlineage.read import read_event
from whence.openlineage.validation.strict import require_valid

from whence_client.captures.session import process_session
from whence_client.outbox import Outbox
from whence_client.outbox.encoding import encode_event
from whence_client.outbox.outbox import use_outbox
from whence_client.process.settings import Settings


class MemoryOutbox(Outbox):
    """The events of one test."""

    def __init__(self, namespace: str = "shop") -> None:
        super().__init__(Settings(transport="off", namespace=namespace))
        self.events: list[dict[str, Any]] = []

    def emit(self, event: dict[str, Any]) -> bool:
        self.events.append(json.loads(encode_event(event)))
        return True

    def states(self, job: str = "") -> list[str]:
        return [one["eventType"] for one in self.events if not job or one["job"]["name"] == job]

    def last(self, job: str = "") -> dict[str, Any]:
        return [one for one in self.events if not job or one["job"]["name"] == job][-1]


@contextmanager
def recording(namespace: str = "shop") -> Iterator[MemoryOutbox]:
    """The outbox of the process, for one test."""
    outbox = MemoryOutbox(namespace)
    use_outbox(outbox)
    process_session().take_errors()
    try:
        yield outbox
    finally:
        use_outbox(None)


def recorded() -> Iterator[MemoryOutbox]:
    """For a fixture: afterwards, every event must be valid in strict mode, and be read without a warning."""
    with recording() as outbox:
        yield outbox
    for event in outbox.events:
        require_valid(event)
        assert read_event(event).warnings == ()


def names(datasets: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The identities of an event's inputs or outputs."""
    return [(one["namespace"], one["name"]) for one in datasets]
