"""Reads, renders and sends the weekly report that a receiver is to get, with what the receiver may see."""

import msgspec
from sqlalchemy import Engine

from whence.client.acts.reports import WeeklyReport
from whence.errors import DeliveryError, LogError, StoreError
from whence.govern.notifications.adapters import mail, slack
from whence.govern.notifications.adapters.http import Http
from whence.govern.notifications.messages import Message
from whence.govern.notifications.receivers import EmailReceiver, Receiver, SlackReceiver
from whence.govern.reports.documents import report_document
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.rendering.messages import render_mail, render_slack
from whence.log import Log
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph


class ReportSender:
    """Sends reports of a store and its log."""

    def __init__(self, engine: Engine, event_log: Log) -> None:
        self._engine, self._log = engine, event_log

    def send(self, http: Http, receiver: Receiver, message: Message, _base: str) -> str:
        """Send the report of a message. Returns where it is. Raises DeliveryError."""
        found = self._read(receiver, message)
        match receiver.target:
            case EmailReceiver() as target:
                made = render_mail(found, target)
                mail.send(target, made)
                return str(made["Message-ID"])
            case SlackReceiver() as target:
                sent, since = render_slack(found), message.at
                return slack.post_once(http, target, sent, message.thread, since, is_repeated=message.is_repeated)
        raise DeliveryError(receiver.name, "only receivers of e-mail and Slack get reports")

    def _read(self, receiver: Receiver, message: Message) -> WeeklyReport:
        try:
            with snapshot(self._engine) as connection:
                sources = ReportSources(catalog=StoreCatalog(connection), graph=StoreGraph(connection), log=self._log)
                document = report_document(gather_report(sources, message.content), receiver.viewer)
        except (StoreError, LogError) as error:
            raise DeliveryError("the weekly report", f"it cannot be read: {error}") from None
        return msgspec.convert(document, WeeklyReport)
