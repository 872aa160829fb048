"""Errors of files and SQL from the user."""

from dataclasses import dataclass
from difflib import get_close_matches

from whence.errors.root import WhenceError


@dataclass(eq=False)
class ArtifactError(WhenceError):
    """A file that lineage is to be captured from is not there, or cannot be read."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(eq=False)
class RulesFileError(ArtifactError):
    """A file of rules cannot be followed as it is written. `path` ends with the line. `others`: further mistakes."""

    others: tuple["RulesFileError", ...] = ()

    @property
    def mistakes(self) -> tuple["RulesFileError", ...]:
        """Each mistake alone, this one first."""
        return (RulesFileError(self.path, self.reason), *self.others)

    def __str__(self) -> str:
        return "\n".join(f"{one.path}: {one.reason}" for one in self.mistakes)


@dataclass(eq=False)
class EvidenceError(WhenceError):
    """An evidence pack, or the directory of keys that sign packs, cannot be read or written. `place` is its path."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(eq=False)
class SourceError(WhenceError):
    """A server that lineage is to be captured from does not answer, or refuses. `address` has no secrets."""

    address: str
    reason: str

    def __str__(self) -> str:
        return f"{self.address}: {self.reason}"


@dataclass(eq=False)
class SchemaError(WhenceError):
    """A source of table columns (a file, a database) cannot be read. `place` has no secrets."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(eq=False)
class DialectError(WhenceError):
    """No SQL dialect has this name."""

    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        close = get_close_matches(self.name.lower(), self.known, 1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return f"no SQL dialect is named {self.name!r}; {hint}choose one of {', '.join(self.known)}"
