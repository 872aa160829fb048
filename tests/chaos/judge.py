"""What the collector must say of a body, told without its code: the status, and whether a pointer points somewhere."""

import json
import math
from typing import Any

import oracle

MAX_DEPTH = 500
MAX_FACET_KEY = 1000
SHOWN_KEY = 100


def status_of(body: bytes, limit: int) -> int:
    """201, 400, 413 or 422 (docs/explanation/state.md, "Details of reading")."""
    if len(body) > limit:
        return 413
    try:
        event = parse(body)
    except (ValueError, RecursionError):
        return 400
    if not isinstance(event, dict) or _depth(event) > MAX_DEPTH:
        return 400
    return 201 if _is_event(event, body) else 422


def parse(body: bytes) -> Any:
    """The JSON value. As strict as the wire: no NaN, nothing infinite, no half surrogate pair. Raises ValueError."""
    value = json.loads(body.decode(), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_pairs)
    _encode(value)
    return value


def points_into(body: bytes, pointer: str) -> bool:
    """Whether all but the last step of an RFC 6901 pointer lead somewhere: the last may be what is missing."""
    value = json.loads(body)
    *steps, _ = pointer.split("/")[1:]
    for step in steps:
        found = [one for key, one in _members(value) if _step(key) == step]
        if not found:
            return False
        value = found[-1]
    return pointer.startswith("/")


def _is_event(event: dict[str, Any], body: bytes) -> bool:
    run, job, dataset = (event.get(key) for key in ("run", "job", "dataset"))
    if run is not None and not isinstance(run, dict) and (job is not None or dataset is None):
        return False
    if job is not None and not isinstance(job, dict):
        return False
    try:
        reading = oracle.read(body)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return False  # the oracle is for accepted events, and stumbles over others
    names = [reading.subject, reading.owner, reading.datasets, reading.jobs, reading.declared, reading.containers]
    written = [(subject, dataset, name) for subject, _, dataset, name, _ in reading.facets]
    if any(len(name.encode()) > MAX_FACET_KEY for *_, name in written):
        return False
    return not _holds_nul([*names, written, reading.aliases, reading.sets])


def _holds_nul(value: object) -> bool:
    return (
        "\0" in value
        if isinstance(value, str)
        else isinstance(value, tuple | list | set | frozenset) and any(map(_holds_nul, value))
    )


def _refuse(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _encode(pairs)  # here, as of a key that comes twice only one value is left
    return dict(pairs)


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [one for some in level for _, one in _members(some) if isinstance(one, dict | list)]
    return depth


def _members(value: object) -> list[tuple[object, object]]:
    match value:
        case dict():
            return list(value.items())
        case list():
            return list(enumerate(value))
    return []


def _step(key: object) -> str:
    return str(key)[:SHOWN_KEY].replace("\0", "\ufffd").replace("~", "~0").replace("/", "~1")
