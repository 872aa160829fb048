"""Collecting events: read, check, append durably, answer. All else happens in the pipeline."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qs

import msgspec
from fastapi import Request, Response

from whence.api.bodies import INLINE_BYTES, BodyReader, Refusal
from whence.api.problems import problem
from whence.api.settings import Settings
from whence.errors import EventError, LogBusyError
from whence.log.commit import GroupCommit
from whence.log.quarantine import quarantined
from whence.log.record import Appended, Draft, Kind
from whence.openlineage.accept import accept
from whence.openlineage.transport import message_key

_MOST_COMMAS = 4_000_000
"""In a batch. Bounds the memory that splitting takes, before it is known how many events there are."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Checked:
    """A body as it goes into the log: an event, or quarantined with its error."""

    draft: Draft
    warnings: tuple[str, ...] = ()
    error: EventError | None = None


class Collector:
    """Takes events in, for one event loop. `counts` tells what became of them since the process began."""

    def __init__(self, settings: Settings, commit: GroupCommit) -> None:
        self._settings = settings
        self._commit = commit
        self._bodies = BodyReader(settings)
        self.counts: Counter[str] = Counter()

    async def one(self, request: Request) -> Response:
        """Take one event: 201 once it is durable. Raises LogError."""
        body = await self._bodies.read(request)
        if isinstance(body, Refusal):
            return await self._refuse(body)
        checked = await _beside(len(body), lambda: _check(body, _is_strict(request)))
        (appended,) = await self._commit.append((checked.draft,))
        wrong = _error(checked, appended)
        self._count(wrong, appended)
        if wrong:
            return _kept(wrong, appended)
        answer = {
            "position": str(appended.position),
            "key": checked.draft.key.hex(),
            "duplicate": appended.original is not None,
            "warnings": checked.warnings,
        }
        return Response(msgspec.json.encode(answer), 201, media_type="application/json")

    async def batch(self, request: Request) -> Response:
        """Take a JSON array of events: 200 with the result of each, once all are durable. Raises LogError."""
        body = await self._bodies.read(request)
        if isinstance(body, Refusal):
            return await self._refuse(body)
        try:
            results = await _beside(len(body), lambda: self._check_batch(body, _is_strict(request)))
        except EventError as error:
            return await self._refuse(Refusal(error.status, error.reason, body[: self._settings.kept_bytes]))
        appended = await self._commit.append([checked.draft for checked in results])
        errors = [_error(*each) for each in zip(results, appended, strict=True)]
        for wrong, place in zip(errors, appended, strict=True):
            self._count(wrong, place)
        headers = {"Whence-Position": str(appended[-1].position)} if appended else {}
        return Response(msgspec.json.encode(_batch_answer(errors)), 200, headers, "application/json")

    def _check_batch(self, body: bytes, strict: bool) -> list[_Checked]:
        return [_check(bytes(element), strict) for element in _split(body, self._settings.max_batch_events)]

    async def _refuse(self, refusal: Refusal) -> Response:
        """Answer a refused body, and keep what there is of it in quarantine."""
        if refusal.status == 503:
            raise LogBusyError(refusal.reason)
        self.counts["refused"] += 1
        error = EventError("", refusal.reason, refusal.status)
        if not refusal.kept:
            return problem(error.status, error.reason)
        checked = _quarantine(refusal.kept, error)
        (appended,) = await self._commit.append((checked.draft,))
        return _kept(error, appended)

    def _count(self, error: EventError | None, appended: Appended) -> None:
        outcome = "quarantined" if error else "duplicates" if appended.original else "events"
        self.counts[outcome] += 1


async def _beside(size: int, work: Callable[[], _T]) -> _T:
    """Do the work here if it is small, else in a thread, so that small requests need not wait for large ones."""
    return work() if size <= INLINE_BYTES else await asyncio.to_thread(work)


def _check(body: bytes, strict: bool) -> _Checked:
    try:
        accepted = accept(body, strict=strict)
    except EventError as error:
        return _quarantine(body, error)
    draft = Draft(
        kind=Kind.EVENT,
        key=bytes.fromhex(accepted.key),
        received_at=_now_micros(),
        payload=accepted.payload,
        owner=message_key(accepted.event),
    )
    return _Checked(draft, accepted.warnings)


def _quarantine(body: bytes, error: EventError) -> _Checked:
    return _Checked(quarantined(body, error, _now_micros()), error=error)


def _error(checked: _Checked, appended: Appended) -> EventError | None:
    """What is wrong with a body: what was found in it, or that the log cannot hold it."""
    return EventError("", appended.refused, 413) if appended.refused else checked.error


def _kept(error: EventError, appended: Appended) -> Response:
    headers = {"Accept-Encoding": "gzip"} if error.status == 415 else None
    return problem(error.status, error.reason, pointer=error.pointer, position=str(appended.position), headers=headers)


def _split(body: bytes, most: int) -> Sequence[msgspec.Raw]:
    """The elements of a JSON array, unread. Raises EventError."""
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


def _batch_answer(errors: Sequence[EventError | None]) -> dict[str, object]:
    """As OpenLineage.yml defines it. No failure is retriable: what may be, fails the whole request with 503."""
    failed = [{"index": index, "reason": str(error), "retriable": False} for index, error in enumerate(errors) if error]
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


def _is_strict(request: Request) -> bool:
    """`Whence-Strict: true`, or `?strict=true`."""
    query: bytes = request.scope["query_string"]
    asked = parse_qs(query.decode("latin-1")).get("strict", [""])[-1] if query else ""
    return (asked or request.headers.get("whence-strict", "")).lower() in ("true", "1", "yes")


def _now_micros() -> int:
    return time.time_ns() // 1000
