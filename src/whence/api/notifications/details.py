"""Reads the details of an incident for a notification that is about to be sent."""

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Engine

from whence.errors import LogError, StoreError
from whence.govern.incidents.current import read_incidents, read_streaks
from whence.govern.incidents.detail.gathering import DetailSources, gather_detail
from whence.govern.incidents.fold import find_incident
from whence.govern.notifications.incident_details import detail_lines, detail_links
from whence.govern.notifications.notice import Act, Detail, Link
from whence.govern.run_events.run_commits import read_run_commits
from whence.govern.run_events.run_reports import read_run_reports
from whence.log import Log
from whence.model.access import OPEN
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

_KEPT = 256
"""Transitions whose details are kept: every receiver, and every attempt, gets the same."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Details:
    """What a notice gets: lines, links to pages, and the runbook of the objective that is violated, if it has one."""

    lines: tuple[Detail, ...] = ()
    links: tuple[Link, ...] = ()
    runbook: str = ""


class DetailReader:
    """Adds details to acts. What a receiver may not see is left out when it is rendered."""

    def __init__(self, engine: Engine, event_log: Log) -> None:
        self._engine, self._log = engine, event_log
        self._kept: OrderedDict[str, _Details] = OrderedDict()

    def add_to(self, act: Act) -> Act:
        """The act with details; without them if they cannot be read: a page is not held back for them."""
        if act.notice.state.is_over:
            return act
        if (found := self._kept.get(act.notice.transition)) is None:
            try:
                found = self._read(act.notice.incident)
            except (StoreError, LogError) as error:
                log.warning("a notification has no details: %s", error)
                return act
            self._kept[act.notice.transition] = found
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        notice = act.notice
        details, links = (*notice.details, *found.lines), (*notice.links, *found.links)
        runbook = found.runbook or notice.runbook
        return replace(act, notice=replace(notice, details=details, links=links, runbook=runbook))

    def _read(self, incident: str) -> _Details:
        now = time.time_ns() // 1_000
        with snapshot(self._engine) as connection:
            catalog, graph = StoreCatalog(connection), StoreGraph(connection)
            read = read_incidents(catalog, graph, read_streaks(connection, now), now, is_past=False)
            if (found := find_incident(read.incidents, incident)) is None:
                return _Details()
            sources = DetailSources(
                catalog=catalog,
                graph=graph,
                whole=catalog,
                whole_graph=graph,
                viewer=OPEN,
                read_commits=partial(read_run_commits, connection, self._log),
                read_reports=partial(read_run_reports, connection, self._log),
                at=now,
            )
            detail = gather_detail(found, sources)
            return _Details(detail_lines(detail), detail_links(detail), detail.runbook)
