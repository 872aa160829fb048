"""Sign the heads of both logs: everything since the head before."""

from collections.abc import Iterator, Sequence

from whence.govern.evidence.signing.envelope import Envelope, Signature, signed_bytes
from whence.govern.evidence.signing.keys import SigningKey
from whence.govern.signed_heads.ranges import read_range
from whence.govern.signed_heads.statement import Heads, Range, SignedHead, write_statement
from whence.log import Log, Position
from whence.store.security.audit import Head


def sign_heads(log: Log, audit: Head | None, before: Sequence[SignedHead], key: SigningKey, at: str) -> SignedHead:
    """The next signed head. `audit` is the verified head of the audit log, `before` the heads that were signed so far,
    the oldest first, `at` the time (ISO 8601). Raises LogError.
    """
    heads = Heads(
        signed_at=at,
        previous=before[-1].digest if before else None,
        audit=audit,
        ranges=tuple(_new_ranges(log, signed_until(before))),
    )
    payload = write_statement(heads)
    signature = Signature(key.public.id, key.sign(signed_bytes(payload)))
    return SignedHead(Envelope(payload, (signature,)), heads)


def signed_until(heads: Sequence[SignedHead]) -> dict[str, Position]:
    """Where in each lane the signed ranges end."""
    return {one.lane: one.until for head in heads for one in head.heads.ranges}


def _new_ranges(log: Log, signed: dict[str, Position]) -> Iterator[Range]:
    for lane in log.list_lanes():
        since = max(signed.get(lane.name, lane.start), lane.start)
        # From the first record on: where a segment ended before it may be deleted without a record that was signed.
        for first in log.list_positions(since, lane.end, 1):
            yield read_range(log, lane.name, first, lane.end)
