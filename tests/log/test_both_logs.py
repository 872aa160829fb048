"""What holds of an event log, whether it lies in segments or in a Kafka topic."""

import asyncio
import json
import signal
import subprocess
import sys
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from fixtures.both_logs import records_of
from whence.errors import EventError
from whence.log import Kind, Lane, Log, Position, Record
from whence.log.address import open_log
from whence.log.group_commit import GroupCommit
from whence.log.kafka.log import KafkaLog
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Appended, Draft
from whence.log.segments.log import SegmentLog
from whence.openlineage.accept import accept

OWNERS = 5


def event(number: int, owner: int | None = None, size: int = 10) -> Draft:
    """An event of its own, as the collector would append it."""
    owner = number % OWNERS if owner is None else owner
    body = {
        "eventTime": "2026-11-20T06:00:00Z",
        "producer": f"https://example.org/{'x' * size}",
        "run": {"runId": f"0190b3a1-7d1e-7b3a-9c55-{number:012}"},
        "job": {"namespace": "log", "name": f"owner{owner}"},
    }
    taken = accept(json.dumps(body).encode())
    return Draft(
        kind=Kind.EVENT,
        key=bytes.fromhex(taken.key),
        received_at=1_700_000_000_000_000 + number * 1000,
        payload=taken.payload,
        owner=f"owner{owner}",
    )


def refused(body: bytes) -> Draft:
    """A refused body, as the collector would keep it."""
    return make_quarantine_draft(body, EventError("/run/é", "not a 'uuid'"), 1_700_000_000_000_000)


def append(log: Log, *drafts: Draft) -> list[Appended]:
    writer = log.open_writer()
    appended = list(writer.append(drafts))
    writer.close()
    return appended


def by_position(log: Log) -> dict[Position, Record]:
    return {one.position: one for one in records_of(log)}


def as_record(draft: Draft, appended: Appended) -> Record:
    return Record(
        position=appended.position,
        kind=draft.kind,
        key=draft.key.hex(),
        received_at=draft.received_at,
        payload=draft.payload,
        pointer=draft.pointer,
        reason=draft.reason,
    )


def test_a_new_log_is_empty(log: Log) -> None:
    lanes = log.list_lanes()
    assert len(lanes) >= 1
    assert all(lane.start == lane.end for lane in lanes)
    assert log.oldest_received_at({}) is None
    assert records_of(log) == []


def test_what_came_before_a_position_is_counted(log: Log) -> None:
    assert log.count_before({}).records == 0
    appended = append(log, *(event(number) for number in range(20)))
    assert log.count_before({lane.name: lane.end for lane in log.list_lanes()}).records == 20
    for one in appended:
        lane = log.lane_of(one.position)
        before = [other for other in appended if log.lane_of(other.position) == lane and other.position < one.position]
        assert log.count_before({lane: one.position}).records == len(before)
        assert log.count_before({lane: one.position.after}).records == len(before) + 1


def test_what_is_appended_is_read_as_it_was_given(log: Log) -> None:
    drafts = [
        *map(event, range(20)),
        refused(b"\xff\x00 no JSON"),
        event(20, size=200_000),
        refused(b"{}"),
        refused(b""),
    ]
    appended = append(log, *drafts)
    assert [one.original for one in appended] == [None] * len(drafts)
    assert [one.refused for one in appended] == [""] * len(drafts)
    read = by_position(log)
    assert [read.pop(one.position) for one in appended] == [*map(as_record, drafts, appended)]
    assert read == {}


def test_every_position_lies_in_its_lane(log: Log) -> None:
    places = [one.position for one in append(log, *map(event, range(30)))]
    lanes = {lane.name: lane for lane in log.list_lanes()}
    for place in places:
        lane = lanes[log.lane_of(place)]
        assert lane.start <= place < lane.end
    filled = {log.lane_of(place) for place in places}
    assert filled == {lane.name for lane in lanes.values() if lane.start < lane.end}
    assert [max(one for one in places if log.lane_of(one) == name).after <= lanes[name].end for name in filled]


