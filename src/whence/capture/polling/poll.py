"""One poll of a source: its records become events, and the cursor moves behind what the outbox keeps."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain

from whence.capture.polling.cursors import Cursors, Progress
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming, RecordCapture, Window
from whence_client.outbox import Outbox

_SAVE_EVERY = 200
"""Records between two saves of the cursor: each costs two syncs of the disk."""
_WAIT_SECONDS = 30.0
"""How long a poll waits for the collector when the outbox is half full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """What became of a poll. `flaws`: records that were not translated, and why, the first 100 of `unread`.

    `incomplete`: records whose events say in the facet `extractionError` that something is missing; `gaps` says what.
    """

    records: int = 0
    events: int = 0
    unread: int = 0
    flaws: tuple[str, ...] = ()
    incomplete: int = 0
    gaps: tuple[str, ...] = ()
    problem: str = ""
    """Why it ended early; empty if it did not."""


@dataclass(slots=True, kw_only=True)
class Poller:
    """Polls one source. `rate` is events a second, 0 for no limit. `slot` names another cursor, of a backfill."""

    capture: RecordCapture
    outbox: Outbox
    cursors: Cursors
    naming: Naming
    window: Window = field(default_factory=Window)
    rate: float = 0.0
    slot: str = ""
    pause: Callable[[float], None] = time.sleep
    _begun: Progress | None = None
    """The progress before the last poll."""

    def poll(self) -> Polled:
        """Read from the cursor to the end of the source. Never raises for what the source or a record does."""
        progress = self._begun = self._load()
        done = Polled()
        try:
            for record, cursor in self.capture.records(progress.cursor, self.window):
                if not self._has_room():
                    return self._end(
                        progress, replace(done, problem="the collector does not accept events; they wait in the outbox")
                    )
                events, flaw = self._translate(record)
                if not self._emit(events):
                    return self._end(
                        progress,
                        replace(done, problem="the outbox is full; events wait until the collector accepts them"),
                    )
                done = _counted(done, events, flaw)
                progress = replace(progress, cursor=cursor, last_event=_latest(progress.last_event, events))
                if done.records % _SAVE_EVERY == 0:
                    self._save(progress)
                self._keep_rate(events)
        except Exception as error:  # the source's own errors are as many as there are sources
            done = replace(done, problem=f"{type(error).__name__}: {error}")
        return self._end(progress, done)

    def note_refusal(self, problem: str, *, is_repeated: bool) -> None:
        """Record what the collector refused of the last poll. `is_repeated`: the next poll begins where that one began.

        An event that is sent twice counts once.
        """
        progress = self._begun if is_repeated and self._begun else self._load()
        self._end(progress, Polled(problem=problem))

    def _load(self) -> Progress:
        return self.cursors.load(self.capture.name + self.slot, self.capture.instance)

    def _translate(self, record: object) -> tuple[list[Json], str]:
        try:
            return list(self.capture.translate(record, self.naming)), ""
        except Exception as error:  # one record must not stop the others
            return [], f"{type(error).__name__}: {error}"

    def _emit(self, events: list[Json]) -> bool:
        kept = [self.outbox.emit(event) for event in events]
        return all(kept)

    def _has_room(self) -> bool:
        half = self.outbox.settings.outbox_bytes / 2
        return self.outbox.status().waiting < half or self.outbox.flush(_WAIT_SECONDS)

    def _keep_rate(self, events: list[Json]) -> None:
        if self.rate and events:
            self.pause(len(events) / self.rate)

    def _end(self, progress: Progress, done: Polled) -> Polled:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._save(replace(progress, polled=now, problem=done.problem))
        return done

    def _save(self, progress: Progress) -> None:
        if self.outbox.sync():
            self.cursors.save(progress)


def _counted(done: Polled, events: list[Json], flaw: str) -> Polled:
    gaps = _gaps(events)
    return replace(
        done,
        incomplete=done.incomplete + bool(gaps),
        gaps=tuple(dict.fromkeys((*done.gaps, *gaps))),
        records=done.records + 1,
        events=done.events + len(events),
        unread=done.unread + bool(flaw),
        flaws=(*done.flaws, flaw)[:100] if flaw else done.flaws,
    )


def _gaps(events: list[Json]) -> tuple[str, ...]:
    facets = (event.get("run", {}).get("facets", {}).get("extractionError", {}) for event in events)
    return tuple(one["errorMessage"] for facet in facets for one in facet.get("errors", ()))


def _latest(before: str, events: list[Json]) -> str:
    return max(chain((before,), (str(event.get("eventTime", "")) for event in events)))
