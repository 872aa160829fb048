"""Records of the event log as bytes: a checksummed header of 36 bytes, then a body that depends on the kind.

Header, little endian: crc32 of the rest of the record, body length, kind, 3 zero bytes, 16-byte key, received_at.
Bodies: EVENT: the payload. RECEIPT: the first record's position. QUARANTINED: two lengths, pointer, reason, payload.
"""

from collections.abc import Iterator
from struct import Struct
from zlib import crc32

from whence.log.position import Position
from whence.log.record import Draft, Kind, Record

Bytes = bytes | memoryview

_HEADER = Struct("<IIB3x16sq")
_AFTER_CRC = Struct("<IB3x16sq")
_LENGTHS = Struct("<II")
_ORIGINAL = Struct("<Q")
HEADER_BYTES = _HEADER.size
_PIECE_BYTES = 5_000
"""For more bytes at once, crc32 releases the interpreter lock. The log's thread would then wait milliseconds, for each
record, until the busy event loop resumes it.
"""
_KINDS = {kind.value: kind for kind in Kind}


def encode(draft: Draft) -> bytes:
    """Encode a draft as a record."""
    if draft.kind is Kind.EVENT:
        return _frame(Kind.EVENT, draft.key, draft.received_at, draft.payload)
    pointer, reason = draft.pointer.encode("utf-8", "replace"), draft.reason.encode("utf-8", "replace")
    body = b"".join((_LENGTHS.pack(len(pointer), len(reason)), pointer, reason, draft.payload))
    return _frame(Kind.QUARANTINED, draft.key, draft.received_at, body)


def encode_record(record: Record) -> bytes:
    """Encode a record that was read: the same bytes as those it was read from."""
    key = bytes.fromhex(record.key)
    if record.original is not None:
        return encode_receipt(key, record.received_at, record.original)
    return encode(
        Draft(
            kind=record.kind,
            key=key,
            received_at=record.received_at,
            payload=record.payload,
            pointer=record.pointer,
            reason=record.reason,
        )
    )


def encode_receipt(key: bytes, received_at: int, original: Position) -> bytes:
    """Encode a receipt: `key` was received again, and its first record is at `original`."""
    return _frame(Kind.RECEIPT, key, received_at, _ORIGINAL.pack(original.as_int))


def _frame(kind: Kind, key: bytes, received_at: int, body: bytes) -> bytes:
    rest = _AFTER_CRC.pack(len(body), kind, key, received_at)
    return b"".join((_checksum(body, crc32(rest)).to_bytes(4, "little"), rest, body))


def _checksum(body: bytes, before: int) -> int:
    view = memoryview(body)
    for start in range(0, len(body), _PIECE_BYTES):
        before = crc32(view[start : start + _PIECE_BYTES], before)
    return before


def record_length(data: Bytes, offset: int, end: int) -> int:
    """The end of the record that begins at `offset`, or -1 if that is after `end`. Trusts the length in the header."""
    if offset + HEADER_BYTES > end:
        return -1
    stop = offset + HEADER_BYTES + int.from_bytes(data[offset + 4 : offset + 8], "little")
    return stop if stop <= end else -1


def is_sound(data: Bytes, offset: int, stop: int) -> bool:
    """Whether the checksum of the record in data[offset:stop] holds."""
    return crc32(data[offset + 4 : stop]) == int.from_bytes(data[offset : offset + 4], "little")


def read_header(data: Bytes, offset: int) -> tuple[int, bytes]:
    """The kind and the key in the header at `offset`, without checking them."""
    _, _, kind, key, _ = _HEADER.unpack_from(data, offset)
    return kind, key


def sound_end(data: Bytes, offset: int, end: int) -> int:
    """The end of the unbroken run of sound records from `offset`, at most `end`."""
    while (stop := record_length(data, offset, end)) > 0 and is_sound(data, offset, stop):
        offset = stop
    return offset


def event_keys(data: Bytes, offset: int, end: int) -> Iterator[tuple[bytes, int]]:
    """(key, offset) of each EVENT in data[offset:end], which must be whole records; reads the headers only."""
    while offset < end:
        _, length, kind, key, _ = _HEADER.unpack_from(data, offset)
        if kind == Kind.EVENT:
            yield key, offset
        offset += HEADER_BYTES + length


def decode(data: Bytes, segment: int, offset: int, stop: int) -> Record | None:
    """Decode the record in data[offset:stop]; None if its kind or its body is invalid."""
    _, _, code, key, received_at = _HEADER.unpack_from(data, offset)
    body = offset + HEADER_BYTES
    position, key_text = Position(segment, offset), key.hex()
    match _KINDS.get(code):
        case Kind.EVENT:
            payload = bytes(data[body:stop])
            return Record(position=position, kind=Kind.EVENT, key=key_text, received_at=received_at, payload=payload)
        case Kind.RECEIPT if stop - body == _ORIGINAL.size:
            original = Position.from_int(_ORIGINAL.unpack_from(data, body)[0])
            return Record(
                position=position, kind=Kind.RECEIPT, key=key_text, received_at=received_at, original=original
            )
        case Kind.QUARANTINED if stop - body >= _LENGTHS.size:
            pointer_bytes, reason_bytes = _LENGTHS.unpack_from(data, body)
            reason_at = body + _LENGTHS.size + pointer_bytes
            return Record(
                position=position,
                kind=Kind.QUARANTINED,
                key=key_text,
                received_at=received_at,
                payload=bytes(data[reason_at + reason_bytes : stop]),
                pointer=str(data[body + _LENGTHS.size : reason_at], "utf-8"),
                reason=str(data[reason_at : reason_at + reason_bytes], "utf-8"),
            )
    return None
