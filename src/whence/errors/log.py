"""Errors of the event log, and of Delta tables."""

from dataclasses import dataclass

from whence.errors.root import WhenceError


class LogError(WhenceError):
    """The event log is unavailable."""


class LogCorruptError(LogError):
    """A committed record fails its checksum."""


class LogBusyError(LogError):
    """The log has another writer, or cannot take more now."""


@dataclass(eq=False)
class LogGapError(LogError):
    """What a lane of the log held from `wanted` to `begins` (positions) is gone, and no archive has it."""

    lane: str
    wanted: object
    begins: object

    def __str__(self) -> str:
        return (
            f"the events of lane {self.lane} from {self.wanted} to {self.begins} are neither in the log "
            "nor in the archive; name the archive with `whence rebuild --archive`, or restore a backup"
        )


@dataclass(eq=False)
class TableError(WhenceError):
    """The Delta table at `uri` cannot be used."""

    uri: str
    reason: str

    def __str__(self) -> str:
        return f"the table {self.uri}: {self.reason}"


class TableBusyError(TableError):
    """Another writer of the table committed first; nothing of this run is in it twice, or half."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri, "another writer committed first, and nothing was written twice; run the command again")
