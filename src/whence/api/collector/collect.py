"""The collector: reads, checks and durably appends events, then answers. The pipeline does everything else."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from urllib.parse import parse_qs

import msgspec
from fastapi import Request, Response
from msgspec import UNSET
from starlette.types import Scope

from whence.api.auth.guard import viewer_of, withheld, wrote
from whence.api.auth.permissions import needs
from whence.api.collector.bodies import BodyReader, Refusal
from whence.api.collector.metrics import CollectorMetrics
from whence.api.collector.response_types import Accepted, BatchAccepted, FailedEvent, RestrictedEvent
from whence.api.http.client_address import client_address
from whence.api.http.problems import problem, unavailable
from whence.api.http.rate_limits import EventVolumes, Limits, Source, source_of, tally
from whence.api.settings import Settings
from whence.errors import AccessError, EventError, LogBusyError, LogError, RateLimitError
from whence.log.group_commit import GroupCommit
from whence.log.position import Position
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Appended, Draft, Kind
from whence.model.access import GRANT_COMMAND, OPEN, Action, Viewer
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import FULL, Authority, Need, person_uri
from whence.openlineage.json.split_event import SplitEvent, split_event

_BLANK = b" \t\r\n"
"""Whitespace around JSON. The log does not store it, so nobody fills a disk with highly compressed whitespace."""
_MOST_COMMAS = 4_000_000
"""The most parts of a batch: limits the memory of splitting, before the number of events is known."""


class _Checked(msgspec.Struct, frozen=True):
    """A body as it is appended: an event, or quarantined with its error."""

    draft: Draft
    need: Need
    """The required permissions of its sender; for a bad body as far as they are known, else in no namespace (empty)."""
    producer: str = ""
    subject: str = "job"
    """The subject of the event: `job` or `dataset`."""
    restricted: bool = False
    """Whether a part of it is not applied, because its sender is not entitled to it."""
    warnings: tuple[str, ...] = ()
    error: EventError | None = None


class Collector:
    """Accepts events, for one event loop. `counts` has the number of each outcome since the process began."""

    def __init__(self, settings: Settings, commit: GroupCommit) -> None:
        self._settings = settings
        self._commit = commit
        self._bodies = BodyReader(settings)
        self._limits = Limits(settings.rates)
        self.counts: Counter[str] = Counter()
        self.meters = CollectorMetrics()
        self.meters.watch("whence_queue_records", "Records that wait for the disk", lambda: commit.queued[0])
        self.meters.watch("whence_queue_bytes", "Bytes of these records", lambda: commit.queued[1])
        self.meters.watch("whence_held_bytes", "Large bodies in memory", lambda: self._bodies.held)

    @needs(Action.WRITE)
    async def one(self, request: Request) -> Response:
        """Accept one event. The answer is 201 once it is durable.

        Raises LogError, RateLimitError.
        """
        return await self._entered(request, self._one)

    @needs(Action.WRITE)
    async def batch(self, request: Request) -> Response:
        """Accept a JSON array of events. The answer is 200 with the result of each, once all are durable.

        Raises LogError, RateLimitError.
        """
        return await self._entered(request, self._batch)

    async def take(self, bodies: Sequence[bytes], authority: Authority) -> tuple[Position, ...]:
        """Append events that Whence builds from a person's request. Returns their positions, once all are durable.

        `authority` is that person's. Raises EventError for the first rejected event (then none is appended), LogError.
        """
        results = [_check(body, authority) for body in bodies]
        if wrong := next((one.error for one in results if one.error), None):
            raise wrong
        return tuple([appended.position for appended, _ in await self._append(results)])

    def close(self) -> None:
        """End the threads."""
        self._bodies.close()

    async def _entered(
        self, request: Request, take: Callable[[Request, "_Head", bytes], Awaitable[Response]]
    ) -> Response:
        """Apply the rate limit of the peer, read the body, and release it after the answer."""
        head = _read_head(request.scope)
        await _hold_back(self._limits.at_door(head.peer, head.announced))
        body = await self._bodies.read(request, head.encoding)
        try:
            if isinstance(body, Refusal):
                return await self._refuse(body)
            return await take(request, head, body)
        finally:
            self._bodies.release(body)

    async def _one(self, request: Request, head: "_Head", body: bytes) -> Response:
        split, source = await self._bodies.beside(len(body), lambda: _split_one(body))
        await _hold_back(self._limits.inside(head.peer, {source: (1, len(body))}, head.announced))
        authority = authority_of(viewer_of(request))
        checked = await self._bodies.beside(len(body), lambda: _check(body, authority, strict=head.strict, split=split))
        if not _may(request, checked):
            raise AccessError(_foreign(checked), 403)
        ((appended, wrong),) = await self._append((checked,))
        _note(request, (checked,))
        if wrong:
            return _kept(wrong, appended)
        answer: Accepted = {
            "position": str(appended.position),
            "key": checked.draft.key.hex(),
            "duplicate": appended.original is not None,
            "warnings": list(checked.warnings),
        }
        if checked.restricted:
            answer["restricted"] = True
        return _Created(msgspec.json.encode(answer))

    async def _batch(self, request: Request, head: "_Head", body: bytes) -> Response:
        try:
            elements, volumes = await self._bodies.beside(len(body), lambda: self._split(body))
        except EventError as error:
            return await self._refuse(Refusal(error.status, error.reason, body[: self._settings.kept_bytes]))
        await _hold_back(self._limits.inside(head.peer, volumes, head.announced))
        authority = authority_of(viewer_of(request))
        results = await self._bodies.beside(
            len(body), lambda: [_check(bytes(one), authority, strict=head.strict) for one in elements]
        )
        taken = [one for one in results if _may(request, one)]
        appended = await self._append(taken)
        _note(request, taken)
        headers = {"Whence-Position": str(appended[-1][0].position)} if appended else {}
        outcomes = iter(appended)
        errors = [next(outcomes)[1] if _may(request, one) else _refused(one) for one in results]
        answer = _batch_answer(errors)
        if restricted := _restricted(results):
            answer["restricted"] = restricted
        return Response(msgspec.json.encode(answer), 200, headers, "application/json")

    def _split(self, body: bytes) -> tuple[Sequence[msgspec.Raw], EventVolumes]:
        elements = _split(body, self._settings.max_batch_events)
        return elements, tally(elements)

    async def _refuse(self, refusal: Refusal) -> Response:
        """Answer a rejected body, and quarantine the part that was read."""
        if refusal.status == 503:
            raise LogBusyError(refusal.reason)
        self.counts["refused"] += 1
        self.meters.refused(_WHY.get(refusal.status, "unreadable"))
        error = EventError("", refusal.reason, refusal.status)
        if not refusal.kept:
            return problem(error.status, error.reason)
        ((appended, _),) = await self._append((_quarantine(refusal.kept, error),))
        return _kept(error, appended)

    async def _append(self, results: Sequence[_Checked]) -> list[tuple[Appended, EventError | None]]:
        """Append to the log, and count what became durable: the position of each, and its error."""
        began = time.perf_counter()
        appended = await self._commit.append([checked.draft for checked in results])
        self.meters.appended(time.perf_counter() - began)
        outcomes = [(place, _error(checked, place)) for checked, place in zip(results, appended, strict=True)]
        for checked, (place, wrong) in zip(results, outcomes, strict=True):
            outcome = "quarantined" if wrong else "duplicates" if place.original else "events"
            self.counts[outcome] += 1
            self.meters.event(_OUTCOMES[outcome], checked.producer, len(checked.draft.payload))
            if checked.restricted:
                self.meters.restricted(checked.producer)
        return outcomes

    def unavailable(self, error: LogError | RateLimitError) -> Response:
        """Answer a request of which nothing was accepted, and count it."""
        self.counts["unavailable"] += 1
        self.meters.refused(error.door if isinstance(error, RateLimitError) else "unavailable")
        return unavailable(error)


_OUTCOMES = {"events": "accepted", "duplicates": "duplicate", "quarantined": "quarantined"}
_WHY = {408: "slow", 413: "large", 415: "encoding"}


async def _hold_back(seconds: float) -> None:
    if seconds:
        await asyncio.sleep(seconds)


class _Created(Response):
    """A 201. Starlette would take longer to list its two headers than to send it."""

    def __init__(self, body: bytes) -> None:
        self.status_code, self.background, self.body = 201, None, body
        self.raw_headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]


class _Head(msgspec.Struct, frozen=True):
    """The parts of a request's head that the collector reads."""

    peer: str
    announced: int
    """The bytes of the body, as declared; 0 if they are not."""
    encoding: str
    strict: bool
    """Asked for by `Whence-Strict: true` or `?strict=true`."""


