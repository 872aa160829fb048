"""`/metrics`: the status and the collector's meters, as Prometheus reads them (docs/operations.md)."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from whence.api.meters import MOST_ADAPTERS, OTHER, Meters
from whence.api.status import Status
from whence.store.standing import Produced, Standing


def exposition(meters: Meters, status: Status) -> bytes:
    """All metrics, in Prometheus' text format."""
    return generate_latest(meters.registry) + generate_latest(_Families(families(status)))


class _Families:
    """What `generate_latest` takes for a registry."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def families(status: Status) -> Iterator[Metric]:
    """The metrics that log and store say: they survive restarts."""
    yield _total("whence_log_records", "Records that the log ever had", status.received.records)
    if status.received.bytes is not None:
        yield _total("whence_log_bytes", "Bytes of these records", status.received.bytes)
    yield _gauge("whence_lag_records", "Records that wait for the pipeline", status.waiting.records)
    if status.waiting.bytes is not None:
        yield _gauge("whence_lag_bytes", "Bytes of these records", status.waiting.bytes)
    yield _gauge("whence_lag_seconds", "How long the oldest of them waits", status.waiting_seconds)
    yield _gauge("whence_store_up", "Whether the store can be read", float(status.standing is not None))
    if status.standing is not None:
        yield _gauge("whence_store_counted_timestamp_seconds", "When the store was counted last", status.counted_at)
        yield _gauge("whence_missing_records", "Passed by the pipeline, and in no ledger: loss", status.missing or 0)
        yield from _of_store(status.standing)


def _of_store(standing: Standing) -> Iterator[Metric]:
    ledger = standing.ledger
    outcomes = {"applied": ledger.applied, "duplicate": ledger.duplicate, "quarantined": ledger.quarantined}
    yield _by("whence_store_records", "Records in the store's ledger, by what became of them", "outcome", outcomes)
    yield _by("whence_store_quarantined", "Records in quarantine, by why", "reason", standing.refusals)
    yield _gauge("whence_store_bytes", "Size of the store", standing.size)
    yield _gauge("whence_runs_without_start", "Runs that never reported a START", standing.runs_without_start)
    yield _gauge("whence_runs_without_end", "Batch runs silent for a day, without an end", standing.runs_without_end)
    events = CounterMetricFamily("whence_store_events", "Events applied", labels=("producer", "version"))
    last = GaugeMetricFamily(
        "whence_last_event_timestamp_seconds", "The latest eventTime", labels=("producer", "version")
    )
    for one in bounded(standing.producers):
        events.add_metric((one.adapter.name, one.adapter.version), one.events)
        last.add_metric((one.adapter.name, one.adapter.version), one.last_seen / 1e6)
    yield events
    yield last


def bounded(producers: tuple[Produced, ...]) -> tuple[Produced, ...]:
    """At most `MOST_ADAPTERS` and one for all others; those with the most events have names of their own."""
    kept, rest = producers[:MOST_ADAPTERS], producers[MOST_ADAPTERS:]
    if not rest:
        return kept
    events, last = sum(one.events for one in rest), max(one.last_seen for one in rest)
    return (*kept, Produced(adapter=OTHER, events=events, last_seen=last))


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value)


def _total(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(name, meaning, value)


def _by(name: str, meaning: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, meaning, labels=(label,))
    for value, count in counts.items():
        family.add_metric((value,), count)
    return family
