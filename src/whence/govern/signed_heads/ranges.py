"""The tree over a range of the event log: which bytes of a record are its leaf."""

import json

from whence.govern.signed_heads.merkle import hash_tree
from whence.govern.signed_heads.statement import Range
from whence.log import Log, Position, Record


def read_range(log: Log, lane: str, since: Position, until: Position) -> Range:
    """The range of a lane as the log has it now. Raises LogError."""
    records, root = hash_tree(map(_leaf, log.scan_records(since, until)))
    return Range(lane, since, until, records, root.hex())


def _leaf(record: Record) -> bytes:
    """Everything that a record is: a line of JSON, and the payload."""
    original = None if record.original is None else str(record.original)
    fields = [str(record.position), int(record.kind), record.key, record.received_at]
    return json.dumps([*fields, record.pointer, record.reason, original]).encode() + b"\n" + record.payload