def _read_head(scope: Scope) -> _Head:
    headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))  # of several with one name the first applies
    length = headers.get(b"content-length", b"").decode("latin-1")
    query: bytes = scope["query_string"]
    in_query = parse_qs(query.decode("latin-1")).get("strict", [""])[-1] if query else ""
    strict = in_query or headers.get(b"whence-strict", b"").decode("latin-1")
    return _Head(
        peer=client_address(scope),
        announced=int(length) if length.isdecimal() and len(length) < 12 else 0,
        encoding=headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower(),
        strict=strict.lower() in ("true", "1", "yes"),
    )


def _split_one(body: bytes) -> tuple[SplitEvent | None, Source]:
    """Split an event's body, if it can be split, and find its source."""
    split = split_event(body)
    if split is None:
        return None, source_of(body)
    producer = split.wire.producer
    return split, Source("" if producer is UNSET else producer, split.wire.job.namespace)


def _check(body: bytes, authority: Authority, *, strict: bool = False, split: SplitEvent | None = None) -> _Checked:
    """Check a body. `split` is the event in it, if it was split before."""
    body = body.strip(_BLANK)
    try:
        accepted = accept(body, strict=strict, authority=authority, split=split)
    except EventError as error:
        return _quarantine(body, error)
    draft = Draft(
        kind=Kind.EVENT,
        key=bytes.fromhex(accepted.key),
        received_at=_now_micros(),
        payload=accepted.payload,
        owner=accepted.owner,
    )
    return _Checked(draft, accepted.need, accepted.producer, accepted.subject, accepted.restricted, accepted.warnings)


