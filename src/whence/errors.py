"""Every error that Whence raises.

WhenceError
├── EventError             one event cannot be read; carries the JSON pointer
├── CollisionError         two identities share one 64-bit id
├── RateLimitError         one producer sends too much; carries when it may send again
├── LogError
│   ├── LogCorruptError    a record inside the committed log fails its checksum
│   ├── LogBusyError       another process writes or reads this log, or the queue is full
│   └── LogGapError        records that are asked for are gone from the log, and not archived
├── TableError             a Delta table cannot serve, or is not the one that it should be
│   └── TableBusyError     another writer of the table was quicker
├── StoreError
│   └── StoreBusyError     another process derives into this store
├── PlanOutdatedError      the store has moved on since retention was planned
├── BackupError            a backup is not whole, or the place to restore it to is not empty
├── NodeNotFoundError      no node has that name; carries the nearest candidates
├── AmbiguousNodeError     a short name fits several nodes; carries them
├── ReceiptNotFoundError   nothing was received at that position or with that key
├── ApiError               the API cannot be reached, or is overloaded
├── JavaNotFoundError      Spark needs a Java; says how to get one
└── JarsNotFoundError      Spark needs Java libraries that cannot be fetched; carries them
"""

from dataclasses import dataclass


class WhenceError(Exception):
    """The root: `except WhenceError` catches all that Whence raises on purpose."""


@dataclass(eq=False)
class EventError(WhenceError):
    """An event that cannot be read. `pointer` is an RFC 6901 JSON pointer into the body; status is the HTTP answer."""

    pointer: str
    reason: str
    status: int = 422

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.reason}"


@dataclass(eq=False)
class CollisionError(WhenceError):
    """Two different identities have the same 64-bit id; the later one is refused."""

    table: str

    def __str__(self) -> str:
        return f"two identities share one id in table {self.table}; rename one of them"


@dataclass(eq=False)
class RateLimitError(WhenceError):
    """One producer sends more than its share. Nothing of the request was taken."""

    door: str
    """Whose share: `peer`, the address, or `producer`."""
    reason: str
    seconds: int
    """When to send again."""

    def __str__(self) -> str:
        return f"{self.reason}; send it again in {self.seconds} s"


class LogError(WhenceError):
    """The event log cannot serve."""


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
            f"what {self.lane} held from {self.wanted} to {self.begins} is neither in the log nor in the archive; say "
            "where the archive is (`whence rebuild --archive`), or restore a backup"
        )


@dataclass(eq=False)
class TableError(WhenceError):
    """The Delta table at `uri` cannot serve."""

    uri: str
    reason: str

    def __str__(self) -> str:
        return f"the table {self.uri}: {self.reason}"


class TableBusyError(TableError):
    """Another writer of the table committed first; nothing of this run is in it twice, or half."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri, "another writer was quicker; nothing was written twice: run it again")


class StoreError(WhenceError):
    """The serving store cannot serve."""


class StoreBusyError(StoreError):
    """Another process derives into this store."""


@dataclass(eq=False)
class PlanOutdatedError(WhenceError):
    """What retention would delete is not what the plan says: rows that it counted, rows that there are now."""

    planned: int
    now: int

    def __str__(self) -> str:
        return (
            f"the store has moved on since the plan was made: it would delete {self.now:,} rows, the plan says "
            f"{self.planned:,}; nothing was deleted: look at a new `whence retention plan`"
        )


class BackupError(WhenceError):
    """A backup cannot be made, or is not whole; or what is to be restored into is not empty."""


@dataclass(eq=False)
class NodeNotFoundError(WhenceError):
    """No node has this name."""

    name: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        hint = f"; did you mean {', '.join(self.nearest)}?" if self.nearest else "; try `whence search`"
        return f"no dataset, field, job or run is named {self.name!r}{hint}"


@dataclass(eq=False)
class AmbiguousNodeError(WhenceError):
    """A short name that fits more than one node."""

    name: str
    candidates: tuple[str, ...]

    def __str__(self) -> str:
        listed = "\n  ".join(self.candidates)
        return f"{self.name!r} fits {len(self.candidates)} nodes; say which one:\n  {listed}"


@dataclass(eq=False)
class ApiError(WhenceError):
    """The API cannot be reached, or stays overloaded."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


@dataclass(eq=False)
class ReceiptNotFoundError(WhenceError):
    """Nothing was received at this position, or with this key."""

    sought: str

    def __str__(self) -> str:
        return f"nothing derived has the key or the position {self.sought!r}; `whence doctor` says how far deriving is"


class JavaNotFoundError(WhenceError):
    """No Java that Spark can run on."""


@dataclass(eq=False)
class JarsNotFoundError(WhenceError):
    """Java libraries (`group:name:version`) are neither here nor can they be fetched."""

    coordinates: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        listed = ", ".join(self.coordinates)
        return f"cannot fetch {listed} from Maven Central; put them into the directory jars of pyspark: {self.reason}"
