"""The weekly report of a store and a log on this machine, in the form in which a server answers."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec

from whence.client.acts.reports import WeeklyReport
from whence.errors import QuestionError
from whence.govern.reports.documents import report_document
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.period import read_report_period
from whence.log import Log
from whence.log.address import open_log
from whence.model.access import OPEN, Viewer
from whence.query.answers.instants import instant
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph, open_graph


class ReportQuestions(Protocol):
    """The question for a report: to a store, or to a server (`client.questions.Client`)."""

    def weekly_report(self, *, week: str = "", until: str | None = None, as_of: str | None = None) -> WeeklyReport:
        """The report of a week, or of the seven days until a time."""
        ...


class StoreReports:
    """The reports of a store."""

    def __init__(self, graph: StoreGraph, log: Log) -> None:
        self._graph, self._log = graph, log

    def weekly_report(
        self, *, week: str = "", until: str | None = None, as_of: str | None = None, viewer: Viewer = OPEN
    ) -> WeeklyReport:
        """The report of a week as a viewer may read it. Raises QuestionError if it has not begun, LogError."""
        now = time.time_ns() // 1_000
        try:
            end, known = (None if text is None else instant(text, now) for text in (until, as_of))
            period = read_report_period(week, end, known, now)
        except ValueError as error:
            raise QuestionError("", str(error)) from None
        sources = ReportSources(catalog=StoreCatalog(self._graph.connection), graph=self._graph, log=self._log)
        return msgspec.convert(report_document(gather_report(sources, period), viewer), WeeklyReport)


@contextmanager
def open_reports(url: str, log: str) -> Iterator[StoreReports]:
    """Open the store at a URL, and the log at an address. Raises StoreError, LogError."""
    with open_graph(url) as graph:
        yield StoreReports(graph, open_log(log))
