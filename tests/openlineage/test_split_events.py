"""An event accepted in parts, most of them known from others, is accepted exactly as one that is decoded whole."""

import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workloads.events import arrivals
from generators import body, events, governed_events, mutations, viewers
from whence.errors import EventError
from whence.model.access import Viewer
from whence.model.events import DatasetEvent
from whence.openlineage.accept import accept, restrict, seal
from whence.openlineage.authority.restrictions import FULL, Authority, event_need
from whence.openlineage.checked_parts import check_split
from whence.openlineage.json.split_event import split_event
from whence.openlineage.json.wire import MAX_DEPTH
from whence.openlineage.message_keys import message_key
from whence.openlineage.read import read_event

RUN_ID = "01941f29-7c00-7abc-8def-000000000001"
SECRETS = (
    "postgres://u:hunter2@db/x",
    "?password=hunter2",
    "--api-key hunter2x",
    "Authorization: Bearer abcdefgh12345678",
    "AKIAABCDEFGHIJKLMNOP",
    "curl -u me:hunter2 x",
    "-----BEGIN PRIVATE KEY-----x",
    "identified by 'hunter2'",
)
NAMES = ("DB_PASSWORD", "fs.s3a.secret.key", "value", "name")
WORKLOAD = [one.body for one in islice(arrivals(seed=5, jobs=6, days=4), 120)]


def outcome(given_body: bytes, authority: Authority = FULL) -> object:
    try:
        accepted = accept(given_body, authority=authority)
    except EventError as error:
        return error.pointer, error.reason, error.status
    # The warning about redaction is of `accept` alone.
    read = tuple(one for one in accepted.warnings if not one.endswith("redacted"))
    return replace(accepted, warnings=read)


def outcome_whole(given_body: bytes, authority: Authority = FULL) -> object:
    """What the path for whole events makes of it."""
    try:
        sealed = restrict(seal(given_body), authority) if authority is not FULL else seal(given_body)
        event = read_event(sealed.value)
    except EventError as error:
        return error.pointer, error.reason, error.status
    return {
        "payload": sealed.payload,
        "key": sealed.key,
        "event": event,
        "warnings": event.warnings,
        "restricted": sealed.restricted,
        "owner": message_key(event),
        "need": event_need(event),
        "producer": event.producer,
        "subject": "dataset" if isinstance(event, DatasetEvent) else "job",
    }


def assert_alike(given_body: bytes, authority: Authority = FULL) -> None:
    for _ in range(2):  # the second time its parts are known
        found, expected = outcome(given_body, authority), outcome_whole(given_body, authority)
        if isinstance(expected, dict):
            found = {name: getattr(found, name) for name in expected}
        assert found == expected


def test_mutated_events_are_accepted_alike() -> None:
    for one in mutations(seed=23, n=6_000):
        assert_alike(one)


def test_a_workload_is_accepted_alike_in_parts() -> None:
    for one in WORKLOAD:
        assert_alike(one)
    split = [split_event(one) for one in WORKLOAD]
    in_parts = sum(1 for one in split if one and check_split(one, FULL))
    assert in_parts > len(WORKLOAD) * 0.9


@given(events, st.integers(0, 9))
def test_any_event_is_accepted_alike(event: dict[str, Any], spelling: int) -> None:
    assert_alike(body(event, spelling))


@given(governed_events(), viewers, st.booleans())
def test_whatever_its_sender_may_assert(event: dict[str, Any], sender: Viewer, speaks: bool) -> None:
    authority = Authority(sender.is_allowed, lambda *_: speaks)
    assert_alike(body(event), authority)


@given(st.data())
def test_secrets_are_found_wherever_they_are(data: st.DataObject) -> None:
    event = json.loads(body(data.draw(events)))
    places = list(_texts(event))
    for parent, key in data.draw(st.lists(st.sampled_from(places), max_size=2)) if places else []:
        parent[key] = data.draw(st.sampled_from(SECRETS))
    objects = list(_objects(event))
    for one in data.draw(st.lists(st.sampled_from(objects), max_size=2)):
        one[data.draw(st.sampled_from(NAMES))] = data.draw(st.sampled_from(("DB_PASSWORD", "hunter2")))
    assert_alike(body(event))


@pytest.mark.parametrize("depth", range(MAX_DEPTH - 8, MAX_DEPTH + 2))
@pytest.mark.parametrize("where", ["run", "job", "inputs", "outputs"])
def test_depth_has_one_limit(where: str, depth: int) -> None:
    nested = {"f": {"x": json.loads("[" * depth + "]" * depth)}}
    event: dict[str, Any] = {
        "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": RUN_ID},
        "job": {"namespace": "n", "name": "j"},
        "inputs": [{"namespace": "n", "name": "i"}],
        "outputs": [{"namespace": "n", "name": "o"}],
    }
    part = event[where][0] if where.endswith("s") else event[where]
    part["facets"] = nested
    assert_alike(json.dumps(event).encode())


def _objects(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(found for one in value.values() for found in _objects(one))]
    return [found for one in value for found in _objects(one)] if isinstance(value, list) else []


def _texts(value: Any) -> list[tuple[dict[str, Any], str]]:
    return [(one, key) for one in _objects(value) for key, text in one.items() if isinstance(text, str)]
