"""Errors of the store, its retention and its backups."""

from dataclasses import dataclass

from whence.errors.root import WhenceError


class StoreError(WhenceError):
    """The store is unavailable."""


class EncryptionError(StoreError):
    """What is encrypted in the store cannot be opened, or the master key is invalid. The text has the next step."""


@dataclass(eq=False)
class StoreSchemaError(StoreError):
    """The store's tables are those of another release. Revisions ascend; `found` is empty if there are no tables."""

    found: str
    needed: str

    def __str__(self) -> str:
        if not self.found:
            return "the store has no tables yet: `whence up` makes them, or `whence rebuild`"
        revisions = f"(revision {self.found}; this release of Whence needs {self.needed})"
        if self.found > self.needed:
            return f"the store is of a later release {revisions}: use that, or `whence rebuild --into` another place"
        return f"the store is of an earlier release {revisions}: `whence up` upgrades it, or `whence rebuild`"


class StoreBusyError(StoreError):
    """Another process holds a lock of this store: it derives into it, or changes assertions."""


class StoreGoneError(StoreError):
    """PostgreSQL does not answer, or ended the session that held a lock."""


class QuestionsBusyError(StoreError):
    """As many questions wait as may wait."""

    def __str__(self) -> str:
        return "too many concurrent requests; try again in a second"


@dataclass(eq=False)
class NotYetError(StoreError):
    """The graph does not have what is at these positions of the log within the time given."""

    wait_for: str

    def __str__(self) -> str:
        return f"the graph does not contain {self.wait_for} yet; try again, or use a longer timeout"


@dataclass(eq=False)
class PlanOutdatedError(WhenceError):
    """Retention would delete other rows than planned: the count of the plan, the count now."""

    planned: int
    now: int

    def __str__(self) -> str:
        return (
            f"the store has changed since the plan was made: it would now delete {self.now:,} rows, the plan says "
            f"{self.planned:,}; nothing was deleted: look at a new `whence retention plan`"
        )


class BackupError(WhenceError):
    """A backup cannot be made, or is not whole; or what is to be restored into is not empty."""
