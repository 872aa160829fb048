"""Writing to a topic: all replicas must confirm a message, and the producer never writes one twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from msgspec.structs import replace

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, librdkafka_settings
from whence.log.kafka.broker_errors import make_topic_error
from whence.log.kafka.message import Headers, encode_headers, encode_receipt_headers
from whence.log.kafka.topic import MESSAGE_BYTES, describe_topic, open_topic
from whence.log.kafka.trusted_senders import NOBODY, Trust
from whence.log.position import Position
from whence.log.recent_keys import RecentKeys
from whence.log.record import Appended, Draft, Kind

RECENT_KEYS = 100_000
KEPT_BYTES = 64 << 10
"""How many bytes of an event too large for the topic are kept, quarantined."""

_TOO_LARGE = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE)

_Outcome = Position | KafkaError | None


@dataclass(frozen=True, slots=True)
class _Outgoing:
    key: str
    value: bytes | None
    headers: Headers
    received_at: int


class KafkaWriter:
    """A producer of one topic. Many may write at once; each detects only the repeats of its own messages."""

    def __init__(self, address: KafkaAddress, trust: Trust = NOBODY) -> None:
        """Find or create the topic. Raises LogError."""
        self._address = address
        self._trust = trust
        self._topic = open_topic(address)
        self._recent_keys = RecentKeys(RECENT_KEYS)
        self._producer = _make_producer(address)

    def append(self, drafts: Sequence[Draft]) -> list[Appended]:
        """Append all drafts, and return once all replicas in sync have them. An event whose key this writer saw
        recently is stored as a receipt. Of an event too large for the topic, the beginning is kept in quarantine.

        Raises LogError if a broker does not confirm all of them in time.
        """
        first, repeats = self._split_repeats(drafts)
        appended = dict(zip(first, self._send_drafts([drafts[index] for index in first]), strict=True))
        if repeats:
            appended |= zip(repeats, self.append([drafts[index] for index in repeats]), strict=True)
        return [appended[index] for index in range(len(drafts))]

    def check_writable(self) -> Sequence[Appended]:
        """Check that each partition has a leader and enough replicas to be written to. Raises LogError."""
        for one in describe_topic(self._address).partitions:
            if one.leader is None or one.leader.id < 0 or len(one.isr) < self._topic.least_replicas:
                raise LogError(f"partition {one.id} of {self._address.topic} has too few brokers to be written to")
        return ()

    def close(self) -> None:
        self._producer.purge(in_flight=True, blocking=False)
        self._producer.flush(0)

    def _split_repeats(self, drafts: Sequence[Draft]) -> tuple[list[int], list[int]]:
        """Indexes of the drafts to send at once, and of those that repeat one of them, which has no position yet."""
        first, repeats, seen = list[int](), list[int](), set[bytes]()
        for index, draft in enumerate(drafts):
            is_new = draft.kind is Kind.EVENT and self._recent_keys.find(draft.key) is None
            (repeats if is_new and draft.key in seen else first).append(index)
            if is_new:
                seen.add(draft.key)
        return first, repeats

    def _send_drafts(self, drafts: Sequence[Draft]) -> list[Appended]:
        originals = [self._recent_keys.find(one.key) if one.kind is Kind.EVENT else None for one in drafts]
        outcomes = self._send([_make_message(*pair, self._trust) for pair in zip(drafts, originals, strict=True)])
        return [self._to_appended(*each) for each in zip(drafts, originals, outcomes, strict=True)]

    def _to_appended(self, draft: Draft, original: Position | None, outcome: _Outcome) -> Appended:
        if isinstance(outcome, KafkaError) and outcome.code() in _TOO_LARGE:
            # Perhaps only its batch was too large: send it alone.
            (outcome,) = self._send([_make_message(draft, original, self._trust)])
            if isinstance(outcome, KafkaError) and outcome.code() in _TOO_LARGE:
                return self._refuse(draft)
        position = self._require_position(outcome)
        if draft.kind is Kind.EVENT and original is None:
            self._recent_keys.add(draft.key, position)
        return Appended(position=position, original=original)

    def _refuse(self, draft: Draft) -> Appended:
        refused = (
            f"{len(draft.payload)} bytes are more than max.message.bytes of the topic {self._address.topic} allows"
        )
        kept = replace(draft, kind=Kind.QUARANTINED, payload=draft.payload[:KEPT_BYTES], reason=draft.reason or refused)
        (outcome,) = self._send([_make_message(kept, None, self._trust)])
        return Appended(position=self._require_position(outcome), refused="" if draft.reason else refused)

    def _require_position(self, outcome: _Outcome) -> Position:
        if isinstance(outcome, Position):
            return outcome
        if outcome is None:
            raise LogError(f"the brokers of {self._address.topic} did not confirm in {self._address.timeout:g} s")
        raise make_topic_error(self._address, outcome)

    def _send(self, messages: Sequence[_Outgoing]) -> list[_Outcome]:
        """The outcome of each message; None if no report arrived."""
        outcomes: list[_Outcome] = [None] * len(messages)
        for index, message in enumerate(messages):
            try:
                self._produce(message, partial(_record_outcome, outcomes, index))
            except KafkaException as error:
                outcomes[index] = error.args[0]
        # Each message times out by itself; twice the time is for a client that does not report even that.
        self._producer.flush(2 * self._address.timeout)
        return outcomes

    def _produce(self, message: _Outgoing, noted: "partial[None]") -> None:
        for attempt in range(2):
            try:
                self._producer.produce(
                    self._address.topic,
                    message.value,
                    message.key or None,
                    headers=message.headers,
                    timestamp=message.received_at // 1000,
                    on_delivery=noted,
                )
                return
            except BufferError:
                if attempt:
                    raise LogError("the queue of the Kafka producer is full") from None
                self._producer.flush(self._address.timeout)


def _make_producer(address: KafkaAddress) -> Producer:
    settings = {
        **librdkafka_settings(address),
        "acks": "all",
        "enable.idempotence": True,
        "compression.type": "lz4",
        "message.max.bytes": MESSAGE_BYTES,
        "message.timeout.ms": int(address.timeout * 1000),
        "partitioner": "murmur2_random",  # as Kafka's own clients place keys
        "log_level": 0,
    }
    try:
        return Producer(settings)
    except KafkaException as error:
        raise make_topic_error(address, error) from None


def _make_message(draft: Draft, original: Position | None, trust: Trust) -> _Outgoing:
    if original is not None:
        return _Outgoing(draft.owner, None, encode_receipt_headers(draft.key, original), draft.received_at)
    return _Outgoing(draft.owner, draft.payload, encode_headers(draft, trust), draft.received_at)


def _record_outcome(outcomes: list[_Outcome], index: int, error: KafkaError | None, message: Message) -> None:
    outcomes[index] = error or Position(message.partition() or 0, message.offset() or 0)
