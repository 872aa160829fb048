"""Metrics of the collector for `/metrics`. They begin at zero with the process, as Prometheus expects; lasting counts
are in the log and the store (`api/operations/prometheus.py`).
"""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from whence.openlineage.facets.producers import Adapter, parse_adapter

MOST_ADAPTERS = 100
"""The most producers and versions with labels of their own; others are `other`, so that nobody can add series."""

OTHER = Adapter("other")
HIDDEN = Adapter("hidden")
"""The label of all producers, for viewers who may not see everything."""

_APPEND_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_BY = ("producer", "version")


class Labels:
    """The adapters with labels of their own: the first ones."""

    def __init__(self, most: int = MOST_ADAPTERS) -> None:
        self._most = most
        self._known: set[Adapter] = set()

    def of(self, producer: str) -> tuple[str, str]:
        """Name and version, as labels."""
        found = parse_adapter(producer)
        if found not in self._known:
            if len(self._known) >= self._most:
                found = OTHER
            else:
                self._known.add(found)
        return found.name, found.version


class CollectorMetrics:
    """The collector's metrics, in a registry of their own."""

    def __init__(self) -> None:
        # The creation time of a counter is useless here, and doubles the size of a scrape.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry = CollectorRegistry()
        self._labels = Labels()
        self._counted: dict[tuple[str, str, str], tuple[Counter, Counter]] = {}
        self._events = Counter(
            "whence_events", "Events acknowledged, by what became of them", ("outcome", *_BY), registry=registry
        )
        self._bytes = Counter("whence_event_bytes", "Bytes of the events acknowledged", _BY, registry=registry)
        self._restricted = Counter(
            "whence_restricted_events",
            "Events acknowledged of which the sender may not assert a part: that part is not applied",
            _BY,
            registry=registry,
        )
        self._refused = Counter(
            "whence_refused_requests",
            "Requests refused: nothing of them was kept as an event",
            ("reason",),
            registry=registry,
        )
        self._append = Histogram(
            "whence_append_seconds",
            "Time until an append to the log was durable",
            buckets=_APPEND_SECONDS,
            registry=registry,
        )

    def event(self, outcome: str, producer: str, size: int) -> None:
        """Count one acknowledged event: accepted, a duplicate, or quarantined."""
        labels = outcome, *self._labels.of(producer)
        counted = self._counted.get(labels)
        if counted is None:  # prometheus_client looks a counter up ten times as slowly
            counted = self._counted[labels] = self._events.labels(*labels), self._bytes.labels(*labels[1:])
        events, bytes_ = counted
        events.inc()
        bytes_.inc(size)

    def restricted(self, producer: str) -> None:
        """Count one acknowledged event of which a part is not applied."""
        self._restricted.labels(*self._labels.of(producer)).inc()

    def refused(self, reason: str) -> None:
        """Count one rejected request."""
        self._refused.labels(reason).inc()

    def refusals(self) -> dict[str, int]:
        """The numbers of rejected requests, by reason."""
        samples = (sample for metric in self._refused.collect() for sample in metric.samples)
        return {one.labels["reason"]: int(one.value) for one in samples if one.name.endswith("_total")}

    def appended(self, seconds: float) -> None:
        """Record the duration of one append to the log."""
        self._append.observe(seconds)

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Register a gauge that is read on demand."""
        Gauge(name, meaning, registry=self.registry).set_function(read)
