"""Stage 1, read: a log record as what it says, by the same pure reader as the collector's."""

from dataclasses import dataclass

from whence.derive.reading.flat_event import FlatEvent, flatten_event
from whence.errors import EventError
from whence.log import Kind, Record
from whence.model.ids import event_id, event_id_rest
from whence.openlineage.read import read_accepted


@dataclass(frozen=True, slots=True)
class Reading:
    """A record's position, the two halves of its event's key, and its event: flat; the reason if it cannot be read or
    was rejected; None for a record that is not an event of its own.
    """

    position: int
    event_id: int
    rest: int
    content: FlatEvent | str | None


def read_record(record: Record, *, reads_sql: bool = True) -> Reading:
    """Read a record, with `reads_sql` including the lineage in its event's SQL."""
    content = _read_content(record, reads_sql=reads_sql)
    return Reading(record.position.as_int, event_id(record.key), event_id_rest(record.key), content)


def _read_content(record: Record, *, reads_sql: bool) -> FlatEvent | str | None:
    match record.kind:
        case Kind.RECEIPT:
            return None
        case Kind.QUARANTINED:
            return f"{record.pointer or '/'}: {record.reason}"
    try:
        return flatten_event(read_accepted(record.payload), reads_sql=reads_sql)
    except EventError as error:
        return str(error)
