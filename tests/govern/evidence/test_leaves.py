"""Hashes of events: whatever is left out, the rest verifies; whatever is changed, it does not."""

import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from whence.govern.evidence.leaves import hash_event, hash_events, hash_line, leaves_of, seed_of, values_in

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=10
)
EVENTS = st.dictionaries(st.text(), VALUES, min_size=1, max_size=5)
SEED = seed_of(b"secret", "0" * 32)


def built(pairs: list[tuple[str, Any]]) -> Any:
    """The value with these leaves, by an algorithm of its own: objects and lists from pointers."""
    if [pointer for pointer, _ in pairs] == [""]:
        return pairs[0][1]
    found: dict[str, list[tuple[str, Any]]] = {}
    for pointer, value in pairs:
        first, slash, rest = pointer[1:].partition("/")
        found.setdefault(first, []).append((slash + rest, value))
    return {key.replace("~1", "/").replace("~0", "~"): built(some) for key, some in found.items()}


def with_objects(value: Any) -> Any:
    """The value with each list as an object of its indices."""
    match value:
        case [*items] if items:
            return {str(index): with_objects(one) for index, one in enumerate(items)}
        case {**members} if members:
            return {key: with_objects(one) for key, one in members.items()}
    return value


@given(EVENTS)
def test_leaves_are_the_whole_event(event: dict[str, Any]) -> None:
    pairs = [(pointer, json.loads(value)) for pointer, value in values_in(event)]
    assert built(pairs) == with_objects(event)


@given(EVENTS, st.data())
def test_what_is_left_out_is_a_hash_and_the_rest_verifies(event: dict[str, Any], data: st.DataObject) -> None:
    leaves = leaves_of(event, SEED)
    kept = data.draw(st.sets(st.sampled_from(leaves)))
    hashes = [hash_line(one.line) if one in kept else one.hash for one in leaves]
    assert hash_event(data.draw(st.permutations(hashes))) == hash_event(one.hash for one in leaves)
    salt, pointer, _ = json.loads(leaves[0].line)
    assert (len(salt), pointer) == (32, leaves[0].pointer)
    changed = leaves[0].line.replace(salt, salt[::-1] if salt != salt[::-1] else "0" * 32)
    assert hash_event([hash_line(changed), *hashes[1:]]) != hash_event(hashes)


@given(EVENTS)
def test_another_seed_gives_other_hashes(event: dict[str, Any]) -> None:
    other = seed_of(b"another secret", "0" * 32)
    assert {one.hash for one in leaves_of(event, SEED)}.isdisjoint(one.hash for one in leaves_of(event, other))


def test_hashes_are_those_of_lines_of_text() -> None:
    (leaf,) = leaves_of({"a/b": ["é"]}, SEED)
    salt = json.loads(leaf.line)[0]
    assert leaf.line == f'["{salt}","/a~1b/0","é"]'
    by_hand = hashlib.sha256(f"{leaf.line}\n".encode()).hexdigest()
    assert leaf.hash == by_hand
    event = hashlib.sha256(f"{by_hand}\n".encode()).hexdigest()
    assert hash_event([by_hand]) == event
    assert hash_events({"b": event, "a": event}) == hashlib.sha256(f"a {event}\nb {event}\n".encode()).hexdigest()
