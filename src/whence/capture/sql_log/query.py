"""One logged query, independent of the engine."""

from dataclasses import dataclass, field

from whence.model.events import RunState

Parts = tuple[str, ...]
"""The parts of a table's name, as the engine spells them."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A column flow that the engine itself reports."""

    source: Parts
    source_column: str
    target: Parts
    target_column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The reads, writes and flows that the engine itself reports for a query."""

    inputs: tuple[Parts, ...] = ()
    outputs: tuple[Parts, ...] = ()
    flows: tuple[Flow, ...] = ()
    columns: tuple[tuple[Parts, tuple[str, ...]], ...] = ()
    """Columns of tables that the text may leave unsaid: those that `INSERT INTO t SELECT …` writes, in their order, and
    those that `SELECT *` reads."""
    is_direct: bool = False
    """Whether the inputs are those that the query names, and not also the tables behind its views."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One executed query; times in microseconds since 1970 UTC, `started` 0 if only the end is known."""

    text: str
    place: str
    """The position in the log: `file:line`, or `file[index]` in a JSON array."""
    ended: int
    started: int = 0
    state: RunState = RunState.COMPLETE
    error: str = ""
    user: str = ""
    database: str = ""
    schema: str = ""
    session: str = ""
    query_id: str = ""
    execution: tuple[str, ...] = ()
    """The engine's id of this execution, unique in its namespace; empty if it has none, as PostgreSQL."""
    application: str = ""
    job: str = ""
    """The job that it belongs to, if the engine names it; else its shape is the job."""
    rows: int | None = None
    calls: int | None = None
    """The number of executions, if the log counts instead of listing."""
    dialect: str = ""
    """The dialect of its SQL, if the log reports it."""
    destination: Parts = ()
    """The table that a SELECT's result was written to."""
    reported: Reported = field(default_factory=Reported)
    temporary: tuple[str, ...] = ()
    """The temporary tables that its session created before."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """An unreadable line or element, and the reason."""

    place: str
    reason: str
