"""Reading what was accepted, with what is known from before, gives what reading it anew gives."""

import json
from collections.abc import Callable
from itertools import islice

import pytest

from bench.workloads.events import bodies
from generators import mutations
from whence.errors import EventError
from whence.model.events import RunEvent
from whence.openlineage.accept import accept
from whence.openlineage.read import read_accepted, read_event

BODIES = list(islice(bodies(seed=5, jobs=6, days=3), 40))


def test_mutated_events_read_the_same() -> None:
    accepted = 0
    for body in mutations(seed=9, n=4_000):
        try:
            payload = accept(body).payload
        except EventError:
            continue
        accepted += 1
        assert outcome(read_accepted, payload) == outcome(read_event, payload)
    assert accepted > 1_000


@pytest.mark.parametrize(
    "part",
    [
        {"inputs": None},
        {"inputs": {}},
        {"inputs": ["text", None, {"namespace": "n", "name": "a"}]},
        {"outputs": [{"namespace": 1, "name": "a"}]},
        {"outputs": [{"namespace": "n", "name": "a", "facets": []}]},
        {"outputs": [{"namespace": "n", "name": "a", "facets": None, "outputFacets": None}]},
        {"inputs": [{"namespace": "n", "name": "a", "facets": {"schema": {"fields": [{"name": "k"}]}}}] * 2},
        {"job": None},
    ],
)
def test_odd_parts_read_the_same(part: dict[str, object]) -> None:
    payload = json.dumps(json.loads(BODIES[0]) | part).encode()
    for _ in range(2):
        assert outcome(read_accepted, payload) == outcome(read_event, payload)


def test_what_is_said_again_is_the_same_object() -> None:
    first, second = read_accepted(BODIES[0]), read_accepted(BODIES[0])
    assert isinstance(first, RunEvent)
    assert isinstance(second, RunEvent)
    assert [one.facets for one in first.outputs] == [one.facets for one in second.outputs]
    assert first.inputs[0] is second.inputs[0]


def outcome(read: Callable[[bytes], object], payload: bytes) -> object:
    try:
        return read(payload)
    except EventError as error:
        return error.pointer, error.reason
