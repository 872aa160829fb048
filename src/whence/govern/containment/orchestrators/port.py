"""The port of orchestrators: what can be paused, and resumed with the receipt of its pausing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from whence.govern.containment.steps import Target

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetState:
    """The state of a target in its orchestrator. None: the orchestrator does not tell it.

    `running`: runs that go on, which pausing does not stop.
    """

    is_paused: bool | None
    running: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was paused, and what resuming it needs beside that."""

    target: Target
    detail: Mapping[str, Any] = field(default_factory=dict)


class Orchestrator(Protocol):
    """One orchestrator. Every method raises SourceError if it does not answer, refuses, or lacks the target."""

    @property
    def name(self) -> str:
        """What people call it; for an address, without credentials."""
        ...

    def read_state(self, target: Target) -> TargetState:
        """The state of a target."""
        ...

    def pause(self, target: Target) -> Receipt:
        """Let a target start no more runs."""
        ...

    def resume(self, receipt: Receipt) -> None:
        """Let it start runs again."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