def test_events_are_found_by_a_text_in_them(log: Log) -> None:
    needle, held = b"/xxxxxxxxxxx", {4, 5, 17, 39}
    drafts = [event(number, size=11 if number in held else 10) for number in range(40)]
    positions = [one.position for one in append(log, *drafts, refused(b"{" + needle))]
    whole = {lane.name: lane for lane in log.list_lanes()}
    found = [one for lane in whole.values() for one in log.find_events(needle, lane.start, lane.end)]
    assert {one.position for one in found} == {positions[n] for n in held}
    records = by_position(log)
    assert all(records[one.position] == one for one in found)
    for n in held:
        lane = whole[log.lane_of(positions[n])]
        since, before = (
            list(log.find_events(needle, positions[n], lane.end)),
            log.find_events(needle, lane.start, positions[n]),
        )
        assert since[0].position == positions[n]
        assert positions[n] not in {one.position for one in before}


def test_the_events_of_one_owner_stay_in_one_lane_in_order(log: Log) -> None:
    drafts = [event(number) for number in range(60)]
    writer = log.open_writer()
    appended = [one for start in range(0, 60, 7) for one in writer.append(drafts[start : start + 7])]
    writer.close()
    for owner in range(OWNERS):
        places = [one.position for one, draft in zip(appended, drafts, strict=True) if draft.owner == f"owner{owner}"]
        assert places == sorted(places)
        assert len({log.lane_of(place) for place in places}) == 1


def test_a_repeat_leaves_a_receipt_of_the_first(log: Log) -> None:
    writer = log.open_writer()
    (first,) = writer.append([event(1)])
    again, other, twice, thrice = writer.append([event(1), event(2), event(2), event(2)])
    writer.close()
    assert (again.original, other.original) == (first.position, None)
    assert twice.original == thrice.original == other.position
    receipts = [one for one in records_of(log) if one.kind is Kind.RECEIPT]
    assert {(one.position, one.original) for one in receipts} == {
        (again.position, first.position),
        (twice.position, other.position),
        (thrice.position, other.position),
    }
    assert {one.key for one in receipts} == {event(1).key.hex(), event(2).key.hex()}
    assert {one.payload for one in receipts} == {b""}


def test_a_refused_body_is_kept_each_time(log: Log) -> None:
    bad = refused(b"no JSON")
    assert [one.original for one in append(log, bad, bad)] == [None, None]
    assert [one.kind for one in records_of(log)] == [Kind.QUARANTINED] * 2


def test_appending_nothing_and_rehearsing_leave_nothing(log: Log) -> None:
    writer = log.open_writer()
    assert list(writer.append([])) == []
    assert list(writer.check_writable()) == []
    writer.append([event(1)])
    assert list(writer.check_writable()) == []
    writer.close()
    assert len(records_of(log)) == 1


def test_a_log_goes_on_after_its_writer_is_closed(log: Log) -> None:
    first = append(log, event(1), event(2))
    second = append(log, event(3))
    assert {one.position for one in (*first, *second)} == by_position(log).keys()
    assert all(
        log.lane_of(a.position) != log.lane_of(second[0].position) or a.position < second[0].position for a in first
    )


def test_the_oldest_that_a_store_lacks_is_known(log: Log) -> None:
    drafts = [event(number) for number in range(12)]
    places = [one.position for one in append(log, *drafts)]
    ends = {lane.name: lane.end for lane in log.list_lanes()}
    times = dict(zip(places, (one.received_at for one in drafts), strict=True))
    assert log.oldest_received_at({}) == drafts[0].received_at
    assert log.oldest_received_at(ends) is None
    for place in places:
        in_lane = {at: time for at, time in times.items() if log.lane_of(at) == log.lane_of(place) and at >= place}
        assert log.oldest_received_at({**ends, log.lane_of(place): place}) == in_lane[place] == min(in_lane.values())


def test_many_waiters_learn_their_own_positions(log: Log) -> None:
    async def scenario() -> list[tuple[Appended, ...]]:
        commit = GroupCommit(log.open_writer)
        results = await asyncio.gather(*(commit.append((event(number),)) for number in range(300)))
        await commit.close()
        return results

    results = asyncio.run(scenario())
    read = by_position(log)
    assert [read[appended.position].key for (appended,) in results] == [event(n).key.hex() for n in range(300)]


