"""Prove that both logs still have what their signed heads say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from whence.errors import LogCorruptError
from whence.govern.evidence.signing.envelope import signed_bytes
from whence.govern.signed_heads.ranges import read_range
from whence.govern.signed_heads.statement import Range, SignedHead
from whence.log import Log, Position
from whence.log.port import Lane


class VerifyingKey(Protocol):
    """A key that whoever proves trusts (`evidence.signing.keys.PublicKey`)."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    def is_signature(self, signature: bytes, of: bytes) -> bool:
        """Whether the key's owner made a signature of some bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and the number of the signed head that shows it; the first is 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The result. `records`: how many of the event log are as they were signed.

    `deleted`: how many signed records are in ranges that the log no longer begins with, as after a deletion of its
    oldest records: nothing shows whether they were as signed.
    """

    records: int = 0
    deleted: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Count:
    records: int = 0
    deleted: int = 0
    until: dict[str, Position] = field(default_factory=dict)


def prove_events(log: Log, heads: Sequence[SignedHead], trusted: Sequence[VerifyingKey]) -> Proof:
    """Compare the event log with its signed heads, and verify these: their signatures, and that none of them is
    missing between two. Raises LogError.
    """
    lanes, count = {lane.name: lane for lane in log.list_lanes()}, _Count()
    problems = [*_wrong_heads(heads, trusted), *_wrong_ranges(log, lanes, heads, count)]
    return Proof(records=count.records, deleted=count.deleted, problems=tuple(problems))


def _wrong_heads(heads: Sequence[SignedHead], trusted: Sequence[VerifyingKey]) -> Iterator[Problem]:
    previous: str | None = None
    for number, head in enumerate(heads, 1):
        if not any(_has_signed(key, head) for key in trusted):
            yield Problem(number, "is not signed by a key that you trust, or was changed after it was signed")
        if head.heads.previous != previous:
            yield Problem(number, "does not follow the head before it: one was removed, added or moved")
        previous = head.digest


def _has_signed(key: VerifyingKey, head: SignedHead) -> bool:
    of = signed_bytes(head.envelope.payload)
    return any(one.key_id == key.id and key.is_signature(one.value, of) for one in head.envelope.signatures)


def _wrong_ranges(log: Log, lanes: Mapping[str, Lane], heads: Iterable[SignedHead], count: _Count) -> Iterator[Problem]:
    for number, head in enumerate(heads, 1):
        for signed in head.heads.ranges:
            if text := _wrong_range(log, lanes.get(signed.lane), signed, count):
                yield Problem(number, f"signed {signed.records:,} records of the event log {text}")


def _wrong_range(log: Log, lane: Lane | None, signed: Range, count: _Count) -> str:
    """What is wrong with a signed range; empty if nothing is."""
    place = f"from {signed.since} to {signed.until}"
    if lane is None:
        return f"{place}: {signed.lane} is gone"
    if lane.end < signed.until:
        return f"{place}: it ends at {lane.end} now, so it was cut, or is an older copy"
    if signed.since < lane.start:
        count.deleted += signed.records
        return ""
    try:
        found = read_range(log, signed.lane, signed.since, signed.until)
    except LogCorruptError as error:
        return f"{place}: {error}"
    if found != signed:
        return f"{place}: {found.records:,} are there now, and they are not the ones that were signed"
    count.records += signed.records
    return ""
