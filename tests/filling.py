"""Logs with what a collector would have written."""

from collections.abc import Iterable

from whence.errors import EventError
from whence.log import Kind, Log
from whence.log.quarantine import quarantined
from whence.log.record import Draft
from whence.openlineage.accept import accept

APPENDED = 40


def draft(body: bytes) -> Draft:
    """A body as the collector hands it to the log: accepted, or refused and why."""
    try:
        taken = accept(body)
    except EventError as error:
        return quarantined(body, error, 0)
    return Draft(kind=Kind.EVENT, key=bytes.fromhex(taken.key), received_at=0, payload=taken.payload, owner=taken.key)


def fill(log: Log, bodies: Iterable[bytes]) -> list[Draft]:
    """Append bodies to a log, 40 at a time. Returns what was appended."""
    drafts = [draft(body) for body in bodies]
    writer = log.open_writer()
    for start in range(0, len(drafts), APPENDED):
        writer.append(drafts[start : start + APPENDED])
    writer.close()
    return drafts
