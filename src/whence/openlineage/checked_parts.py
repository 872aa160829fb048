"""Checks of a split event: what it needs to be accepted, from facets that are decoded once per distinct text.

An event of which a part needs more (it may hold a secret, its sender lacks a role, it nests deep, its producer names
files in its own way) is decoded whole, by the one path that decides about these.
"""

from dataclasses import dataclass
from functools import lru_cache

import msgspec
from msgspec import UNSET, Raw, UnsetType

from whence.errors import EventError
from whence.model.access import Action
from whence.model.names import JobName
from whence.openlineage.authority.governed_parts import is_forged, list_needs
from whence.openlineage.authority.restrictions import FULL, Authority, Need
from whence.openlineage.datasets import read_repeated_datasets
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.split_event import (
    FacetTexts,
    MaybeFacets,
    MaybeRaw,
    PartKey,
    Repeated,
    SplitEvent,
    WireEvent,
    WireInput,
    WireJob,
    WireOutput,
    WireRun,
)
from whence.openlineage.json.wire import MAX_DEPTH, Json, count_brackets, encode_canonical, is_deeper
from whence.openlineage.message_keys import run_key
from whence.openlineage.names.naming import normalise_job
from whence.openlineage.names.producer_paths import has_corrected_paths
from whence.openlineage.read import check_job, read_split_header, read_split_names
from whence.openlineage.redaction.redact import find_suspect_kinds
from whence.openlineage.run_facets import Place, read_run_facet

_MAX_DEPTH = MAX_DEPTH - 4
"""The maximum depth of facets: they are inside an event, a list and a dataset."""

_CACHED_BYTES = 16_384
"""The results of longer texts are not cached, so that large events do not fill the memory."""

_decode = msgspec.json.Decoder().decode


class _NeedsWholeError(Exception):
    """The event must be decoded whole."""


@dataclass(frozen=True, slots=True)
class CheckedEvent:
    """An event that is accepted unchanged: its canonical JSON, its message key, and the reader's warnings."""

    text: bytes
    owner: str
    need: Need
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _CheckedPart:
    """A job, input or output that holds no secret: the canonical text of its facets, and the needs of what it
    asserts.
    """

    text: MaybeRaw
    needs: frozenset[Need]
    notes: tuple[Note, ...]
    """The reader's warnings about a job; those about datasets depend on each other."""


@dataclass(frozen=True, slots=True)
class _CheckedParts:
    """All parts of an event that other events repeat: the texts of their facets, what they need together, the job's
    name, and the reader's warnings.
    """

    job: MaybeRaw
    inputs: tuple[MaybeRaw, ...]
    outputs: tuple[MaybeRaw, ...]
    needs: frozenset[Need]
    job_name: JobName
    notes: tuple[Note, ...]


