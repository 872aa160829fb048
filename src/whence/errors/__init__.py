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
├── DeliveryError          a notification cannot be delivered; carries when to try again
├── QuestionError          the API rejects a parameter of a question; carries its name
├── ProfileError           no server is named, or the file of profiles cannot be read or written
├── NotInstalledError      a required package is not installed; carries it, and the command to install it
├── AddressError           `whence up` cannot listen at its address; carries it
├── ArtifactError          a file to capture from cannot be read
│   └── RulesFileError     a file of rules (gate.yaml) has a mistake; carries its line
├── EvidenceError          an evidence pack, or the keys that sign packs, cannot be read or written
├── SourceError            a server to capture from does not answer, or refuses
├── JavaNotFoundError      Spark needs a Java; the text has the command that installs one
├── SparkEndedError        Spark's JVM ended while it was needed, or its session was stopped
├── SparkStartError        Spark's JVM ended, or could not be reached in time
└── JarsNotFoundError      Spark needs Java libraries that cannot be fetched; carries them
"""

from whence.errors.access import AccessError, ApiError, AuditError, DeliveryError, ProfileError, ServerVersionError
from whence.errors.events import CollisionError, EventError, RateLimitError, ReceiptNotFoundError
from whence.errors.files import ArtifactError, DialectError, EvidenceError, RulesFileError, SchemaError, SourceError
from whence.errors.log import LogBusyError, LogCorruptError, LogError, LogGapError, TableBusyError, TableError
from whence.errors.machine import (
    AddressError,
    JarsNotFoundError,
    JavaNotFoundError,
    NotInstalledError,
    SparkEndedError,
    SparkStartError,
)
from whence.errors.questions import (
    AmbiguousNodeError,
    CursorError,
    NodeNotFoundError,
    QuestionError,
    ThingNotFoundError,
)
from whence.errors.root import WhenceError
from whence.errors.store import (
    BackupError,
    EncryptionError,
    NotYetError,
    PlanOutdatedError,
    QuestionsBusyError,
    StoreBusyError,
    StoreError,
    StoreGoneError,
    StoreSchemaError,
)

__all__ = [
    "AccessError",
    "AddressError",
    "AmbiguousNodeError",
    "ApiError",
    "ArtifactError",
    "AuditError",
    "BackupError",
    "CollisionError",
    "CursorError",
    "DeliveryError",
    "DialectError",
    "EncryptionError",
    "EventError",
    "EvidenceError",
    "JarsNotFoundError",
    "JavaNotFoundError",
    "LogBusyError",
    "LogCorruptError",
    "LogError",
    "LogGapError",
    "NodeNotFoundError",
    "NotInstalledError",
    "NotYetError",
    "PlanOutdatedError",
    "ProfileError",
    "QuestionError",
    "QuestionsBusyError",
    "RateLimitError",
    "ReceiptNotFoundError",
    "RulesFileError",
    "SchemaError",
    "ServerVersionError",
    "SourceError",
    "SparkEndedError",
    "SparkStartError",
    "StoreBusyError",
    "StoreError",
    "StoreGoneError",
    "StoreSchemaError",
    "TableBusyError",
    "TableError",
    "ThingNotFoundError",
    "WhenceError",
]