ENDLESS = """
import sys
from itertools import count
from log.test_both_logs import event
from whence.log.address import open_log

writer = open_log(sys.argv[1]).open_writer()
for batch in count():
    numbers = range(batch * 10, batch * 10 + 10)
    for one in writer.append([event(number) for number in numbers]):
        print(one.position, flush=True)
"""


def address_of(log: Log) -> str:
    match log:
        case SegmentLog():
            return str(log.directory)
        case KafkaLog():
            return str(log.address)
    raise TypeError(log)


def test_what_a_killed_writer_acknowledged_is_there_whole(log: Log) -> None:
    command = [sys.executable, "-c", ENDLESS, address_of(log)]
    paths = [str(Path(__file__).parents[1]), *sys.path]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": ":".join(paths)})
    assert child.stdout is not None
    acknowledged = [child.stdout.readline().strip() for _ in range(200)]
    child.send_signal(signal.SIGKILL)
    acknowledged += child.stdout.read().split()
    child.wait()
    child.stdout.close()
    append(log, event(1_000_000))
    read = by_position(log)
    keys = [read[Position.parse(place)].key for place in acknowledged[:-1]]  # the last line may be torn
    assert keys == [event(number).key.hex() for number in range(len(keys))]
    assert all(one.kind is Kind.EVENT for one in read.values())
    assert read.keys() == {place for place in read if any(_is_in(place, lane) for lane in log.list_lanes())}


def _is_in(place: Position, lane: Lane) -> bool:
    return lane.start <= place < lane.end


def test_an_address_says_which_log_it_is(tmp_path: Path) -> None:
    assert open_log(str(tmp_path)) == SegmentLog(tmp_path)
    assert isinstance(open_log("kafka://127.0.0.1:9092/events"), KafkaLog)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("whence.log", "asyncio fastapi sqlalchemy pyspark confluent_kafka ahocorasick_rs"),
        ("whence.log.segments", "asyncio fastapi sqlalchemy pyspark confluent_kafka ahocorasick_rs"),
        ("whence.log.address", "fastapi sqlalchemy pyspark confluent_kafka"),
        ("whence.log.kafka.message", "fastapi sqlalchemy pyspark confluent_kafka"),
        ("whence.derive.sources.kafka", "fastapi confluent_kafka"),
    ],
)
def test_what_executors_import_stays_small(module: str, heavy: str) -> None:
    code = f"import sys, {module}; print(set({heavy.split()}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_places_of_records_are_told_without_reading_them(log: Log) -> None:
    drafts = [event(number) for number in range(25)]
    append(log, *drafts, drafts[3], refused(b"no JSON"))
    known = sorted(by_position(log))
    for lane in log.list_lanes():
        own = [one for one in known if log.lane_of(one) == lane.name]
        assert list(log.list_positions(lane.start, lane.end, 1_000)) == own
        for start, stop in combinations_with_replacement(range(len(own)), 2):
            assert list(log.list_positions(own[start], own[stop], 1_000)) == own[start:stop]
            assert list(log.list_positions(own[start], lane.end, 2)) == own[start : start + 2]
        beyond = Position(lane.end.segment, lane.end.offset + 1_000)
        assert list(log.list_positions(lane.start, beyond, 1_000)) == own
        assert list(log.list_positions(lane.end, beyond, 10)) == []


def test_records_are_read_where_they_are(log: Log) -> None:
    drafts = [event(number) for number in range(7)]
    *places, again = [one.position for one in append(log, *drafts, drafts[3])]
    known = {place: as_record(draft, Appended(position=place)) for place, draft in zip(places, drafts, strict=True)}
    assert list(log.read_records([places[5], places[1], places[5]])) == [
        known[places[5]],
        known[places[1]],
        known[places[5]],
    ]
    (repeat,) = log.read_records([again])
    assert repeat is not None
    assert (repeat.kind, repeat.original) == (Kind.RECEIPT, places[3])
    last = max(lane.end for lane in log.list_lanes())
    assert list(log.read_records([Position(last.segment + 50, 20), last])) == [None, None]
    assert list(log.read_records([])) == []
