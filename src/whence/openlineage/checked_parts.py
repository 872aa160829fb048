"""Checks of a split event: what it needs to be accepted, from facets that are decoded once per distinct text.

An event of which a part needs more (it may hold a secret, its sender lacks a role, it nests deep, its producer names
files in its own way) is decoded whole, by the one path that decides about these.
"""

from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from whence.errors import EventError
from whence.model.access import Action
from whence.model.names import JobName
from whence.openlineage.authority.governed_parts import is_forged, list_needs
from whence.openlineage.authority.restrictions import FULL, Authority, Need
from whence.openlineage.datasets import read_repeated_datasets
from whence.openlineage.facets.facets import note_deleted, read_facets
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.split_event import (
    DatasetKeys,
    FacetTexts,
    MaybeFacets,
    MaybeRaw,
    PartKey,
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
from whence.openlineage.run_facets import Place

_MAX_DEPTH = MAX_DEPTH - 4
"""The maximum depth of facets: they are inside an event, a list and a dataset."""

_CACHED_BYTES = 32_768
"""The results of longer texts are not cached, so that large events do not fill the memory."""

_CACHED_HEADER = 1_000
"""The same for the texts of a header."""

_decode = msgspec.json.Decoder().decode
_Dataset = TypeVar("_Dataset", WireInput, WireOutput)


class _NeedsWholeError(Exception):
    """The event must be decoded whole."""


class CheckedEvent(msgspec.Struct, frozen=True):
    """An event that is accepted unchanged: its canonical JSON, its message key, and the reader's warnings."""

    text: bytes
    owner: str
    need: Need
    warnings: tuple[str, ...]


class _CheckedJob(msgspec.Struct, frozen=True):
    """A job that holds no secret: its name, the canonical text of its facets, the needs of what it asserts, and the
    reader's warnings.
    """

    name: JobName
    text: MaybeRaw
    needs: frozenset[Need]
    notes: tuple[Note, ...]


class _CheckedDatasets(msgspec.Struct, frozen=True):
    """The same for all inputs and outputs of an event together, because the warnings of one depend on the others."""

    inputs: tuple[MaybeRaw, ...]
    outputs: tuple[MaybeRaw, ...]
    needs: frozenset[Need]
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
    wire, notes = event.wire, Notes()
    _check_header(wire)
    job = (_check_job_cached if len(event.job[2]) < _CACHED_BYTES else _check_job)(event.job)
    datasets = (_check_datasets_cached if event.datasets.size < _CACHED_BYTES else _check_datasets)(event.datasets)
    if authority is not FULL and not _may_assert(wire, job.needs | datasets.needs, authority):
        raise _NeedsWholeError
    notes.add_all(job.notes)
    notes.add_all(datasets.notes)
    read_split_header(wire, notes)
    run, parent, root = read_split_names(event, job.name, notes)
    text = encode_canonical(_canonical_event(event, job, datasets, notes))
    return CheckedEvent(text, run_key((root or parent or run).job), (Action.WRITE, job.name.namespace), notes.sorted())


def _check_header(wire: WireEvent) -> None:
    """Check the header's texts. A time and a UUID hold no secret, and anything else in their place is an error."""
    texts = tuple([text for text in (wire.eventType, wire.producer, wire.schemaURL) if text is not UNSET])
    (_check_texts_cached if sum(map(len, texts)) < _CACHED_HEADER else _check_texts)(texts)


def _check_texts(texts: tuple[str, ...]) -> None:
    _require_plain(encode_canonical(texts))


_check_texts_cached = lru_cache(maxsize=256)(_check_texts)


def _canonical_event(event: SplitEvent, job: _CheckedJob, datasets: _CheckedDatasets, notes: Notes) -> WireEvent:
    """The event with the canonical texts of its facets. Raises an error if a run facet needs a closer look."""
    wire = event.wire
    return WireEvent(
        WireRun(wire.run.runId, _check_run_facets(wire.run.facets, event.run_facets, ("/run", "facets"), notes)),
        WireJob(wire.job.namespace, wire.job.name, job.text),
        wire.eventTime,
        wire.eventType,
        wire.producer,
        wire.schemaURL,
        _canonical_datasets(WireInput, wire.inputs, datasets.inputs, event.input_facets, notes),
        _canonical_datasets(WireOutput, wire.outputs, datasets.outputs, event.output_facets, notes),
    )


def _canonical_datasets(
    kind: type[_Dataset],
    given: list[_Dataset] | UnsetType,
    facets: tuple[MaybeRaw, ...],
    run_facets: tuple[FacetTexts, ...],
    notes: Notes,
) -> list[_Dataset] | UnsetType:
    if given is UNSET:
        return UNSET
    role = "input" if kind is WireInput else "output"
    return [
        kind(
            one.namespace,
            one.name,
            text,
            _check_run_facets(one.run_facets, texts, (f"/{role}s/{index}", f"{role}Facets"), notes),
        )
        for index, (one, text, texts) in enumerate(zip(given, facets, run_facets, strict=True))
    ]


def _check_job(key: PartKey) -> _CheckedJob:
    part, text, whole = _check_part(key)
    notes = Notes()
    check_job(part, notes)
    return _CheckedJob(normalise_job(*key[:2]), text, list_needs({"job": part}, whole), notes.taken())


_check_job_cached = lru_cache(maxsize=2_048)(_check_job)


def _check_datasets(keys: DatasetKeys) -> _CheckedDatasets:
    inputs, outputs = (
        [(_check_dataset_cached if len(key[2]) < _CACHED_BYTES else _check_dataset)(role, key) for key in of_role]
        for role, of_role in (("inputs", keys.inputs), ("outputs", keys.outputs))
    )
    return _CheckedDatasets(
        inputs=tuple([text for text, _ in inputs]),
        outputs=tuple([text for text, _ in outputs]),
        needs=frozenset[Need]().union(*[needs for _, needs in (*inputs, *outputs)]),
        notes=read_repeated_datasets(keys)[2],
    )


_check_datasets_cached = lru_cache(maxsize=2_048)(_check_datasets)


def _check_dataset(role: str, key: PartKey) -> tuple[MaybeRaw, frozenset[Need]]:
    part, text, whole = _check_part(key)
    return text, list_needs({role: [part]}, whole)


_check_dataset_cached = lru_cache(maxsize=2_048)(_check_dataset)


def _check_part(key: PartKey) -> tuple[Json, MaybeRaw, bytes]:
    """A job, input or output, decoded; the canonical text of its facets; and its own. Raises an error if it needs a
    closer look.
    """
    namespace, name, source = key
    part: Json = {"namespace": namespace, "name": name}
    text: MaybeRaw = UNSET
    if source:
        facets = _decode(source)
        text = Raw(encode_canonical(facets))
        whole = encode_canonical(part | {"facets": text})
        part["facets"] = facets
    else:
        whole = encode_canonical(part)
    _require_plain(whole)
    return part, text, whole


def _check_run_facets(given: MaybeFacets, texts: FacetTexts, place: Place, notes: Notes) -> MaybeFacets:
    """The canonical texts of facets that belong to the run only. `place`: the pointer of the object that has them,
    and its member. Raises an error if one needs a closer look.
    """
    if not texts:
        return given
    canonical: dict[str, Raw] = {}
    for key, text in texts:
        check = _check_run_facet_cached if len(text) < _CACHED_BYTES else _check_run_facet
        canonical[key], found = check(place, key, text)
        if found:
            notes.add_all(found)
    return canonical


def _check_run_facet(place: Place, key: str, source: bytes) -> tuple[Raw, tuple[Note, ...]]:
    (at, member), notes, facet = place, Notes(), _decode(source)
    note_deleted(read_facets({member: {key: facet}}, member, at, notes), f"{at}/{member}", notes)
    text = encode_canonical(facet)
    _require_plain(b"{%b:%b}" % (encode_canonical(key), text))
    return Raw(text), notes.taken()


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
