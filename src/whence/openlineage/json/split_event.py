"""Events split in one pass: their regular members, with facets that are not decoded yet.

Producers repeat most facets from event to event, so what follows from a facet's text is computed once for equal texts.
"""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Raw, UnsetType

from whence.openlineage.json.interning import WIDE_BYTES

MaybeRaw = Raw | UnsetType
MaybeText = str | UnsetType
MaybeFacets = dict[str, Raw] | None | UnsetType


class WireInput(msgspec.Struct, forbid_unknown_fields=True):
    """An input. Its `facets` repeat from event to event; its `run_facets` do not."""

    namespace: str
    name: str
    facets: MaybeRaw = UNSET
    run_facets: MaybeFacets = msgspec.field(name="inputFacets", default=UNSET)


class WireOutput(msgspec.Struct, forbid_unknown_fields=True):
    """An output, likewise."""

    namespace: str
    name: str
    facets: MaybeRaw = UNSET
    run_facets: MaybeFacets = msgspec.field(name="outputFacets", default=UNSET)


class WireJob(msgspec.Struct, forbid_unknown_fields=True):
    """A job."""

    namespace: str
    name: str
    facets: MaybeRaw = UNSET


class WireRun(msgspec.Struct, forbid_unknown_fields=True):
    """A run."""

    runId: str
    facets: MaybeFacets = UNSET


class WireEvent(msgspec.Struct, forbid_unknown_fields=True):
    """A run event of the specification's shape."""

    run: WireRun
    job: WireJob
    eventTime: MaybeText = UNSET
    eventType: MaybeText = UNSET
    producer: MaybeText = UNSET
    schemaURL: MaybeText = UNSET
    inputs: list[WireInput] | UnsetType = UNSET
    outputs: list[WireOutput] | UnsetType = UNSET


PartKey = tuple[str, str, bytes]
"""The namespace and name of a job, input or output, and the JSON of its facets; empty if it has no such member."""

FacetTexts = tuple[tuple[str, bytes], ...]
"""Keys and JSON of facets, ordered by key."""


class DatasetKeys(msgspec.Struct, frozen=True, eq=True):
    """The inputs and outputs of an event, as the key of a cache: most events of a job repeat them."""

    inputs: tuple[PartKey, ...]
    outputs: tuple[PartKey, ...]
    size: int
    """The bytes of their facets."""


class SplitEvent(msgspec.Struct, frozen=True):
    """A run event, split: the members as they came, and their facets by how often they change."""

    wire: WireEvent
    job: PartKey
    datasets: DatasetKeys
    run_facets: FacetTexts
    input_facets: tuple[FacetTexts, ...]
    """The `inputFacets` of each input."""
    output_facets: tuple[FacetTexts, ...]


_decode = msgspec.json.Decoder(WireEvent).decode


def split_event(body: bytes) -> SplitEvent | None:
    """Split a run event. Returns None for everything else: broken JSON, other events, members that the specification
    does not have or not so, and events so large that their parts repeat inside. Such bodies are decoded whole.
    """
    if len(body) >= WIDE_BYTES:
        return None
    try:
        wire = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    inputs, outputs = wire.inputs or (), wire.outputs or ()
    return SplitEvent(
        wire,
        (wire.job.namespace, wire.job.name, _bytes_of(wire.job.facets)),
        _keys_of(inputs, outputs),
        _texts_of(wire.run.facets),
        tuple([_texts_of(one.run_facets) for one in inputs]),
        tuple([_texts_of(one.run_facets) for one in outputs]),
    )


def _keys_of(inputs: Sequence[WireInput], outputs: Sequence[WireOutput]) -> DatasetKeys:
    read = tuple([(one.namespace, one.name, _bytes_of(one.facets)) for one in inputs])
    written = tuple([(one.namespace, one.name, _bytes_of(one.facets)) for one in outputs])
    return DatasetKeys(read, written, sum([len(facets) for *_, facets in (*read, *written)]))


def _bytes_of(facets: MaybeRaw) -> bytes:
    return b"" if facets is UNSET else bytes(facets)


def _texts_of(facets: MaybeFacets) -> FacetTexts:
    return tuple([(key, bytes(facets[key])) for key in sorted(facets)]) if facets else ()
