"""The outbox in `/metrics`. Receivers are named only to those who may see everything."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from whence.api.notifications.outbox import Counts
from whence.api.operations.prometheus import Families
from whence.model.access import Viewer

_ALL = ""
"""The label in the place of the receivers' names."""


def outbox_exposition(counts: Callable[[], Mapping[str, Counts]]) -> Callable[[Viewer], bytes]:
    """What renders the metrics for a viewer; nothing in an instance that does not send."""

    def read(viewer: Viewer) -> bytes:
        shown = dict(counts())
        if shown and not viewer.can_see_all:
            shown = {_ALL: _sum(shown)}
        return generate_latest(Families(_families(shown))) if shown else b""

    return read


def _sum(counts: Mapping[str, Counts]) -> Counts:
    return Counts(
        sent=sum(one.sent for one in counts.values()),
        failed=sum(one.failed for one in counts.values()),
        pending=sum(one.pending for one in counts.values()),
        oldest=max(one.oldest for one in counts.values()),
    )


def _families(counts: Mapping[str, Counts]) -> Iterator[Metric]:
    sent = CounterMetricFamily("whence_notifications_sent", "Notifications that were accepted", labels=["receiver"])
    failed = CounterMetricFamily("whence_notifications_failed", "Attempts that failed", labels=["receiver"])
    pending = GaugeMetricFamily("whence_notifications_pending", "Notifications to be sent", labels=["receiver"])
    oldest = GaugeMetricFamily(
        "whence_notifications_oldest_seconds", "Age of the oldest of these transitions", labels=["receiver"]
    )
    for name, one in sorted(counts.items()):
        for family, value in ((sent, one.sent), (failed, one.failed), (pending, one.pending), (oldest, one.oldest)):
            family.add_metric([name], value)
    yield from (sent, failed, pending, oldest)
