"""Errors of questions: what they name, and their parameters."""

from dataclasses import dataclass

from whence.errors.root import WhenceError


class CursorError(WhenceError):
    """A cursor that no answer to this question gave."""

    def __str__(self) -> str:
        return "this cursor belongs to another query; repeat the query without a cursor"


@dataclass(eq=False)
class NodeNotFoundError(WhenceError):
    """No node has this name."""

    name: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        missing = f"no dataset, column, job or run is named {self.name!r}"
        if not self.nearest:
            return f"{missing}; try `whence search`"
        return "\n  ".join((f"{missing}; did you mean:", *self.nearest))


@dataclass(eq=False)
class ThingNotFoundError(WhenceError):
    """The catalog has no such thing. `kind` is `Namespace`, `Dataset`, `Job`, `Run` …"""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}' not found."


@dataclass(eq=False)
class AmbiguousNodeError(WhenceError):
    """A short name that fits more than one node."""

    name: str
    candidates: tuple[str, ...]

    def __str__(self) -> str:
        listed = "\n  ".join(self.candidates)
        return f"{self.name!r} fits {len(self.candidates)} nodes; name one of them:\n  {listed}"


@dataclass(eq=False)
class QuestionError(WhenceError):
    """The API refuses a parameter of a question (empty: it is not known which)."""

    parameter: str
    reason: str

    def __str__(self) -> str:
        return f"{self.parameter}: {self.reason}" if self.parameter else self.reason
