"""Every error that Whence raises.

WhenceError
├── EventError             one event cannot be read; carries the JSON pointer
├── CollisionError         two names hash to the same 64-bit id
├── RateLimitError         one producer sends too much; carries when it may send again
├── LogError
│   ├── LogCorruptError    a record inside the committed log fails its checksum
│   ├── LogBusyError       another process writes or reads this log, or the queue is full
│   └── LogGapError        records that are asked for are gone from the log, and not archived
├── TableError             a Delta table cannot be used, or is not the expected one
│   └── TableBusyError     another writer of the table committed first
├── StoreError
│   ├── EncryptionError    the store's encrypted texts cannot be opened, or its key cannot be read
│   ├── StoreGoneError     PostgreSQL does not answer, or ended the session that held a lock
│   ├── StoreSchemaError   the store's tables are those of another release; carries both revisions
│   ├── StoreBusyError     another process derives into this store, or changes assertions in it
│   ├── QuestionsBusyError more questions are being answered than there are threads for
│   └── NotYetError        the graph has not reached the position that a question waits for
├── CursorError            a cursor belongs to another query
├── PlanOutdatedError      the store has changed since retention was planned
├── BackupError            a backup is not whole, or the place to restore it to is not empty
├── NodeNotFoundError      no node has that name; carries the nearest candidates
├── ThingNotFoundError     the catalog has no such namespace, dataset, job, run …; carries its kind and name
├── AmbiguousNodeError     a short name matches several nodes; carries them
├── SchemaError            the source of table columns cannot be read
├── DialectError           no SQL dialect has that name; carries the known names
├── ReceiptNotFoundError   nothing was received at that position or with that key
├── AuditError             a row of the audit log was changed, removed or moved
├── AccessError            the caller is unknown, or lacks the permission
├── ApiError               the API cannot be reached, or is overloaded
│   └── ServerVersionError its answers have another form: it has another version, or is not Whence
├── QuestionError          the API rejects a parameter of a question; carries its name
├── ProfileError           no server is named, or the file of profiles cannot be read or written
├── NotInstalledError      a required package is not installed; carries it, and the command to install it
├── AddressError           `whence up` cannot listen at its address; carries it
├── ArtifactError          a file to capture from cannot be read
│   └── RulesFileError     a file of rules (gate.yaml) has a mistake; carries its line
├── JavaNotFoundError      Spark needs a Java; says how to get one
├── SparkStartError        Spark's JVM ended, or could not be reached in time
└── JarsNotFoundError      Spark needs Java libraries that cannot be fetched; carries them
"""

from dataclasses import dataclass
from difflib import get_close_matches


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
        return f"two names hash to the same id in table {self.table}; rename one of them"


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


class StoreError(WhenceError):
    """The store is unavailable."""


class EncryptionError(StoreError):
    """What is encrypted in the store cannot be opened, or the master key is not as it must be. Says what to do."""


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


class CursorError(WhenceError):
    """A cursor that no answer to this question gave."""

    def __str__(self) -> str:
        return "this cursor belongs to another query; repeat the query without a cursor"


@dataclass(eq=False)
class PlanOutdatedError(WhenceError):
    """What retention would delete is not what the plan says: rows that it counted, rows that there are now."""

    planned: int
    now: int

    def __str__(self) -> str:
        return (
            f"the store has changed since the plan was made: it would now delete {self.now:,} rows, the plan says "
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
class AuditError(WhenceError):
    """The audit log is not as it was written, from row `number` on."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"row {self.number} of the audit log {self.reason}"


@dataclass(eq=False)
class AccessError(WhenceError):
    """Who asks is not known (`status` 401), is one of too many (503), or may not do this (403).

    Says nothing of what there is.
    Of keys and grants: there is none such (404), it is written wrongly (422), or something stands against it (409).
    """

    reason: str
    status: int = 401

    def __str__(self) -> str:
        return self.reason


@dataclass(eq=False)
class ApiError(WhenceError):
    """The API cannot be reached, or stays overloaded."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


class ServerVersionError(ApiError):
    """The API gives answers of another form: it is of another version, or is not Whence."""

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}. The server may be of another version of Whence than this client"


@dataclass(eq=False)
class QuestionError(WhenceError):
    """The API refuses a parameter of a question (empty: it is not known which)."""

    parameter: str
    reason: str

    def __str__(self) -> str:
        return f"{self.parameter}: {self.reason}" if self.parameter else self.reason


class ProfileError(WhenceError):
    """No server is named, or the file of profiles cannot be read or written."""


@dataclass(eq=False)
class NotInstalledError(WhenceError):
    """A package that this needs is not installed. `command` installs it."""

    package: str
    command: str

    def __str__(self) -> str:
        return f"this needs {self.package}, which is not installed: {self.command}"


@dataclass(eq=False)
class AddressError(WhenceError):
    """Nothing can listen at this address."""

    host: str
    port: int
    reason: str

    def __str__(self) -> str:
        return f"cannot listen at {self.host}:{self.port}: {self.reason}; choose another with --port or --host"


@dataclass(eq=False)
class ReceiptNotFoundError(WhenceError):
    """Nothing was received at this position, or with this key."""

    sought: str

    def __str__(self) -> str:
        return (
            f"no derived event has the key or position {self.sought!r}; `whence doctor` shows how far the pipeline is"
        )


@dataclass(eq=False)
class ArtifactError(WhenceError):
    """A file that lineage is to be captured from is not there, or cannot be read."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class RulesFileError(ArtifactError):
    """A file of rules cannot be followed as it is written. `path` ends with the line."""


@dataclass(eq=False)
class SchemaError(WhenceError):
    """What should say which columns tables have (a file, a database) cannot be read. `place` has no secrets."""

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


class JavaNotFoundError(WhenceError):
    """No Java that Spark can run on."""


@dataclass(eq=False)
class SparkStartError(WhenceError):
    """Spark's JVM ended, or could not be reached in time."""

    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; its output is above. Frequent causes are a full disk and too little memory"


@dataclass(eq=False)
class JarsNotFoundError(WhenceError):
    """Java libraries (`group:name:version`) are neither here nor can they be fetched."""

    coordinates: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        listed = ", ".join(self.coordinates)
        return f"cannot fetch {listed} from Maven Central; put them into the directory jars of pyspark: {self.reason}"
