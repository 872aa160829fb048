"""Accepting bodies: what is refused and where, the key, and that nothing else can go wrong (rules 5, 7)."""

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from generators.events import events
from generators.mutations import mutations
from whence.errors import EventError
from whence.model.events import RunEvent
from whence.openlineage.accept import Accepted, accept
from whence.openlineage.json.wire import MAX_DEPTH
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.read import read_event

RUN_ID = "01941f29-7c00-7abc-8def-000000000001"
EVENT: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-01-01T00:00:00Z",
    "producer": "p",
    "schemaURL": "s",
    "run": {"runId": RUN_ID},
    "job": {"namespace": "n", "name": "j"},
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    re.findall(
        r"\w+",
        "eventType eventTime producer run runId job namespace name facets inputs outputs dataset columnLineage fields "
        "inputFields field transformations type lineage entries parent root schema symlinks identifiers inputFacets "
        "jobType debug logs _deleted",
    )
)
ODD_EVENTS = st.recursive(
    VALUES | st.sampled_from([RUN_ID, "2026-01-01T00:00:00Z", "DATASET", "JOB", "s3a://x", "a\0b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


def output_with(**facets: Any) -> dict[str, Any]:
    return {"namespace": "n", "name": "o", "facets": facets}


def job_with(**lineage: Any) -> dict[str, Any]:
    return {"namespace": "n", "name": "j", "facets": {"lineage": lineage}}


def source(**members: Any) -> dict[str, Any]:
    return {"namespace": "n", "name": "a", "field": "k", **members}


def around(pair: tuple[Any, Any]) -> dict[str, Any]:
    """An event with odd things where facets and datasets belong."""
    first, second = pair
    job = {"namespace": "n", "name": "j", "facets": first}
    return {
        **EVENT,
        "job": job,
        "inputs": [first, {"namespace": "n", "name": "a", "facets": second}],
        "outputs": [output_with(columnLineage=first, schema=second)],
    }


def body(**members: Any) -> bytes:
    return json.dumps({**EVENT, **members}).encode()


def refusal(given: bytes, *, strict: bool = False) -> EventError:
    with pytest.raises(EventError) as caught:
        accept(given, strict=strict)
    return caught.value


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"3",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"a": 1} {"b": 2}',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"{'a': 1}",
        b'{"a": [' + b"[" * 100_000,
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_is_no_json_object_is_400(given: bytes) -> None:
    assert (refusal(given).status, refusal(given).pointer) == (400, "")


def test_depth_has_a_limit_of_its_own() -> None:
    """Not the interpreter's, which depends on who calls: what the collector accepts, the pipeline can read."""

    def nested(depth: int) -> bytes:
        return body(x=json.loads("[" * (depth - 1) + "]" * (depth - 1)))

    assert accept(nested(MAX_DEPTH)).event
    assert refusal(nested(MAX_DEPTH + 1)).status == 400
    wide = body(x=[{} for _ in range(3 * MAX_DEPTH)])
    assert accept(wide).event


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"job": None, "run": None}, ""),
        ({"job": None}, "/job"),
        ({"job": "j"}, "/job"),
        ({"job": {"name": "j"}}, "/job/namespace"),
        ({"job": {"namespace": "n", "name": 3}}, "/job/name"),
        ({"job": {"namespace": "n", "name": "a\0b"}}, "/job"),
        ({"run": "r"}, "/run"),
        ({"run": {}}, "/run/runId"),
        ({"run": {"runId": "not-a-uuid"}}, "/run/runId"),
        ({"run": {"runId": RUN_ID.replace("-", "")}}, "/run/runId"),
        ({"eventTime": None}, "/eventTime"),
        ({"eventTime": 1767225600}, "/eventTime"),
        ({"eventTime": "yesterday"}, "/eventTime"),
        ({"eventTime": "2026-02-30T00:00:00Z"}, "/eventTime"),
        ({"eventTime": "0000-01-01T00:00:00Z"}, "/eventTime"),
        ({"eventTime": "10000-01-01T00:00:00Z"}, "/eventTime"),
        ({"eventTime": "0001-01-01T00:00:00+14:00"}, "/eventTime"),
        ({"eventTime": "9999-12-31T23:59:59-14:00"}, "/eventTime"),
        ({"run": None, "job": None, "dataset": {"namespace": "n"}}, "/dataset"),
        ({"run": None, "job": None, "dataset": {"namespace": "n", "name": ""}}, "/dataset"),
        ({"run": None, "job": None, "dataset": []}, "/dataset"),
        ({"inputs": [{"namespace": "n", "name": "a"}, {"namespace": "n", "name": "a\0"}]}, "/inputs/1"),
        ({"job": {"namespace": "n", "name": "j", "facets": {"a/b~\0": {}}}}, "/job/facets/a~1b~0\ufffd"),
        ({"job": {"namespace": "n", "name": "j", "facets": {"ü" * 501: {}}}}, "/job/facets/" + "ü" * 100),
        (
            {"outputs": [output_with(schema={"fields": [{"name": "a", "fields": [{"name": "\0"}]}]})]},
            "/outputs/0/facets/schema/fields/0/fields/0/name",
        ),
        (
            {"outputs": [output_with(symlinks={"identifiers": [{"namespace": "\0", "name": "x"}]})]},
            "/outputs/0/facets/symlinks/identifiers/0",
        ),
        (
            {"outputs": [output_with(columnLineage={"fields": {"a/\0": {}}})]},
            "/outputs/0/facets/columnLineage/fields/a~1\ufffd",
        ),
        (
            {"outputs": [output_with(columnLineage={"fields": {"a": {"inputFields": [source(field="\0")]}}})]},
            "/outputs/0/facets/columnLineage/fields/a/inputFields/0",
        ),
        (
            {"outputs": [output_with(columnLineage={"dataset": [source(name="\0")]})]},
            "/outputs/0/facets/columnLineage/dataset/0",
        ),
        (
            {"job": job_with(entries=[{"namespace": "n", "name": "o", "fields": {"\0": {}}}])},
            "/job/facets/lineage/entries/0/fields/\ufffd",
        ),
        (
            {"job": job_with(entries=[{"namespace": "n", "name": "o", "inputs": [source(field="\0")]}])},
            "/job/facets/lineage/entries/0/inputs/0/field",
        ),
        ({"job": job_with(entries=[{"type": "JOB", "namespace": "n", "name": "\0"}])}, "/job/facets/lineage/entries/0"),
    ],
)
def test_what_is_no_event_is_422_with_its_pointer(members: dict[str, Any], pointer: str) -> None:
    error = refusal(body(**members))
    assert (error.status, error.pointer) == (422, pointer)