def _quarantine(body: bytes, error: EventError) -> _Checked:
    source = source_of(body)
    need = (Action.WRITE, source.namespace)
    return _Checked(make_quarantine_draft(body, error, _now_micros()), need, source.producer, error=error)


@lru_cache(maxsize=1_024)
def authority_of(viewer: Viewer) -> Authority:
    """The authority of a caller, who may be the producer only as themselves."""
    if viewer == OPEN:
        return FULL
    own = person_uri(viewer.name)
    return Authority(viewer.is_allowed, lambda producer, _: producer == own)


def _may(request: Request, checked: _Checked) -> bool:
    """Whether the sender may send it. A body that names no namespace is only quarantined."""
    action, namespace = checked.need
    return viewer_of(request).is_allowed(action, namespace or None)


def _foreign(checked: _Checked) -> str:
    action, namespace = checked.need
    return f"no grant to {action} in the namespace {namespace[:200]!r} (`{GRANT_COMMAND}`)"


def _refused(checked: _Checked) -> EventError:
    return EventError(f"/{checked.subject}/namespace", _foreign(checked), 403)


def _note(request: Request, taken: Sequence[_Checked]) -> None:
    for one in taken:
        wrote(request, one.need[1], 1)
    for one in taken:
        if one.restricted:  # its first warning is about the event as a whole
            withheld(request, one.warnings[0].removeprefix("/: "))


def _error(checked: _Checked, appended: Appended) -> EventError | None:
    """The error of a body: one found in it, or that the log cannot store it."""
    return EventError("", appended.refused, 413) if appended.refused else checked.error


def _kept(error: EventError, appended: Appended) -> Response:
    headers = {"Accept-Encoding": "gzip"} if error.status == 415 else None
    return problem(error.status, error.reason, pointer=error.pointer, position=str(appended.position), headers=headers)


def _split(body: bytes, most: int) -> Sequence[msgspec.Raw]:
    """The elements of a JSON array, not decoded. Raises EventError."""
    if body.count(b",") > _MOST_COMMAS:
        raise EventError("", "the batch has too many parts; send smaller ones", 413)
    try:
        elements = msgspec.json.decode(body, type=list[msgspec.Raw])
    except msgspec.ValidationError:
        raise EventError("", "a batch is a JSON array of events", 422) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EventError("", f"the batch is not JSON: {error}", 400) from None
    except RecursionError:
        raise EventError("", "the batch nests too deep", 400) from None
    if len(elements) > most:
        raise EventError("", f"the batch has {len(elements)} events; the limit is {most}", 413)
    return elements


def _batch_answer(errors: Sequence[EventError | None]) -> BatchAccepted:
    """The answer that OpenLineage.yml defines. No failure is retriable: a retriable one fails the whole request with
    503.
    """
    failed: list[FailedEvent] = [
        {"index": index, "reason": str(error), "retriable": False} for index, error in enumerate(errors) if error
    ]
    return {
        "status": "partial_success" if failed else "success",
        "summary": {
            "received": len(errors),
            "successful": len(errors) - len(failed),
            "failed": len(failed),
            "retriable": 0,
            "non_retriable": len(failed),
        },
        "failed_events": failed,
    }


def _restricted(results: Sequence[_Checked]) -> list[RestrictedEvent]:
    """The parts of a batch that are not applied; OpenLineage's answer has no member for them."""
    return [{"index": index, "warnings": list(one.warnings)} for index, one in enumerate(results) if one.restricted]


def _now_micros() -> int:
    return time.time_ns() // 1000
