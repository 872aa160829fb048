"""Mutated events, with good ones between them: each gets the answer that it deserves, and none harms another."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import oracle
from api.process import Api, Serving
from bench.workloads.events import bodies
from chaos.judge import parse, points_into, status_of
from chaos.state import assert_ledger_balances, assert_state_is_the_oracles, differences
from chaos.wire import Answer, Wire, post
from fixtures.both_logs import records_of
from fixtures.migrated_stores import open_migrated
from generators import mutations
from generators.mutations import DEEP_VALUES
from whence.derive.pipeline import run_stream
from whence.log import Kind, Record
from whence.log.segments.log import SegmentLog

MUTATED, MUTATED_LONG = 2_000, 100_000
"""Mutated events, ordinarily and with `--long`."""
CHUNK = 16
CONNECTIONS = 6
LIMIT = 100_000


@dataclass(slots=True)
class Heard:
    """What the collector said: its answers by position in the log, and counts by status."""

    placed: dict[str, Answer] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """Reasons that batches gave for their elements."""


def chunks(count: int) -> Iterator[list[bytes]]:
    """Every mutated body once, and in every eighth chunk a good one; some grow too large."""
    mutated, good = mutations(seed=11, n=count), bodies(seed=12, jobs=30, days=100)
    number = 0
    while chunk := list(islice(mutated, CHUNK)):
        if number % 8 == 0:
            chunk.insert(number // 8 % CHUNK, next(good))
        if number % 100 == 0:
            chunk[-1] += b" " * LIMIT
        yield chunk
        number += 1


def good_keys(count: int) -> set[str]:
    """The keys of the good ones."""
    return {oracle.read(one).key for one in islice(bodies(seed=12, jobs=30, days=100), -(-count // CHUNK // 8))}


async def send_all(port: int, count: int) -> Heard:
    """Send the chunks over a few connections, pipelined; of every fourth, what is JSON goes as a batch."""
    heard, numbered = Heard(), enumerate(chunks(count))

    async def send() -> None:
        with closing(Wire(port)) as wire:
            for number, chunk in numbered:
                together = [one for one in chunk if number % 4 == 0 and is_json(one)]
                if together:
                    batch = post("/lineage/batch", b"[" + b",".join(together) + b"]")
                    hear_batch(heard, together, await wire.ask(batch))
                alone = [one for one in chunk if one not in together]
                answers = await wire.exchange([post("/api/v1/lineage", one) for one in alone])
                for body, answer in zip(alone, answers, strict=True):
                    hear(heard, body, answer)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(CONNECTIONS):
            tasks.create_task(send())
    return heard


def is_json(body: bytes) -> bool:
    """Whether a batch that has it among its elements is still JSON, and of a size that is taken."""
    try:
        parse(body)
    except (ValueError, RecursionError):
        return False
    return len(body) < LIMIT // CHUNK


def hear(heard: Heard, body: bytes, answer: Answer) -> None:
    """Check one answer."""
    assert answer.status == status_of(body, LIMIT), (answer, body[:5_000])
    heard.statuses[answer.status] += 1
    document = answer.json
    if answer.status != 201:
        assert document["reason"]
        assert_pointer(body, answer.status, document["pointer"])
    if document["position"] is not None:
        heard.placed[document["position"]] = answer
    else:
        assert not body, "only a body without a byte leaves nothing to keep"


def hear_batch(heard: Heard, elements: Sequence[bytes], answer: Answer) -> None:
    """Check the answer to a batch."""
    assert answer.status == 200, (answer, elements)
    expected = {place: status for place, one in enumerate(elements) if (status := status_of(one, LIMIT)) != 201}
    failed = {one["index"]: one["reason"] for one in answer.json["failed_events"]}
    assert failed.keys() == expected.keys(), (answer, elements)
    for place, reason in failed.items():
        pointer, _, why = reason.partition(": ")
        assert why
        assert_pointer(elements[place], expected[place], pointer.removesuffix("/") if pointer == "/" else pointer)
    assert answer.json["summary"]["successful"] == len(elements) - len(failed)
    heard.statuses.update(expected.get(place, 201) for place in range(len(elements)))
    heard.failed.update(failed.values())


def assert_pointer(body: bytes, status: int, pointer: str) -> None:
    """The pointer leads into the body; it is the whole body only where that is no object, or names nothing at all."""
    if status != 422:
        assert pointer == ""
    elif pointer == "":
        assert not any(parse(body).get(key) is not None for key in ("run", "job", "dataset"))
    else:
        assert points_into(body, pointer), (pointer, body[:5_000])


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Serving(tmp_path)
    try:
        yield made(max_body_bytes=LIMIT, kept_bytes=2_000)
    finally:
        made.end()


def test_mutated_events_get_their_answers_and_harm_nothing(
    api: Api, spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    count = MUTATED_LONG if pytestconfig.getoption("long") else MUTATED
    heard = asyncio.run(send_all(api.port, count))
    assert heard.statuses.keys() == {201, 400, 413, 422}
    assert heard.statuses.total() >= count
    assert api.post(next(bodies(seed=13))).status == 201
    api.down()
    records = records_of(SegmentLog(api.data / "log"))
    assert_log_has_what_was_answered(heard, records)

    engine = open_migrated(api.store_url)
    query = run_stream(spark, SegmentLog(api.data / "log"), engine, tmp_path / "checkpoint")
    query.catch_up()
    query.stop()
    assert_ledger_balances(engine, records)
    assert_state_is_the_oracles(engine, records)
    assert good_keys(count) <= {one.key for one in records if one.kind is Kind.EVENT}
    engine.dispose()


def assert_log_has_what_was_answered(heard: Heard, records: list[Record]) -> None:
    """Where an answer says that a body is, there it is, as what the answer says that it is."""
    placed = {str(one.position): one for one in records}
    for position, answer in heard.placed.items():
        record, document = placed.pop(position), answer.json
        if answer.status == 201:
            assert record.kind is (Kind.RECEIPT if document["duplicate"] else Kind.EVENT)
            assert record.key == document["key"]
        else:
            assert (record.kind, record.pointer, record.reason) == (
                Kind.QUARANTINED,
                document["pointer"],
                document["reason"],
            )
    quarantined = Counter(
        f"{one.pointer or '/'}: {one.reason}" for one in placed.values() if one.kind is Kind.QUARANTINED
    )
    assert differences(quarantined.items(), heard.failed.items()) == []


@pytest.mark.parametrize("deep", DEEP_VALUES, ids=["lists", "objects", "open"])
def test_a_batch_that_nests_without_end_is_refused(api: Api, deep: bytes) -> None:
    answer = api.post(b'[{"a":' + deep + b"}]", "/lineage/batch")
    assert answer.status == 400
    assert answer.json["reason"]
    assert answer.json["position"]
