"""Events that did not fit into the outbox: counted by run, and reported as an incomplete extraction of that run."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from threading import Lock

from whence_client.events.facets import Event, own_facet
from whence_client.events.runs import OTHER, RunRef, extraction_error_facet, run_event

_RUNS = 100
"""Runs that are counted apart; the losses of later ones are counted together."""


class Losses:
    """Counts of lost events, and whether some are not reported yet. Safe for threads."""

    def __init__(self) -> None:
        self.total = 0
        self._lock = Lock()
        self._counts: dict[RunRef, int] = {}
        self._others = 0

    def add(self, line: bytes) -> None:
        """Count a lost event."""
        run = _run_of(line)
        with self._lock:
            self.total += 1
            if run is not None and (run in self._counts or len(self._counts) < _RUNS):
                self._counts[run] = self._counts.get(run, 0) + 1
            else:
                self._others += 1

    def __bool__(self) -> bool:
        return bool(self._counts)

    def take(self) -> list[Event]:
        """The events that report the losses since the last call."""
        now = datetime.now(timezone.utc)
        with self._lock:
            counts, self._counts = self._counts, {}
            others, self._others = self._others, 0
        events = [_loss_event(run, count, now) for run, count in counts.items()]
        if events and others:
            facets = events[-1]["run"]["facets"]
            facets["whence_lostEvents"]["others"] = others
        return events


def _loss_event(run: RunRef, count: int, at: datetime) -> Event:
    message = f"{count} events of this run were dropped: the outbox was full while the collector was away"
    facets = {
        "extractionError": extraction_error_facet({"outbox": message}),
        "whence_lostEvents": own_facet("LostEventsRunFacet", count=count),
    }
    return run_event(OTHER, run, at, run_facets=facets)


def _run_of(line: bytes) -> RunRef | None:
    try:
        event = json.loads(line)
        return RunRef(event["job"]["namespace"], event["job"]["name"], event["run"]["runId"])
    except (ValueError, KeyError, TypeError):
        return None
