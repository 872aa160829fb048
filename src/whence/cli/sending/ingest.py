"""Sends events from files: JSON, JSON lines, gzip of either, or directories of them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whence.cli.client import Client, refusal
from whence.cli.event_files import EventText, find_event_files, is_json, read_events

_BATCH_EVENTS = 500
_BATCH_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Failure:
    """A rejected event: its place (`file:line` or `file[index]`), and the reason."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """The outcomes of the events so far. `position` is that of the last one in the log; empty if there is none."""

    files: int = 0
    events: int = 0
    failures: tuple[Failure, ...] = ()
    restricted: int = 0
    """Accepted events of which a part is not applied, since the sender may not assert it."""
    withheld: str = ""
    """The place of the first of them, and the part that is not applied."""
    seconds: float = 0.0
    position: str = ""

    @property
    def accepted(self) -> int:
        """The number of durable events."""
        return self.events - len(self.failures)

    def __str__(self) -> str:
        speed = f", {self.events / self.seconds:.0f}/s" if self.seconds else ""
        files = f"{self.files} file{'s' * (self.files != 1)}"
        return f"{self.accepted} of {self.events} events accepted from {files}{speed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """The outcome of a batch. `position`: of the last event that is in the log."""

    failures: tuple[Failure, ...] = ()
    restricted: tuple[str, ...] = ()
    position: str = ""


def ingest(
    paths: Sequence[Path],
    url: str,
    *,
    strict: bool = False,
    patience: float = 60,
    report: Callable[[Ingested], None] = lambda _: None,
) -> Ingested:
    """Send all events of the files, and return their outcomes; `report` is called after every batch.

    Raises ApiError if the API stays unreachable for `patience` seconds, OSError if a file cannot be read.
    """
    began = time.monotonic()
    done = Ingested()
    client = Client(url, patience=patience)
    query = "?strict=true" if strict else ""
    try:
        for path in find_event_files(paths):
            done = replace(done, files=done.files + 1)
            for batch in _batches(read_events(path)):
                done = _with(done, len(batch), _send(client, batch, query), time.monotonic() - began)
                report(done)
    finally:
        client.close()
    return done


def _with(done: Ingested, events: int, sent: _Sent, seconds: float) -> Ingested:
    return replace(
        done,
        events=done.events + events,
        failures=done.failures + sent.failures,
        restricted=done.restricted + len(sent.restricted),
        withheld=done.withheld or next(iter(sent.restricted), ""),
        seconds=seconds,
        position=sent.position or done.position,
    )


def _batches(elements: Iterable[EventText]) -> Iterator[list[EventText]]:
    """Batches of events, up to a count and a size. Invalid JSON is sent separately, since it would spoil the array."""
    batch: list[EventText] = []
    size = 0
    for element in elements:
        alone = not is_json(element.body)
        if batch and (alone or len(batch) == _BATCH_EVENTS or size + len(element.body) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        if alone:
            yield [element]
            continue
        batch.append(element)
        size += len(element.body)
    if batch:
        yield batch


def _send(client: Client, batch: Sequence[EventText], query: str) -> _Sent:
    if len(batch) == 1:
        return _send_one(client, batch[0], query)
    body = b"[" + b",".join(element.body for element in batch) + b"]"
    reply = client.post(f"/api/v1/lineage/batch{query}", body)
    if reply.status != 200:
        parts = [_send_one(client, element, query) for element in batch]
        return _Sent(
            failures=tuple(one for part in parts for one in part.failures),
            restricted=tuple(one for part in parts for one in part.restricted),
            position=parts[-1].position,
        )
    answer = reply.json
    return _Sent(
        failures=tuple(Failure(batch[one["index"]].place, one["reason"]) for one in answer["failed_events"]),
        restricted=tuple(_withheld(batch[one["index"]], one) for one in answer.get("restricted", ())),
        position=reply.headers.get("whence-position", ""),
    )


def _send_one(client: Client, element: EventText, query: str) -> _Sent:
    reply = client.post(f"/api/v1/lineage{query}", element.body)
    position = reply.json.get("position") or ""
    if reply.status == 201:
        restricted = (_withheld(element, reply.json),) if reply.json.get("restricted") else ()
        return _Sent(restricted=restricted, position=position)
    reason = refusal(reply) if is_json(element.body) else "not valid JSON; it is kept in quarantine"
    return _Sent(failures=(Failure(element.place, reason),), position=position)


def _withheld(element: EventText, restricted: Mapping[str, Any]) -> str:
    """The warning about the event as a whole, which the collector puts first."""
    return f"{element.place}: {next(iter(restricted['warnings']), '').removeprefix('/: ')}"
