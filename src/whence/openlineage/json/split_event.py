"""Events split in one pass: their regular members, with facets that are not decoded yet.

Producers repeat most facets from event to event, so what follows from a facet's text is computed once for equal texts.
"""

import msgspec
from msgspec import UNSET, Raw, UnsetType

from whence.openlineage.json.interning import WIDE_BYTES

MaybeRaw = Raw | UnsetType
MaybeText = str | UnsetType


class SplitInput(msgspec.Struct, forbid_unknown_fields=True):
    """An input. Its `facets` repeat from event to event; its `run_facets` do not."""

    namespace: str
    name: str
    facets: MaybeRaw = UNSET
    run_facets: MaybeRaw = msgspec.field(name="inputFacets", default=UNSET)


class SplitOutput(msgspec.Struct, forbid_unknown_fields=True):
    """An output, likewise."""

    namespace: str
    name: str
    facets: MaybeRaw = UNSET
    run_facets: MaybeRaw = msgspec.field(name="outputFacets", default=UNSET)


class SplitJob(msgspec.Struct, forbid_unknown_fields=True):
    """A job."""

    namespace: str
    name: str
    facets: MaybeRaw = UNSET


class SplitRun(msgspec.Struct, forbid_unknown_fields=True):
    """A run."""

    runId: str
    facets: MaybeRaw = UNSET


class SplitEvent(msgspec.Struct, forbid_unknown_fields=True):
    """A run event of the specification's shape."""

    run: SplitRun
    job: SplitJob
    eventTime: MaybeText = UNSET
    eventType: MaybeText = UNSET
    producer: MaybeText = UNSET
    schemaURL: MaybeText = UNSET
    inputs: list[SplitInput] | UnsetType = UNSET
    outputs: list[SplitOutput] | UnsetType = UNSET


_decode = msgspec.json.Decoder(SplitEvent).decode


def split_event(body: bytes) -> SplitEvent | None:
    """Split a run event. Returns None for everything else: broken JSON, other events, members that the specification
    does not have or not so, and events so large that their parts repeat inside. Such bodies are decoded whole.
    """
    if len(body) >= WIDE_BYTES:
        return None
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def source_of(facets: MaybeRaw) -> bytes:
    """The JSON of facets; empty if there are none."""
    return b"" if facets is UNSET else bytes(facets)
