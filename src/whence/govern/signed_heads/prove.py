"""Prove that the event log still has what its signed heads say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.errors import LogCorruptError
from whence.govern.evidence.signing.envelope import VerifyingKey, has_signed
from whence.govern.signed_heads.ranges import read_range
from whence.govern.signed_heads.statement import Range, SignedHead
from whence.log import Log
from whence.log.port import Lane


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


def prove_events(log: Log, heads: Sequence[SignedHead], trusted: Sequence[VerifyingKey]) -> Proof:
    """Compare the event log with its signed heads, and verify these: their signatures, and that none of them is
    missing between two. Raises LogError.
    """
    lanes = {lane.name: lane for lane in log.list_lanes()}
    ranges = [(number, one) for number, head in enumerate(heads, 1) for one in head.heads.ranges]
    deleted = [one for _, one in ranges if _is_deleted(lanes, one)]
    kept = [(number, one, _find_fault(log, lanes, one)) for number, one in ranges if one not in deleted]
    wrong = [
        Problem(number, f"signed {one.records:,} records of the event log from {one.since} to {one.until}: {fault}")
        for number, one, fault in kept
        if fault
    ]
    return Proof(
        records=sum(one.records for _, one, fault in kept if not fault),
        deleted=sum(one.records for one in deleted),
        problems=(*_wrong_heads(heads, trusted), *wrong),
    )


def _wrong_heads(heads: Sequence[SignedHead], trusted: Sequence[VerifyingKey]) -> Iterator[Problem]:
    previous: str | None = None
    for number, head in enumerate(heads, 1):
        if not any(has_signed(key, head.envelope) for key in trusted):
            yield Problem(number, "is not signed by a key that you trust, or was changed after it was signed")
        if head.heads.previous != previous:
            yield Problem(number, "does not follow the head before it: one was removed, added or moved")
        previous = head.digest


def _is_deleted(lanes: Mapping[str, Lane], signed: Range) -> bool:
    """Whether the log begins after a signed range does, and is not shorter than it."""
    lane = lanes.get(signed.lane)
    return lane is not None and signed.since < lane.start and signed.until <= lane.end


def _find_fault(log: Log, lanes: Mapping[str, Lane], signed: Range) -> str:
    """What is wrong with a signed range; empty if nothing is."""
    lane = lanes.get(signed.lane)
    if lane is None:
        return f"{signed.lane} is gone"
    if lane.end < signed.until:
        return f"the log ends at {lane.end} now, so it was cut, or is an older copy"
    try:
        found = read_range(log, signed.lane, signed.since, signed.until)
    except LogCorruptError as error:
        return str(error)
    return "" if found == signed else f"{found.records:,} are there now, and they are not the ones that were signed"
