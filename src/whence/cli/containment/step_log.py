"""The steps of containment at a server, which decides who may record them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import msgspec

from whence.client.acts.containment import ContainmentStep, StepsAnswer
from whence.client.connection import Connection
from whence.client.profiles import choose_server
from whence.errors import ServerVersionError
from whence.govern.containment.steps import Step
from whence.model.records.containment import StepRecord, step_dataset

_STEPS = "/api/v2/containment"


@dataclass(slots=True)
class ServerSteps:
    """The steps that a server has. `hidden`: how many of those read last are hidden from the key."""

    connection: Connection
    hidden: int = field(default=0)

    def steps(self) -> Sequence[Step]:
        """All steps, in their order. Raises AccessError, ApiError."""
        return list(map(_step, self.rows("")))

    def rows(self, incident: str) -> Sequence[ContainmentStep]:
        """The steps of an incident, or all if it is empty. Raises AccessError, ApiError."""
        document: Any = self.connection.get(f"{_STEPS}/steps", {"incident": incident or None})
        try:
            found = msgspec.convert(document, StepsAnswer).data
        except msgspec.ValidationError as error:
            raise ServerVersionError(self.connection.url, f"its answer has another form: {error}") from None
        self.hidden = found.hidden
        return found.steps

    def record(self, incident: str, record: StepRecord) -> None:
        """Record a step; it is durable when this returns. Raises AccessError if the key lacks the role, ApiError."""
        path = f"{_STEPS}/incidents/{quote(incident, safe='')}/steps/{uuid4()}"
        self.connection.put(path, msgspec.to_builtins(record))

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def open_steps(url: str | None, profile: str | None) -> ServerSteps:
    """The steps of a server. Raises ProfileError, ApiError."""
    server = choose_server(url, None, profile)
    return ServerSteps(Connection(server.url, server.key))


def _step(one: ContainmentStep) -> Step:
    members = {name: getattr(one, name) for name in StepRecord.__dataclass_fields__}
    # The order is the server's; a time in microseconds would only repeat it.
    return Step(
        incident=one.incident,
        record=msgspec.convert(members, StepRecord),
        time=0,
        producer=one.person,
        name=step_dataset(one.incident, one.step, one.namespace),
    )