def check_split(event: SplitEvent, authority: Authority) -> CheckedEvent | None:
    """Check an event without reading what it says; None if it must be decoded whole."""
    try:
        return _check_event(event, authority)
    except (_NeedsWholeError, EventError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _check_event(event: SplitEvent, authority: Authority) -> CheckedEvent:
    if has_corrected_paths(event):
        raise _NeedsWholeError
    wire, repeated, notes = event.wire, event.repeated, Notes()
    header = (wire.eventTime, wire.eventType, wire.producer, wire.schemaURL, wire.run.runId)
    _require_plain(encode_canonical([text for text in header if text is not UNSET]))
    checked = (_check_parts_cached if repeated.size < _CACHED_BYTES else _check_parts)(repeated)
    if authority is not FULL and not _may_assert(wire, checked.needs, authority):
        raise _NeedsWholeError
    if checked.notes:
        notes.add_all(checked.notes)
    read_split_header(wire, notes)
    run, parent, root = read_split_names(event, checked.job_name, notes)
    text = encode_canonical(_canonical_event(event, checked, notes))
    job = checked.job_name
    return CheckedEvent(text, run_key((root or parent or run).job), (Action.WRITE, job.namespace), notes.sorted())


def _canonical_event(event: SplitEvent, checked: _CheckedParts, notes: Notes) -> WireEvent:
    """The event with the canonical texts of its facets. Raises an error if a run facet needs a closer look."""
    wire = event.wire
    inputs: list[WireInput] | UnsetType = UNSET
    outputs: list[WireOutput] | UnsetType = UNSET
    if wire.inputs is not UNSET:
        inputs = [
            WireInput(
                one.namespace,
                one.name,
                text,
                _check_run_facets(one.run_facets, texts, (f"/inputs/{index}", "inputFacets"), notes),
            )
            for index, (one, text, texts) in enumerate(
                zip(wire.inputs, checked.inputs, event.input_facets, strict=True)
            )
        ]
    if wire.outputs is not UNSET:
        outputs = [
            WireOutput(
                one.namespace,
                one.name,
                text,
                _check_run_facets(one.run_facets, texts, (f"/outputs/{index}", "outputFacets"), notes),
            )
            for index, (one, text, texts) in enumerate(
                zip(wire.outputs, checked.outputs, event.output_facets, strict=True)
            )
        ]
    return WireEvent(
        WireRun(wire.run.runId, _check_run_facets(wire.run.facets, event.run_facets, ("/run", "facets"), notes)),
        WireJob(wire.job.namespace, wire.job.name, checked.job),
        wire.eventTime,
        wire.eventType,
        wire.producer,
        wire.schemaURL,
        inputs,
        outputs,
    )


def _check_parts(repeated: Repeated) -> _CheckedParts:
    job = _check_part("job", repeated.job)
    inputs = [_check_part("inputs", key) for key in repeated.inputs]
    outputs = [_check_part("outputs", key) for key in repeated.outputs]
    return _CheckedParts(
        job=job.text,
        inputs=tuple([one.text for one in inputs]),
        outputs=tuple([one.text for one in outputs]),
        needs=job.needs.union(*[one.needs for one in inputs], *[one.needs for one in outputs]),
        job_name=normalise_job(*repeated.job[:2]),
        notes=(*job.notes, *read_repeated_datasets(repeated)[2]),
    )


_check_parts_cached = lru_cache(maxsize=2_048)(_check_parts)


def _check_part(role: str, key: PartKey) -> _CheckedPart:
    return (_check_text_cached if len(key[2]) < _CACHED_BYTES else _check_text)(role, key)


def _check_text(role: str, key: PartKey) -> _CheckedPart:
    """Check a job, input or output. Raises an error if it needs a closer look."""
    namespace, name, source = key
    part: Json = {"namespace": namespace, "name": name}
    text: MaybeRaw = UNSET
    if source:
        part["facets"] = _decode(source)
        text = Raw(encode_canonical(part["facets"]))
    whole = encode_canonical(part)
    _require_plain(whole)
    notes = Notes()
    if role == "job":
        check_job(part, notes)
    return _CheckedPart(text, list_needs({role: part if role == "job" else [part]}, whole), notes.taken())


_check_text_cached = lru_cache(maxsize=2_048)(_check_text)


def _check_run_facets(given: MaybeFacets, texts: FacetTexts, place: Place, notes: Notes) -> MaybeFacets:
    """The canonical texts of facets that belong to the run only. `place`: the pointer of the object that has them,
    and its member. Raises an error if one needs a closer look.
    """
    if not given:
        return given
    canonical: dict[str, Raw] = {}
    for key, text in texts:
        check = _check_run_facet_cached if len(text) < _CACHED_BYTES else _check_run_facet
        canonical[key], found = check(place, key, text)
        if found:
            notes.add_all(found)
    return canonical


def _check_run_facet(place: Place, key: str, source: bytes) -> tuple[Raw, tuple[Note, ...]]:
    facet = read_run_facet(place, key, source)
    text = facet.facets[0].payload.encode() if facet.facets else encode_canonical(_decode(source))
    _require_plain(b"{%b:%b}" % (encode_canonical(key), text))
    return Raw(text), facet.notes


_check_run_facet_cached = lru_cache(maxsize=4_096)(_check_run_facet)


def _require_plain(text: bytes) -> None:
    """Raise an error if a text of JSON values may hold a secret, or nests too deep."""
    if find_suspect_kinds(text) or (count_brackets(text) > _MAX_DEPTH and is_deeper(_decode(text), _MAX_DEPTH)):
        raise _NeedsWholeError


def _may_assert(event: WireEvent, needs: frozenset[Need], authority: Authority) -> bool:
    if not all(authority.is_allowed(*need) for need in needs):
        return False
    job = {"namespace": event.job.namespace}
    return not is_forged({"producer": event.producer, "job": job}, authority)
