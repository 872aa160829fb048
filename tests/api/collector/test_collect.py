"""Collecting over HTTP: the acknowledged is in the log, the refused is in quarantine, and both answers say so."""

import gzip
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from api.process import Api, Serving
from whence.api.collector.bodies import inflate
from whence.log import Kind, Position, Record


def event(**changes: Any) -> dict[str, Any]:
    """A small run event of a run of its own."""
    return {
        "eventTime": "2026-03-01T10:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "test", "name": "job"},
        "inputs": [{"namespace": "s3://lake", "name": "a"}],
        "outputs": [{"namespace": "s3://lake", "name": "b"}],
    } | changes


def at(api: Api, position: str) -> Record:
    """The record that an answer points to."""
    return next(record for record in api.records() if record.position == Position.parse(position))


@pytest.mark.parametrize("path", ["/api/v1/lineage", "/lineage"])
def test_an_acknowledged_event_is_in_the_log(api: Api, path: str) -> None:
    body = event()
    answer = api.post(body, path)
    assert answer.status == 201
    assert set(answer.json) == {"position", "key", "duplicate", "warnings"}
    record = at(api, answer.json["position"])
    assert record.kind is Kind.EVENT
    assert json.loads(record.payload) == body
    assert record.key == answer.json["key"]
    assert answer.json["duplicate"] is False


def test_a_repeat_is_a_receipt_even_with_its_keys_in_another_order(api: Api) -> None:
    body = event()
    first = api.post(body)
    second = api.post(dict(reversed(body.items())))
    assert (second.status, second.json["duplicate"], second.json["key"]) == (201, True, first.json["key"])
    receipt = at(api, second.json["position"])
    assert receipt.kind is Kind.RECEIPT
    assert str(receipt.original) == first.json["position"]
    assert receipt.payload == b""


def test_warnings_come_back(api: Api) -> None:
    body = event()
    del body["schemaURL"]
    answer = api.post(body)
    assert answer.status == 201
    assert any("schemaURL" in warning for warning in answer.json["warnings"])


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_gzip_is_read(api: Api, encoding: str) -> None:
    body = event()
    answer = api.post(gzip.compress(json.dumps(body).encode()), Content_Encoding=encoding)
    assert answer.status == 201
    assert json.loads(at(api, answer.json["position"]).payload) == body


def test_gzip_of_very_many_members_is_refused() -> None:
    with pytest.raises(EOFError, match="more than 10000 members"):
        inflate(gzip.compress(b"", mtime=0) * 10_001, 10)


@pytest.mark.parametrize("cuts", [1, 2, 999])
def test_gzip_of_several_members_is_read_as_one_body(api: Api, cuts: int) -> None:
    body = json.dumps(event(producer="p" * 100_000)).encode()
    size = -(-len(body) // (cuts + 1))
    members = [gzip.compress(body[at : at + size], 1, mtime=0) for at in range(0, len(body), size)]
    answer = api.post(b"".join(members), Content_Encoding="gzip")
    assert answer.status == 201
    assert at(api, answer.json["position"]).payload == body


@pytest.mark.parametrize("blanks", [b" ", b"\n\t \r"])
def test_blanks_around_a_body_are_not_kept(api: Api, blanks: bytes) -> None:
    body, around = json.dumps(event()).encode(), blanks * 20_000
    answers = [api.post(around + one + around) for one in (body, b'{"eventTime": 1}')]
    assert [answer.status for answer in answers] == [201, 422]
    kept = [at(api, answer.json["position"]).payload for answer in answers]
    assert kept == [body, b'{"eventTime": 1}']


def test_blanks_within_a_body_are_not_kept_where_they_are_most_of_it(api: Api) -> None:
    body = event()
    spread = json.dumps(body).replace(", ", ", " + " " * 2_000).encode()
    kept = at(api, api.post(spread).json["position"]).payload
    assert json.loads(kept) == body
    assert len(kept) < 1_000


def test_other_encodings_are_refused_by_name(api: Api) -> None:
    answer = api.post(b"...", Content_Encoding="br")
    assert answer.status == 415
    assert "gzip" in answer.json["reason"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"not gzip at all", "not sound gzip"),
        (gzip.compress(b"{}" * 5000, mtime=0)[:-9], "ends too early"),
        (gzip.compress(b"{}", mtime=0)[:-4] + b"\0\0\0\7", "not sound gzip"),
        (gzip.compress(b"{}", mtime=0) + b"more", "not sound gzip"),
        (gzip.compress(b"{}", mtime=0) * 2 + gzip.compress(b"{}", mtime=0)[:-1], "ends too early"),
    ],
)
def test_damaged_gzip_is_kept_in_quarantine(api: Api, body: bytes, reason: str) -> None:
    answer = api.post(body, Content_Encoding="gzip")
    assert answer.status == 400
    assert reason in answer.json["reason"]
    record = at(api, answer.json["position"])
    assert (record.kind, record.payload, record.reason) == (Kind.QUARANTINED, body, answer.json["reason"])


