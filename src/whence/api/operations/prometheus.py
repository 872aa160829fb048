"""`/metrics`: the status and the collector's meters, as Prometheus reads them (docs/how-to/operate.md)."""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from whence.api.collector.metrics import HIDDEN, MOST_ADAPTERS, OTHER, CollectorMetrics
from whence.api.operations.status import Status
from whence.govern.contracts.evaluation.answers import ContractCounts
from whence.store.status.overview import ProducerCounts, StoreOverview, merge_producer_counts


def exposition(meters: CollectorMetrics, status: Status, *, names: bool) -> bytes:
    """All metrics, in Prometheus' text format; without `names` the producers are one: URIs may contain job names."""
    found = chain(meters.registry.collect(), families(status))
    return generate_latest(Families(found if names else map(_nameless, found)))


def as_one(producers: Sequence[ProducerCounts]) -> tuple[ProducerCounts, ...]:
    """All producers as one, for callers who may not see them."""
    if not producers:
        return ()
    # The example names a namespace.
    return (replace(merge_producer_counts(producers, HIDDEN), example=""),)


def _nameless(metric: Metric) -> Metric:
    values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    combine = max if metric.type == "gauge" else operator.add
    for sample in metric.samples:
        labels = sample.labels | ({"producer": HIDDEN.name, "version": ""} if "producer" in sample.labels else {})
        key = sample.name, tuple(labels.items())
        values[key] = combine(values[key], sample.value) if key in values else sample.value
    nameless = Metric(metric.name, metric.documentation, metric.type, metric.unit)
    for (name, given), value in values.items():
        nameless.add_sample(name, dict(given), value)
    return nameless


class Families:
    """What `generate_latest` takes for a registry."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def families(status: Status) -> Iterator[Metric]:
    """The metrics that are read from log and store: they survive restarts."""
    yield _total("whence_log_records", "Records that the log ever had", status.received.records)
    if status.received.bytes is not None:
        yield _total("whence_log_bytes", "Bytes of these records", status.received.bytes)
    yield _gauge("whence_lag_records", "Records that wait for the pipeline", status.waiting.records)
    if status.waiting.bytes is not None:
        yield _gauge("whence_lag_bytes", "Bytes of these records", status.waiting.bytes)
    yield _gauge("whence_lag_seconds", "How long the oldest of them waits", status.waiting_seconds)
    yield _gauge("whence_store_up", "Whether the store can be read", float(status.standing is not None))
    damaged = {state: sum(one.count for one in status.damaged if one.state == state) for state in ("sealed", "lost")}
    yield _gauges("whence_log_damaged_records", "Records in damaged ranges of the log, at least", "state", damaged)
    if status.standing is not None:
        yield _gauge("whence_store_counted_timestamp_seconds", "When the store was counted last", status.counted_at)
        yield _gauge("whence_missing_records", "Passed by the pipeline, and in no ledger: loss", status.missing or 0)
        yield from _of_store(status.standing)
    if status.contracts is not None:
        yield from _of_contracts(status.contracts)


def _of_contracts(counts: ContractCounts) -> Iterator[Metric]:
    fulfilled = counts.contracts - counts.violated - counts.not_evaluated
    states = {"fulfilled": fulfilled, "violated": counts.violated, "not_evaluated": counts.not_evaluated}
    yield _gauges("whence_contracts", "Contracts that hold now, by what the data say of them", "state", states)
    yield _gauge("whence_contract_violations", "Rules of contracts that are violated now", counts.violations)
    yield _gauge(
        "whence_contract_rules_not_evaluated", "Rules of contracts that nothing decides", counts.unevaluated_rules
    )


def _of_store(standing: StoreOverview) -> Iterator[Metric]:
    ledger = standing.ledger
    outcomes = {"applied": ledger.applied, "duplicate": ledger.duplicate, "quarantined": ledger.quarantined}
    yield _labelled_counter(
        "whence_store_records", "Records in the store's ledger, by what became of them", "outcome", outcomes
    )
    yield _labelled_counter("whence_store_quarantined", "Records in quarantine, by why", "reason", standing.refusals)
    yield _gauge("whence_store_bytes", "Size of the store", standing.size)
    yield _gauge("whence_runs_without_start", "Runs that never reported a START", standing.runs_without_start)
    yield _gauge("whence_runs_without_end", "Batch runs silent for a day, without an end", standing.runs_without_end)
    differing = standing.disagreements
    yield _gauge("whence_sql_jobs_compared", "Jobs whose SQL was compared with their reports", differing.compared)
    yield _gauge("whence_sql_jobs_disagreeing", "Of these, jobs whose SQL says otherwise", differing.jobs)
    edges = {"report": differing.missing_in_report, "parse": differing.missing_in_parse}
    yield _gauges("whence_sql_edges_missing", "Column edges that only one of the two has", "missing_in", edges)
    events = CounterMetricFamily("whence_store_events", "Events applied", labels=("producer", "version"))
    last = GaugeMetricFamily(
        "whence_last_event_timestamp_seconds", "The latest eventTime", labels=("producer", "version")
    )
    restricted = GaugeMetricFamily(
        "whence_store_restricted_events",
        "Events of which a part is not applied: the sender may not assert it",
        labels=("producer", "version"),
    )
    for one in bounded(standing.producers):
        events.add_metric((one.adapter.name, one.adapter.version), one.events)
        restricted.add_metric((one.adapter.name, one.adapter.version), one.restricted)
        last.add_metric((one.adapter.name, one.adapter.version), one.last_seen / 1e6)
    yield events
    yield restricted
    yield last


def bounded(producers: tuple[ProducerCounts, ...]) -> tuple[ProducerCounts, ...]:
    """At most `MOST_ADAPTERS` and one for all others; those with the most events have names of their own."""
    kept, rest = producers[:MOST_ADAPTERS], producers[MOST_ADAPTERS:]
    if not rest:
        return kept
    return (*kept, merge_producer_counts(rest, OTHER))


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value)


def _total(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(name, meaning, value)


def _gauges(name: str, meaning: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=(label,))
    for value, number in values.items():
        family.add_metric((value,), number)
    return family


def _labelled_counter(name: str, meaning: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, meaning, labels=(label,))
    for value, count in counts.items():
        family.add_metric((value,), count)
    return family
