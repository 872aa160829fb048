"""What an attach capture gets: the way out for its events, its guard, and the run that the job is in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whence_client.captures.guard import Errors, Guard
from whence_client.captures.naming import Naming
from whence_client.events.facets import Event
from whence_client.events.runs import RunRef, extraction_error_facet
from whence_client.outbox import Outbox, process_outbox
from whence_client.runs.active import active_run, inherited_parent, outermost


class Session:
    """The captures of one process, or of one test with an outbox of its own."""

    def __init__(self, outbox: Outbox | None = None) -> None:
        self._outbox = outbox
        self._guards: dict[str, Guard] = {}

    @property
    def outbox(self) -> Outbox:
        """Where events go."""
        return self._outbox or process_outbox()

    def guard(self, capture: str) -> Guard:
        """The guard of a capture, the same at each call."""
        return self._guards.setdefault(capture, Guard(capture))

    def parent(self) -> RunRef | None:
        """The run that the calling code is in: that of `whence.run` around it, else that which started the process."""
        return active_run() or inherited_parent()

    def program(self) -> str:
        """The job of the run around the whole program; empty if there is none. Datasets in the program's memory are
        named after it: several of its runs may use them.
        """
        run = outermost()
        ref = run.ref if run is not None else inherited_parent()
        return ref.scope if ref is not None else ""

    def naming(self, instance: str = "") -> Naming:
        """The naming for `translate`, as of now: jobs' namespace and parent run."""
        parent = self.parent()
        namespace = self.outbox.settings.namespace
        if namespace == "default" and parent is not None:
            namespace = parent.namespace  # nobody chose another one
        return Naming(namespace, instance, parent)

    def emit(self, event: Event, *, capture: str = "") -> bool:
        """Keep an event until it is sent. With `capture`, the errors of its guard are reported on the event's run."""
        errors = self.guard(capture).take_errors() if capture and "run" in event else {}
        return self.outbox.emit(with_errors(event, errors) if errors else event)

    def take_errors(self) -> Errors:
        """The errors of all captures that no event has reported yet."""
        return {what: text for guard in self._guards.values() for what, text in guard.take_errors().items()}


def with_errors(event: Event, errors: Errors) -> Event:
    """The event with these errors in the facet `extractionError` of its run, beside those that it has."""
    run: dict[str, Any] = event["run"]
    facets = dict(run.get("facets") or {})
    known = facets.get("extractionError", {}).get("errors", [])
    texts = {one.get("task", ""): one.get("errorMessage", "") for one in known}
    facets["extractionError"] = extraction_error_facet({**texts, **errors})
    return {**event, "run": {**run, "facets": facets}}


_of_process: list[Session] = []


def process_session() -> Session:
    """The session of this process."""
    if not _of_process:
        _of_process.append(Session())
    return _of_process[0]


def within(run: RunRef, parent: RunRef | None) -> RunRef:
    """The run with the root of its parent."""
    return replace(run, root=parent.root or parent) if parent else run
