"""Renders and sends what is no incident: weekly reports, which are read first, and triggers of retraining; each with
what the receiver may see.
"""

import msgspec
from sqlalchemy import Engine

from whence.client.acts.reports import WeeklyReport
from whence.errors import DeliveryError, LogError, StoreError
from whence.govern.notifications.adapters import mail, slack, webhook
from whence.govern.notifications.adapters.http import Http
from whence.govern.notifications.messages import Message
from whence.govern.notifications.receivers import EmailReceiver, Receiver, SlackReceiver, WebhookReceiver
from whence.govern.notifications.rendering.retraining import retrain_document
from whence.govern.reports.documents import report_document
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.period import ReportPeriod
from whence.govern.reports.rendering.messages import render_mail, render_slack
from whence.govern.retraining.triggers import RetrainTrigger
from whence.log import Log
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph


class MessageSender:
    """Sends messages about a store and its log."""

    def __init__(self, engine: Engine, event_log: Log) -> None:
        self._engine, self._log = engine, event_log

    def send(self, http: Http, receiver: Receiver, message: Message, _base: str) -> str:
        """Send a message. Returns where it is. Raises DeliveryError."""
        match message.content:
            case ReportPeriod() as period:
                return self._send_report(http, receiver, message, period)
            case RetrainTrigger() as trigger:
                assert isinstance(receiver.target, WebhookReceiver)
                content = msgspec.json.encode(retrain_document(trigger, receiver))
                return webhook.post(http, receiver.target, message.id, content)

    def _send_report(self, http: Http, receiver: Receiver, message: Message, period: ReportPeriod) -> str:
        found = self._read(receiver, period)
        match receiver.target:
            case EmailReceiver() as target:
                made = render_mail(found, target)
                mail.send(target, made)
                return str(made["Message-ID"])
            case SlackReceiver() as target:
                sent, since = render_slack(found), message.at
                return slack.post_once(http, target, sent, message.thread, since, is_repeated=message.is_repeated)
        raise DeliveryError(receiver.name, "only receivers of e-mail and Slack get reports")

    def _read(self, receiver: Receiver, period: ReportPeriod) -> WeeklyReport:
        try:
            with snapshot(self._engine) as connection:
                sources = ReportSources(catalog=StoreCatalog(connection), graph=StoreGraph(connection), log=self._log)
                document = report_document(gather_report(sources, period), receiver.viewer)
        except (StoreError, LogError) as error:
            raise DeliveryError("the weekly report", f"it cannot be read: {error}") from None
        return msgspec.convert(document, WeeklyReport)
