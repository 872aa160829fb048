"""Versions of datasets and jobs as UUIDs: two ids of 64 bits, so that a version identifies its dataset or job."""

from struct import Struct
from uuid import UUID

_LOW = (1 << 64) - 1
_IDS = Struct(">qq")


def version_uuid(what: int, whose: int) -> str:
    """The UUID of the version `what` (a run or schema; a job's lineage) of the dataset or job `whose`."""
    text = _IDS.pack(what, whose).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def halves(version: str) -> tuple[int, int] | None:
    """The two ids of a version, or None if the text is not a UUID."""
    try:
        value = UUID(version).int
    except ValueError:
        return None
    return _signed(value >> 64), _signed(value & _LOW)


def _signed(half: int) -> int:
    return half - (1 << 64) if half >> 63 else half
