"""The canonical text of a split event, from facets that are decoded and checked once per distinct text.

An event of which a part needs more (it may hold a secret, its sender lacks a role, it nests deep) is decoded whole, by
the one path that decides about these.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec import UNSET, Raw

from whence.openlineage.authority.governed_parts import is_forged, list_needs
from whence.openlineage.authority.restrictions import FULL, Authority, Need
from whence.openlineage.json.split_event import (
    MaybeRaw,
    SplitEvent,
    SplitInput,
    SplitJob,
    SplitOutput,
    SplitRun,
    source_of,
)
from whence.openlineage.json.wire import MAX_DEPTH, Json, count_brackets, encode_canonical, is_deeper
from whence.openlineage.redaction.redact import find_suspect_kinds

Role = Literal["job", "inputs", "outputs"]
_Part = SplitJob | SplitInput | SplitOutput

_MAX_DEPTH = MAX_DEPTH - 4
"""The maximum depth of facets: they are inside an event, a list and a dataset."""

_CACHED_BYTES = 16_384
"""The results of longer texts are not cached, so that large events do not fill the memory."""

_decode = msgspec.json.Decoder().decode


class _NeedsWholeError(Exception):
    """The event must be decoded whole."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """Facets that hold no secret: their canonical text, and the needs of what they assert."""

    text: MaybeRaw
    needs: frozenset[Need]


def compose_canonical(event: SplitEvent, authority: Authority) -> bytes | None:
    """The canonical JSON of an event that is accepted unchanged; None if the event must be decoded whole."""
    try:
        return _compose(event, authority)
    except (_NeedsWholeError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _compose(event: SplitEvent, authority: Authority) -> bytes:
    composed = _copy_unrepeated(event)
    _require_plain(encode_canonical(composed))
    needs: set[Need] = set()
    for role, part, source in _repeated(event, composed):
        facets = source_of(source)
        check = _check_cached if len(facets) < _CACHED_BYTES else _check
        checked = check(role, part.namespace, part.name, facets)
        part.facets = checked.text
        needs |= checked.needs
    if authority is not FULL and not _may_assert(event, needs, authority):
        raise _NeedsWholeError
    return encode_canonical(composed)


def _copy_unrepeated(event: SplitEvent) -> SplitEvent:
    """A copy without the facets of the job, inputs and outputs; the others are decoded, and in canonical form."""
    changed: Json = {
        "run": SplitRun(event.run.runId, _canonical(event.run.facets)),
        "job": SplitJob(event.job.namespace, event.job.name),
    }
    if event.inputs is not UNSET:
        changed["inputs"] = [
            SplitInput(one.namespace, one.name, UNSET, _canonical(one.run_facets)) for one in event.inputs
        ]
    if event.outputs is not UNSET:
        changed["outputs"] = [
            SplitOutput(one.namespace, one.name, UNSET, _canonical(one.run_facets)) for one in event.outputs
        ]
    return msgspec.structs.replace(event, **changed)


def _repeated(event: SplitEvent, composed: SplitEvent) -> Iterator[tuple[Role, _Part, MaybeRaw]]:
    """The parts of `composed` that lack their facets, and these as they came."""
    yield "job", composed.job, event.job.facets
    if event.inputs is not UNSET and composed.inputs is not UNSET:
        yield from (("inputs", new, old.facets) for new, old in zip(composed.inputs, event.inputs, strict=True))
    if event.outputs is not UNSET and composed.outputs is not UNSET:
        yield from (("outputs", new, old.facets) for new, old in zip(composed.outputs, event.outputs, strict=True))


def _check(role: Role, namespace: str, name: str, source: bytes) -> _Checked:
    """Check the facets of a job, input or output. Raises an error if they need a closer look."""
    part: Json = {"namespace": namespace, "name": name}
    text: MaybeRaw = UNSET
    if source:
        part["facets"] = _decode(source)
        canonical = encode_canonical(part["facets"])
        _require_plain(canonical)
        text = Raw(canonical)
    return _Checked(text, list_needs({role: part if role == "job" else [part]}))


_check_cached = lru_cache(maxsize=2_048)(_check)


def _require_plain(text: bytes) -> None:
    is_too_deep = count_brackets(text) > _MAX_DEPTH and is_deeper(_decode(text), _MAX_DEPTH)
    if is_too_deep or find_suspect_kinds(text):
        raise _NeedsWholeError


def _may_assert(event: SplitEvent, needs: set[Need], authority: Authority) -> bool:
    if not all(authority.is_allowed(*need) for need in needs):
        return False
    job = {"namespace": event.job.namespace}
    return not is_forged({"producer": event.producer, "job": job}, authority)


def _canonical(facets: MaybeRaw) -> MaybeRaw:
    return UNSET if facets is UNSET else Raw(encode_canonical(_decode(facets)))
