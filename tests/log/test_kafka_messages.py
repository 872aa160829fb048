"""What a message says: its value decides, whatever anyone wrote into the headers."""

import hmac
import json
from collections.abc import Mapping

from hypothesis import given, reject
from hypothesis import strategies as st

from generators import governed_events, sent, viewers
from generators.mutations import mutations
from whence.errors import EventError
from whence.log import Kind, Position, Record
from whence.log.kafka.message import decode_message, encode_headers, encode_receipt_headers
from whence.log.kafka.trusted_senders import NOBODY, Trust
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Draft
from whence.model.access import Viewer
from whence.model.events import RunEvent
from whence.openlineage.accept import Accepted, accept, seal
from whence.openlineage.read import read_event

HERE = Position(3, 14)
NAMES = st.sampled_from(["whence-kind", "whence-key", "whence-pointer", "whence-reason", "whence-original", "other"])
VALUES = st.one_of(
    st.sampled_from([b"event", b"receipt", b"quarantined", b"3:1", b"-1:2", bytes(16)]), st.binary(max_size=20)
)
BODIES = list(mutations(seed=5, n=300))
SIGNATURES = (b"", bytes(32), b"x", Trust().sign(b"key"), hmac.digest(b"", b"key", "sha256"))


def event(**more: object) -> bytes:
    body = {
        "eventTime": "2026-11-20T06:00:00Z",
        "producer": "https://example.org",
        "run": {"runId": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"},
        "job": {"namespace": "n", "name": "j"},
    }
    return json.dumps(body | more).encode()


def read(value: bytes | None, headers: Mapping[str, bytes] | None = None) -> Record:
    return decode_message(HERE, 7, value, headers or {})


@given(st.sampled_from(BODIES))
def test_a_message_is_what_the_collector_would_have_made_of_its_value(body: bytes) -> None:
    record = read(body)
    assert (record.position, record.received_at) == (HERE, 7_000)
    match collected(body), record.kind:
        case EventError() as error, Kind.QUARANTINED:
            assert record.payload == make_quarantine_draft(body, error, 7).payload
            assert (record.pointer, record.reason) == (error.pointer, error.reason)
        case EventError() as error, _:  # an object that is no event: the pipeline refuses it when it reads it
            assert error.status in (403, 422)
        case Accepted() as taken, kind:
            assert (kind, record.key, record.payload) == (Kind.EVENT, taken.key, taken.payload)


def collected(body: bytes) -> Accepted | EventError:
    try:
        return accept(body, authority=NOBODY.authority)
    except EventError as error:
        return error


@given(st.sampled_from(BODIES), st.dictionaries(NAMES, VALUES))
def test_no_header_makes_an_event_vanish_or_take_another_key(body: bytes, headers: dict[str, bytes]) -> None:
    plain, record = read(body), read(body, headers)
    if headers.get("whence-kind") == b"quarantined":
        assert record.kind is Kind.QUARANTINED
        assert record.payload
    elif body:
        assert record == plain


@given(st.sampled_from(BODIES), st.dictionaries(NAMES, VALUES))
def test_what_was_stored_once_is_stored_the_same_again(body: bytes, headers: dict[str, bytes]) -> None:
    record = read(body, headers)
    draft = Draft(
        kind=record.kind,
        key=bytes.fromhex(record.key),
        received_at=7,
        payload=record.payload,
        pointer=record.pointer,
        reason=record.reason,
    )
    if record.kind is not Kind.RECEIPT:
        assert read(record.payload, _as_mapping(draft)) == record


def test_a_receipt_has_no_value_that_could_be_lost() -> None:
    key = seal(event()).key
    pairs = encode_receipt_headers(bytes.fromhex(key), Position(3, 1))
    headers = {name: value for name, value in pairs if isinstance(value, bytes)}
    record = read(None, headers)
    assert (record.kind, record.key, record.original) == (Kind.RECEIPT, key, Position(3, 1))
    assert read(event(), headers).kind is Kind.EVENT
    for broken in ({**headers, "whence-key": b"short"}, {**headers, "whence-original": b"nowhere"}):
        assert read(None, broken).kind is Kind.QUARANTINED


def test_a_message_without_a_value_is_quarantined() -> None:
    record = read(None)
    assert record.kind is Kind.QUARANTINED
    assert "not JSON" in record.reason


def test_secrets_are_redacted_whoever_wrote_them() -> None:
    secret = event(producer="postgres://me:hunter2@db/x")
    forged = {"whence-kind": b"event", "whence-key": bytes(16)}
    assert b"hunter2" not in read(secret).payload
    assert b"hunter2" not in read(secret, forged).payload
    assert b"hunter2" not in read(b"{ " + secret).payload
    assert b"hunter2" not in read(secret, {"whence-kind": b"quarantined"}).payload
    assert read(secret, forged).key == accept(secret).key


@given(governed_events(), viewers, st.sampled_from(SIGNATURES))
def test_only_who_has_the_secret_speaks_for_a_sender(event: dict[str, object], sender: Viewer, forged: bytes) -> None:
    logged = sent(event, sender)
    if logged is None:
        reject()
    ours, draft = Trust(b"secret", ("warehouse",)), _event_draft(json.dumps(logged).encode())
    record = decode_message(HERE, 7, draft.payload, _as_mapping(draft, ours), ours)
    assert (record.key, record.payload) == (draft.key.hex(), draft.payload), (
        "the collector's own message is as it was sent"
    )
    foreign = accept(draft.payload, authority=ours.authority)
    for headers in ({}, _as_mapping(draft, Trust(b"another")), _as_mapping(draft) | {"whence-signature": forged}):
        record = decode_message(HERE, 7, draft.payload, headers, ours)
        assert (record.key, record.payload) == (foreign.key, foreign.payload)
    changed = json.dumps(logged | {"producer": "urn:whence:person:key%3Aroot"}).encode()
    if logged.get("producer") != "urn:whence:person:key%3Aroot":
        altered = decode_message(HERE, 7, changed, _as_mapping(draft, ours), ours)
        assert altered.key == accept(changed, authority=ours.authority).key, "a signature is of one event"
    assert (
        decode_message(HERE, 7, draft.payload, _as_mapping(draft, NOBODY), NOBODY).key
        == accept(draft.payload, authority=NOBODY.authority).key
    ), "without a secret nothing is known"


def test_a_trusted_topic_is_trusted_in_the_namespaces_that_it_names() -> None:
    facets = {"whence_tier": {"tier": 1}, "tags": {"tags": [{"key": "certified"}]}}
    outputs = [{"namespace": namespace, "name": "d", "facets": facets} for namespace in ("s3://prod", "s3://dev")]
    value = event(producer="urn:whence:person:key%3Aroot", outputs=outputs)
    none, some, all_ = (
        read_event(decode_message(HERE, 7, value, {}, Trust(namespaces=namespaces)).payload)
        for namespaces in ((), ("s3://prod*",), ("*",))
    )
    runs = [one for one in (none, some, all_) if isinstance(one, RunEvent)]
    assert [[len(one.facets) for one in run.outputs] for run in runs] == [
        [0, 0],
        [2, 0],
        [2, 2],
    ]
    persons = ["unverified", "unverified", "person"]
    assert [event.producer for event in (none, some, all_)] == [f"urn:whence:{one}:key%3Aroot" for one in persons]


def _event_draft(payload: bytes) -> Draft:
    return Draft(kind=Kind.EVENT, key=bytes.fromhex(seal(payload).key), received_at=7, payload=payload)


def _as_mapping(draft: Draft, trust: Trust = NOBODY) -> dict[str, bytes]:
    return {name: value for name, value in encode_headers(draft, trust) if isinstance(value, bytes)}