@pytest.mark.parametrize("path", ["/lineage", "/lineage/batch"])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_body_over_the_limit_is_refused_and_its_beginning_kept(api: Api, path: str, compressed: bool) -> None:
    body = json.dumps([event(producer="x" * 300_000)]).encode()
    answer = (
        api.post(gzip.compress(body, mtime=0), path, Content_Encoding="gzip") if compressed else api.post(body, path)
    )
    assert answer.status == 413
    assert "200000 bytes" in answer.json["reason"]
    record = at(api, answer.json["position"])
    assert (record.kind, record.payload) == (Kind.QUARANTINED, body[:1000])


def test_a_bomb_is_refused_in_little_memory(serving: Serving) -> None:
    api = serving()
    api.post(event())
    bomb = gzip.compress(bytes(1 << 30))
    before = resident(api)
    answer = api.post(bomb, Content_Encoding="gzip")
    assert answer.status == 413
    assert resident(api) - before < 150 << 20
    assert api.post(event()).status == 201


def resident(api: Api) -> int:
    """The peak of the process's memory, in bytes."""
    lines = Path(f"/proc/{api.pid}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    return int(status["VmHWM"].split()[0]) * 1024


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        (b'{"run":', 400, ""),
        (b"", 400, ""),
        (b"\xff\xfe", 400, ""),
        (json.dumps(event(run={"runId": "not a uuid"})).encode(), 422, "/run/runId"),
        (json.dumps(event(eventTime="yesterday")).encode(), 422, "/eventTime"),
    ],
)
def test_a_bad_event_is_answered_with_its_pointer_and_kept(api: Api, body: bytes, status: int, pointer: str) -> None:
    answer = api.post(body)
    assert (answer.status, answer.json["pointer"]) == (status, pointer)
    assert answer.json["reason"]
    record = at(api, answer.json["position"])
    assert (record.kind, record.payload) == (Kind.QUARANTINED, body)
    assert (record.pointer, record.reason) == (pointer, answer.json["reason"])


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(event(run={"runId": "no", "facets": {"x": {"uri": "postgres://me:hunter2@db/x"}}})).encode(),
        b'{"uri": "postgres://me:hunter2@db/x", "password": "hunter2", \xff',
    ],
)
def test_quarantine_keeps_no_secrets(api: Api, body: bytes) -> None:
    record = at(api, api.post(body).json["position"])
    assert b"hunter2" not in record.payload
    assert b"redacted" in record.payload
    assert b"db/x" in record.payload


def test_strict_is_asked_for_by_query_or_header(api: Api) -> None:
    body = event()
    del body["schemaURL"]
    assert api.post(body).status == 201
    assert api.post(body, "/lineage?strict=false").status == 201
    for refused in (api.post(body, "/lineage?strict=true"), api.post(body, Whence_Strict="true")):
        assert refused.status == 422
        assert "schemaURL" in refused.json["reason"] + refused.json["pointer"]
    assert api.post(event(), "/lineage?strict=true").status == 201


@pytest.mark.parametrize("path", ["/api/v1/lineage/batch", "/lineage/batch"])
def test_in_a_batch_the_bad_never_block_the_good(api: Api, path: str) -> None:
    good = [event(), event(), event()]
    batch = [good[0], event(run={}), good[1], 17, good[2], None]
    count = len(api.records())
    answer = api.post(batch, path)
    assert answer.status == 200
    assert answer.json["status"] == "partial_success"
    assert answer.json["summary"] == {
        "received": 6,
        "successful": 3,
        "failed": 3,
        "retriable": 0,
        "non_retriable": 3,
    }
    assert [failed["index"] for failed in answer.json["failed_events"]] == [1, 3, 5]
    assert all(set(failed) == {"index", "reason", "retriable"} for failed in answer.json["failed_events"])
    assert "/run/runId" in answer.json["failed_events"][0]["reason"]
    fresh = api.records()[count:]
    assert [json.loads(record.payload) for record in fresh] == batch
    assert [record.kind is Kind.EVENT for record in fresh] == [True, False, True, False, True, False]
    assert answer.headers["whence-position"] == str(fresh[-1].position)

    again = api.post(batch, path)
    assert again.json == answer.json, "sending it again changes nothing"
    assert [record.kind for record in api.records()[-6:]][::2] == [Kind.RECEIPT] * 3


@pytest.mark.parametrize("batch", [[], [event()]])
def test_a_good_batch_is_a_success(api: Api, batch: list[dict[str, Any]]) -> None:
    answer = api.post(batch, "/lineage/batch")
    assert (answer.status, answer.json["status"]) == (200, "success")
    assert answer.json["summary"]["successful"] == answer.json["summary"]["received"] == len(batch)
    assert answer.json["failed_events"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"[{},", 400), (b"", 400), (b"{}", 422), (b"[" + b"1," * 60 + b"1]", 413)],
)
def test_what_is_no_batch_is_refused_whole_and_kept(api: Api, body: bytes, status: int) -> None:
    answer = api.post(body, "/lineage/batch")
    assert answer.status == status
    assert answer.json["position"] is None if not body else at(api, answer.json["position"]).payload == body


def test_an_event_of_many_megabytes_is_taken(serving: Serving) -> None:
    api = serving()
    body = event(run={"runId": str(uuid.uuid4()), "facets": {"spark.logicalPlan": {"plan": "é" * (12 << 20)}}})
    answer = api.post(json.dumps(body, ensure_ascii=False).encode())
    assert answer.status == 201
    assert len(at(api, answer.json["position"]).payload) > 24 << 20