def test_pointers_are_bounded() -> None:
    error = refusal(body(outputs=[output_with(columnLineage={"fields": {"x" * 10_000 + "\0": {}}})]))
    assert error.pointer == "/outputs/0/facets/columnLineage/fields/" + "x" * 100


def test_the_least_that_is_accepted() -> None:
    least = {"eventTime": "2026-01-01T00:00:00Z", "run": {"runId": RUN_ID}, "job": {"namespace": "n", "name": ""}}
    assert accept(json.dumps(least).encode()).event.time == 1_767_225_600_000_000


def test_payload_is_the_body_as_it_came() -> None:
    given = b' {"job":{"name":"j","namespace":"n"},\n"x":1e2, "eventTime":"2026-01-01T00:00:00Z"} '
    assert accept(given).payload == given


def test_key_is_the_documented_hash() -> None:
    """BLAKE2b-128 of `{"eventTime":"2026-01-01T00:00:00Z","job":{"name":"j","namespace":"n"}}`, computed by itself."""
    given = b'{"job": {"namespace": "n", "name": "j"}, "eventTime": "2026-01-01T00:00:00Z"}'
    assert accept(given).key == "e07268f82ec3997e350c6d2f7d432dda"


def test_names_of_thousands_of_characters() -> None:
    name = "x" * 5_000
    accepted = accept(body(job={"namespace": name, "name": name}, inputs=[{"namespace": name, "name": name}]))
    assert isinstance(accepted.event, RunEvent)
    assert accepted.event.inputs[0].name.name == name


