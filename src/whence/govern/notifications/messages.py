"""What receivers get once, beside notices of incidents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.govern.notifications.notice import digest
from whence.govern.notifications.receivers import Receiver, Receivers
from whence.govern.reports.period import ReportPeriod, read_report_period
from whence.govern.retraining.triggers import RetrainTrigger
from whence.model.catalog import REGISTRY
from whence.model.names import DatasetName

DAY = 86_400_000_000
REPORT_PATIENCE = 3 * DAY
"""How long after its time a report is still sent: a server that was away over the weekend sends it."""
_REPORTS = DatasetName(REGISTRY, "weekly-report")
"""What the receipts of reports are about: they are for those who see everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message for one receiver. `key`: what it is, the same in every process; `about`: the dataset whose namespace
    has the receipt; `at`: when it was due (µs); `is_repeated`: an earlier attempt may have succeeded.
    """

    key: str
    receiver: str
    about: DatasetName
    at: int
    content: ReportPeriod | RetrainTrigger
    reference: str = ""
    is_repeated: bool = False

    @property
    def id(self) -> str:
        """The name of the delivery: the same for every attempt."""
        return digest(self.key, self.receiver)

    @property
    def thread(self) -> str:
        """The name of all messages that are one for the receiver: it alone."""
        return self.id


def find_reports(receivers: Receivers, now: int) -> Iterator[tuple[Receiver, Message]]:
    """The weekly reports that are due at a time (µs): of the last week that was over, in UTC, when each was due.

    A receiver gets one report of a week, however often its schedule is changed.
    """
    by_name = {one.name: one for one in receivers.receivers}
    due: dict[str, Message] = {}
    for schedule in receivers.reports:
        at = schedule.last_due(now)
        if at < now - REPORT_PATIENCE:
            continue
        period = read_report_period("", None, None, at)
        for name in schedule.receivers:
            message = Message(key=f"weekly-report {period.week}", receiver=name, about=_REPORTS, at=at, content=period)
            due.setdefault(message.id, message)
    for message in due.values():
        yield by_name[message.receiver], message


def find_retrainings(receivers: Receivers, triggers: Sequence[RetrainTrigger]) -> Iterator[tuple[Receiver, Message]]:
    """Who is notified of which triggers, each once. Who may not see a model learns nothing of it."""
    for one in triggers:
        names = {
            name
            for route in receivers.retrain
            if one.kind in route.kinds and route.is_for(one.model)
            for name in route.receivers
        }
        for receiver in receivers.receivers:
            if receiver.name in names and receiver.viewer.can_see(one.model):
                yield (
                    receiver,
                    Message(key=one.key, receiver=receiver.name, about=one.model, at=one.since, content=one),
                )
