"""The events behind the edges of a pack, as the log has them, and as far as one viewer may see them.

An event whose values are not all shown is *cut*: what is shown of it is what the API shows (`query.visibility.events`),
and each value that is left out is a hash (`leaves`).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from whence.govern.evidence.leaves import Leaf, hash_event, leaves_of, seed_of, values_in
from whence.log import Kind, Position, Record
from whence.model.graph import AssertingEvent
from whence.openlineage.json.wire import Json, decode
from whence.query.answers.instants import iso
from whence.query.visibility.events import shown_event
from whence.query.visibility.pseudonyms import HIDDEN
from whence.query.visibility.visible_ids import VisibleIds

ReadRecords = Callable[[Sequence[Position]], Sequence[Record | None]]
"""Reads the records of the log at some positions; None: it does not have one any more."""

_AT_ONCE = 2_000
"""Records that are read and kept in memory at a time."""


class EventState(StrEnum):
    """How much of an event a pack has."""

    WHOLE = "whole"
    CUT = "cut"
    """Values that the viewer may not see are left out; their hashes are there."""
    MISSING = "missing"
    """The log does not have the event any more, because retention deleted it or it is damaged."""
    HIDDEN = "hidden"
    """The viewer may not see what the event is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackEvent:
    """An event of a pack. `payload` is what is shown of it, `leaves` its leaves, `shown` which of them are shown."""

    source: AssertingEvent
    state: EventState
    received_at: int | None = None
    payload: Json | None = None
    seed: str = ""
    leaves: tuple[Leaf, ...] = ()
    shown: frozenset[str] = frozenset()
    """The hashes of the leaves that are shown."""

    @property
    def hash(self) -> str | None:
        """The hash of the whole event; None if the pack has nothing of it."""
        return hash_event(one.hash for one in self.leaves) if self.leaves else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReader:
    """Reads events for one viewer. `visible_ids` is None if nothing is hidden from them."""

    read_records: ReadRecords
    visible_ids: VisibleIds | None
    secret: bytes

    def read(self, events: Iterable[AssertingEvent]) -> Iterator[PackEvent]:
        """The events by key, each once. Raises LogError."""
        ordered = sorted({one.key: one for one in events}.items())
        several = [one for _, one in ordered]
        for start in range(0, len(several), _AT_ONCE):
            yield from self._read_page(several[start : start + _AT_ONCE])

    def _read_page(self, events: Sequence[AssertingEvent]) -> Iterator[PackEvent]:
        known = [one for one in events if one.position is not None]
        positions = [Position.from_int(one.position) for one in known if one.position is not None]
        records = dict(zip((one.key for one in known), self.read_records(positions), strict=True))
        return (self._event(one, records.get(one.key)) for one in events)

    def _event(self, one: AssertingEvent, record: Record | None) -> PackEvent:
        if one.producer == HIDDEN and one.position is None:
            return PackEvent(source=one, state=EventState.HIDDEN)
        if record is None or record.kind is not Kind.EVENT or record.key != one.key:
            return PackEvent(source=one, state=EventState.MISSING)
        event, seed = decode(record.payload), seed_of(self.secret, one.key)
        leaves = leaves_of(event, seed)
        payload = event if self.visible_ids is None else json.loads(shown_event(self.visible_ids, record.payload))
        shown = _shown(leaves, dict(values_in(payload)))
        is_whole = len(shown) == len(leaves)
        return PackEvent(
            source=one,
            state=EventState.WHOLE if is_whole else EventState.CUT,
            received_at=record.received_at,
            payload=event if is_whole else payload,
            seed=seed if is_whole else "",
            leaves=leaves,
            shown=shown,
        )


def _shown(leaves: Iterable[Leaf], values: Mapping[str, bytes]) -> frozenset[str]:
    """The leaves of an event that are in what a viewer sees of it: the same value at the same place."""
    return frozenset(one.hash for one in leaves if values.get(one.pointer) == one.value)


def event_document(one: PackEvent) -> Json:
    """An event as a line of `events.jsonl`."""
    position = one.source.position
    return {
        "event": one.source.key,
        "state": one.state.value,
        "time": iso(one.source.time),
        "producer": one.source.producer,
        "position": None if position is None else str(Position.from_int(position)),
        "received_at": None if one.received_at is None else iso(one.received_at),
        "hash": one.hash,
        "payload": one.payload,
    }


def leaves_document(one: PackEvent) -> Json:
    """The leaves of an event as a line of `leaves.jsonl`: the seed of a whole event; else each leaf that is shown, and
    the hashes of the others.
    """
    head = {"event": one.source.key, "hash": one.hash}
    if one.state is EventState.WHOLE:
        return {**head, "seed": one.seed}
    return {
        **head,
        "leaves": [one_leaf.line for one_leaf in one.leaves if one_leaf.hash in one.shown],
        "hashes": [one_leaf.hash for one_leaf in one.leaves if one_leaf.hash not in one.shown],
    }