def test_a_large_legacy_facet_is_read_in_linear_space() -> None:
    """Rule 42: 300 fields, each with 300 copies, are 300 edges to the whole output."""
    copies = [
        source(name="a", field=f"f{n}", transformations=[{"type": "INDIRECT", "subtype": "GROUP_BY"}])
        for n in range(300)
    ]
    fields = {f"c{n}": {"inputFields": copies} for n in range(300)}
    sets = derive_lineage_sets(accept(body(outputs=[output_with(columnLineage={"fields": fields})])).event)
    assert [len(one.edges) for one in sets if one.level == "field"] == [300]


@given(events, st.randoms(use_true_random=False))
def test_rule_5_key_and_meaning_do_not_depend_on_order_and_whitespace(event: dict[str, Any], random: Random) -> None:
    first = accept(json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode())
    again = accept(json.dumps(shuffled(event, random), indent=random.randrange(4)).encode())
    assert again.key == first.key
    assert again.event == first.event
    assert derive_lineage_sets(again.event) == derive_lineage_sets(first.event)


@given(events)
def test_the_payload_says_what_was_accepted(event: dict[str, Any]) -> None:
    accepted = accept(json.dumps(event).encode())
    assert read_event(accepted.payload) == accepted.event
    assert read_event(json.loads(accepted.payload)) == accepted.event
    assert accept(accepted.payload).key == accepted.key


@given(events)
def test_edges_are_sorted_distinct_and_never_none(event: dict[str, Any]) -> None:
    sets = derive_lineage_sets(accept(json.dumps(event).encode()).event)
    assert len({(one.output, one.level, one.origin) for one in sets}) == len(sets)
    for one in sets:
        texts = [
            (
                str(edge.source),
                str(edge.target),
                edge.type,
                edge.subtype,
                "masked" if edge.masking else "",
                edge.description,
            )
            for edge in one.edges
        ]
        assert texts == sorted(set(texts))
        assert bool(texts) == (one.origin != "dropped")


@settings(max_examples=examples(400))  # the first strict one imports the schemas
@given(st.one_of(VALUES, ODD_EVENTS, st.tuples(ODD_EVENTS, ODD_EVENTS).map(around)), st.booleans())
@example(json.loads('{"a":"\\ud800"}'), False)
def test_any_json_is_accepted_or_refused(value: Any, strict: bool) -> None:
    check(json.dumps(value).encode(), strict=strict)


def test_mutated_bodies_are_accepted_or_refused() -> None:
    for given_body in mutations(seed=11, n=20_000):
        check(given_body, strict=False)


@given(st.binary(max_size=60))
def test_any_bytes_are_accepted_or_refused(given: bytes) -> None:
    check(given, strict=False)


def check(given: bytes, *, strict: bool) -> None:
    match outcome(given, strict=strict):
        case EventError(pointer, reason, status):
            assert status in (400, 422)
            assert pointer == "" or pointer.startswith("/")
            assert reason
        case accepted:
            assert len(bytes.fromhex(accepted.key)) == 16
            derive_lineage_sets(accepted.event)


def outcome(given: bytes, *, strict: bool) -> Accepted | EventError:
    try:
        return accept(given, strict=strict)
    except EventError as error:
        return error


def shuffled(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(one, random)) for key, one in value.items()]
        random.shuffle(items)
        return dict(items)
    return [shuffled(one, random) for one in value] if isinstance(value, list) else value
