"""What a log says of one query, whichever engine wrote it."""

from dataclasses import dataclass, field

from whence.model.events import RunState

Parts = tuple[str, ...]
"""A table's name, cut at its dots, as the engine has it."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A column of an output that the engine itself says comes from a column of an input."""

    source: Parts
    source_column: str
    target: Parts
    target_column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What the engine itself says that a query read, wrote and moved."""

    inputs: tuple[Parts, ...] = ()
    outputs: tuple[Parts, ...] = ()
    flows: tuple[Flow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query that ran; times in microseconds since 1970 UTC, `started` 0 if only its end is known."""

    text: str
    place: str
    """Where the log has it: `file:line`, or `file[index]` in a JSON array."""
    ended: int
    started: int = 0
    state: RunState = RunState.COMPLETE
    error: str = ""
    user: str = ""
    database: str = ""
    schema: str = ""
    session: str = ""
    query_id: str = ""
    application: str = ""
    rows: int | None = None
    calls: int | None = None
    """How often it ran, where the log counts instead of listing."""
    dialect: str = ""
    """Of its SQL, where the log itself says it."""
    destination: Parts = ()
    """The table that a SELECT's result was written to."""
    reported: Reported = field(default_factory=Reported)
    temporary: tuple[str, ...] = ()
    """Temporary tables that its session has made until then."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A line or an element that could not be read, and why."""

    place: str
    reason: str
