"""What was signed of a log in segments or a topic is proven, and every change of log, heads or key is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from log.test_both_logs import append, event, refused
from services.kafka_broker import KafkaBroker
from whence.govern.evidence.signing.envelope import write_envelope
from whence.govern.evidence.signing.keys import Algorithm, PublicKey, SigningKey
from whence.govern.signed_heads.prove import Problem, Proof, prove_events
from whence.govern.signed_heads.sign import sign_heads, signed_until
from whence.govern.signed_heads.statement import SignedHead, read_signed_heads
from whence.log import Log
from whence.log.address import open_log
from whence.log.segments.drop import drop_segments
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentSettings
from whence.store.security.audit import Head

KEY, OTHER = SigningKey.generate(Algorithm.ED25519), SigningKey.generate(Algorithm.P256)
AUDIT = Head(7, "ab" * 32)


def signed(log: Log, before: Sequence[SignedHead] = (), key: SigningKey = KEY) -> list[SignedHead]:
    at = f"2026-11-{len(before) + 1:02}T00:00:00Z"
    return [*before, sign_heads(log, AUDIT, before, key, at)]


def proven(log: Log, heads: Sequence[SignedHead], *keys: PublicKey) -> Proof:
    return prove_events(log, heads, keys or (KEY.public,))


def filled(log: Log, first: int = 0) -> Log:
    """Events of five owners, a repeat, and refused bodies."""
    append(log, *(event(number) for number in range(first, first + 12)), event(first + 3), refused(b"{\xff\n"))
    return log


def history(log: Log) -> list[SignedHead]:
    """Three heads: of an empty log, of one that was filled, and of one that nothing was appended to."""
    empty = signed(log)
    filled(log)
    return signed(log, signed(log, empty))


def content_of(heads: Sequence[SignedHead]) -> bytes:
    return b"".join(write_envelope(one.envelope) for one in heads)


def test_what_was_signed_is_proven_and_later_records_are_in_no_head(log: Log) -> None:
    heads = history(log)
    assert proven(log, heads) == Proof(records=14)
    filled(log, 100)
    assert proven(log, heads) == Proof(records=14)
    assert proven(log, signed(log, heads)) == Proof(records=28)
    ends = {lane.name: lane.end for lane in log.list_lanes()}
    assert signed_until(signed(log, heads)).items() <= ends.items()


def test_the_same_log_signs_the_same_bytes_and_the_file_is_read_back(log: Log) -> None:
    first = history(log)
    content = content_of(first)
    assert read_signed_heads(content) == first
    assert content_of(signed(log, first[:2])) == content


def test_each_flipped_byte_of_the_file_is_found(tmp_path: Path) -> None:
    log = SegmentLog(tmp_path)
    content, random = content_of(history(log)), Random(7)
    for _ in range(400):
        place, bit = random.randrange(len(content)), 1 << random.randrange(8)
        changed = content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]
        try:
            heads = read_signed_heads(changed)
        except ValueError:
            continue
        assert proven(log, heads).problems, (place, bit)


def test_a_head_that_is_missing_moved_or_of_another_key_is_found(log: Log) -> None:
    one, two, three = history(log)
    follows = "does not follow the head before it: one was removed, added or moved"
    assert proven(log, [one, three]).problems == (Problem(2, follows),)
    assert proven(log, [two, three]).problems == (Problem(1, follows),)
    assert {problem.text for problem in proven(log, [one, three, two]).problems} == {follows}
    assert proven(log, [one, two]).problems == ()  # whoever keeps the file knows how many heads there are
    forged = signed(log, [one, two], OTHER)
    assert [problem.number for problem in proven(log, forged).problems] == [3]
    assert proven(log, forged, KEY.public, OTHER.public).problems == ()


def test_a_changed_statement_is_found_although_its_line_is_well_formed(log: Log) -> None:
    one, two, _ = history(log)
    other = two.envelope.payload.replace(b"2026-11-02", b"2026-11-03")
    (changed,) = read_signed_heads(write_envelope(replace(two.envelope, payload=other)))
    assert [problem.number for problem in proven(log, [one, changed]).problems] == [2]


@pytest.fixture
def other(log: Log, tmp_path: Path, kafka_broker: KafkaBroker) -> Callable[[], Log]:
    """Makes another empty log of the same kind."""
    if isinstance(log, SegmentLog):
        return lambda: SegmentLog(tmp_path / "other")
    return partial(open_log, kafka_broker.new_topic(partitions=3), lambda: b"secret" * 8)


def test_a_log_that_was_cut_or_written_anew_is_found(log: Log, other: Callable[[], Log]) -> None:
    heads, anew = history(log), other()
    found = proven(anew, heads)
    assert found.records == 0
    assert {one.number for one in found.problems} == {2}
    assert all("it was cut, or is an older copy" in one.text or "is gone" in one.text for one in found.problems)
    append(anew, *(event(number) for number in range(50, 150)))
    found = proven(anew, heads)
    assert (found.records, {one.number for one in found.problems}) == (0, {2})
    # Where the signed range ended is in the middle of a record now; the partitions of another topic have other names.
    expected = "does not end by" if isinstance(log, SegmentLog) else "is gone"
    assert all(expected in one.text for one in found.problems)
    changed = replace(heads[1].heads.ranges[0], root="0" * 64)
    other_root = replace(heads[1], heads=replace(heads[1].heads, ranges=(changed,)))
    fault = f": {changed.records} are there now, and they are not the ones that were signed"
    assert proven(log, [heads[0], other_root]).problems[-1].text.endswith(fault)


def test_the_oldest_records_may_be_deleted_which_is_said(tmp_path: Path) -> None:
    log = SegmentLog(tmp_path, SegmentSettings(segment_bytes=600))
    first = signed(filled(log))
    heads = signed(filled(log, 100), first)
    drop_segments(tmp_path, heads[1].heads.ranges[0].since)
    assert log.list_lanes()[0].start > heads[0].heads.ranges[0].since
    assert proven(log, heads) == Proof(records=14, deleted=14)
    assert proven(log, signed(filled(log, 200), heads)) == Proof(records=28, deleted=14)


@pytest.mark.parametrize(
    "content", [b"\n", b"{}\n", b"[" * 100_000, b'{"payload":"e30=","payloadType":"x","signatures":[]}\n']
)
def test_what_is_no_file_of_heads_is_named_by_its_line(content: bytes) -> None:
    with pytest.raises(ValueError, match="line 1 is no signed head"):
        read_signed_heads(content)
