"""Incidents of a store on this machine, in the form in which a server answers."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from whence.api.requests.local_log import LocalLog, open_local_log
from whence.client.acts.breakers import CircuitBreaker
from whence.client.acts.incidents import UNRESOLVED, IncidentDetail, Incidents
from whence.errors import ThingNotFoundError
from whence.govern.breakers.documents import breaker_document
from whence.govern.breakers.reading import read_breaker
from whence.govern.containment.rollback_documents import Reported
from whence.govern.incidents.current import ReadIncidents, read_all_traits, read_incidents, read_streaks
from whence.govern.incidents.detail.documents import detail_document
from whence.govern.incidents.detail.gathering import DetailSources, gather_detail
from whence.govern.incidents.documents import list_document
from whence.govern.incidents.fold import find_incident
from whence.model.access import OPEN
from whence.model.traits import NO_TRAITS
from whence.query.answers.instants import instant
from whence.query.lookup.resolve import resolve
from whence.query.runs.commits import Commit, commits_of
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph, open_graph


class IncidentQuestions(Protocol):
    """The questions about incidents: to a store, or to a server (`client.questions.Client`)."""

    def incidents(self, *, states: Sequence[str] = (), dataset: str = "", as_of: str | None = None) -> Incidents:
        """The incidents at a time."""
        ...

    def incident(self, id_: str, *, as_of: str | None = None) -> IncidentDetail:
        """One of them."""
        ...


class StoreIncidents:
    """The incidents in a store. `log`: None if it cannot be read: then commits and versions of runs are not known."""

    def __init__(self, graph: StoreGraph, log: LocalLog | None = None) -> None:
        self._graph, self._catalog, self._log = graph, StoreCatalog(graph.connection), log

    def incidents(self, *, states: Sequence[str] = (), dataset: str = "", as_of: str | None = None) -> Incidents:
        """The incidents at a time, those that began last first."""
        read = self._read(as_of)
        wanted = [
            one
            for one in read.incidents
            if one.state in (states or UNRESOLVED)
            and (not dataset or dataset in {str(each.dataset) for each in one.findings})
        ]
        shown = sorted(wanted, key=lambda one: (-one.since, one.id))
        traits = read_all_traits(self._graph, {one.root for one in shown})
        return msgspec.convert(list_document(read, shown, 0, traits, OPEN), Incidents)

    def incident(self, id_: str, *, as_of: str | None = None) -> IncidentDetail:
        """An incident at a time, or the one into which it was merged. Raises ThingNotFoundError."""
        read = self._read(as_of)
        found = find_incident(read.incidents, id_)
        if found is None:
            raise ThingNotFoundError("Incident", id_)
        sources = DetailSources(
            catalog=self._catalog,
            graph=self._graph,
            whole=self._catalog,
            whole_graph=self._graph,
            viewer=OPEN,
            read_commits=self._read_commits,
            read_reports=self._read_reports,
            at=read.at,
            past=None if as_of is None else read.at,
        )
        traits = read_all_traits(self._graph, [found.root]).get(found.root, NO_TRAITS)
        return msgspec.convert(detail_document(read, gather_detail(found, sources), traits, OPEN), IncidentDetail)

    def circuit_breaker(self, node: str, *, as_of: str | None = None) -> CircuitBreaker:
        """The circuit breaker of a node at a time. Raises NodeNotFoundError, AmbiguousNodeError."""
        at = self._instant(as_of)
        found, streaks = resolve(self._graph, node), read_streaks(self._graph.connection, at)
        breaker = read_breaker(self._catalog, self._graph, streaks, found, at, is_past=as_of is not None)
        return msgspec.convert(breaker_document(breaker, OPEN), CircuitBreaker)

    def _instant(self, as_of: str | None) -> int:
        now = time.time_ns() // 1_000
        return now if as_of is None else instant(as_of, now)

    def _read(self, as_of: str | None) -> ReadIncidents:
        at = self._instant(as_of)
        streaks = read_streaks(self._graph.connection, at)
        return read_incidents(self._catalog, self._graph, streaks, at, is_past=as_of is not None)

    def _read_commits(self, runs: Sequence[int]) -> Mapping[int, Commit]:
        """Without the log, of the latest run of each job that reported one."""
        if self._log is not None:
            return self._log.commits(self._graph.connection)(runs)
        return commits_of(self._graph, self._graph.runs(runs))

    def _read_reports(self, runs: Sequence[int]) -> Mapping[int, Reported]:
        return {} if self._log is None else self._log.reports(self._graph.connection)(runs)


@contextmanager
def open_incidents(url: str, log: str = "", security: str = "") -> Iterator[StoreIncidents]:
    """Open the store at a URL, and the log at an address, if there is one. Raises StoreError."""
    with open_graph(url) as graph:
        yield StoreIncidents(graph, open_local_log(log, security))
