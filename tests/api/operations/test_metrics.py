"""`/metrics` and `/api/v2/status`: what came, what waits, what was refused, in bounded labels."""

import http.client
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from api.collector.test_collect import event
from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.waits import wait_until
from whence.api.collector.metrics import MOST_ADAPTERS
from whence.derive.pipeline import run_stream
from whence.derive.spark.metrics import serving_metrics
from whence.errors import WhenceError
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.openlineage.accept import accept
from whence.store.connection.engine import sqlite_url

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scrape(at: Api | int) -> Samples:
    """All samples of an API, or of what listens at a port, by name and labels."""
    connection = http.client.HTTPConnection("127.0.0.1", at if isinstance(at, int) else at.port, timeout=30)
    connection.request("GET", "/metrics")
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/plain; version=")
    text = response.read().decode()
    connection.close()
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


def test_what_came_is_counted_by_producer_and_version(serving: Serving) -> None:
    api = serving()
    body = event(producer=SPARK)
    for sent in (body, body, event(producer=SPARK), event(producer=SPARK, run={}), b"{"):
        api.post(sent)
    samples = scrape(api)
    spark = {"producer": "OpenLineage/spark", "version": "1.53.0"}
    assert value(samples, "whence_events_total", outcome="accepted", **spark) == 2
    assert value(samples, "whence_events_total", outcome="duplicate", **spark) == 1
    assert value(samples, "whence_events_total", outcome="quarantined", **spark) == 1
    assert value(samples, "whence_events_total", outcome="quarantined", producer="unknown", version="") == 1
    assert value(samples, "whence_event_bytes_total", **spark) > 3 * len(json.dumps(body)) - 100
    assert value(samples, "whence_append_seconds_count") == 5
    assert value(samples, "whence_log_records_total") == 5


def test_refusals_are_counted_by_why(serving: Serving) -> None:
    api = serving(max_body_bytes=2_000, rates={"producer_events": 0.001, "burst_seconds": 1_000, "patience_seconds": 0})
    api.post(event(producer="x" * 3_000))
    api.post(b"...", Content_Encoding="br")
    assert [api.post(event()).status for _ in range(3)] == [201, 201, 503]
    samples = scrape(api)
    for reason in ("large", "encoding", "producer"):
        assert value(samples, "whence_refused_requests_total", reason=reason) == 1


def test_strangers_cannot_add_series_without_end(serving: Serving) -> None:
    api = serving()
    batch = [event(producer=f"https://example.org/{number}/{'é' * number}") for number in range(500)]
    assert api.post(batch, "/lineage/batch").status == 200
    named = {labels for name, labels in scrape(api) if name == "whence_event_bytes_total"}
    assert len(named) == MOST_ADAPTERS + 1
    assert value(scrape(api), "whence_event_bytes_total", producer="other", version="") > 0
    assert all(re.fullmatch(r"[\w./+-]{0,80}", text, re.ASCII) for labels in named for _, text in labels)


def test_a_store_that_cannot_be_read_is_said_and_the_rest_is_served(serving: Serving) -> None:
    api = serving()
    api.post(event())
    samples = scrape(api)
    assert value(samples, "whence_store_up") == 0
    assert value(samples, "whence_lag_records") == 1
    assert api.ask("GET", "/api/v2/status").json["store"] is None


def test_the_pipeline_makes_the_counts_meet(
    serving: Serving, migrated: Callable[[Api], Engine], spark: SparkSession, tmp_path: Path
) -> None:
    api = serving()
    engine = migrated(api)
    again = event(producer=SPARK, eventType="START")
    for sent in (again, again, event(producer=SPARK), event(run={}), event(eventTime="soon"), b"{"):
        api.post(sent)
    waiting = scrape(api)
    assert value(waiting, "whence_lag_records") == 6
    assert value(waiting, "whence_lag_bytes") > 0
    assert value(waiting, "whence_lag_seconds") > 0
    query = run_stream(spark, SegmentLog(api.data / "log"), engine, tmp_path / "checkpoint")
    query.catch_up()
    query.stop()
    # Counts of the store are kept for a while, by what they cost.
    wait_until(lambda: value(scrape(api), "whence_store_records_total", outcome="applied"))
    for restart in (False, True):
        if restart:
            api.down()
            api.up()
        samples = scrape(api)
        for outcome, count in (("applied", 2), ("duplicate", 1), ("quarantined", 3)):
            assert value(samples, "whence_store_records_total", outcome=outcome) == count
        assert value(samples, "whence_log_records_total") == 6
        assert value(samples, "whence_missing_records") == 0
        assert [value(samples, f"whence_lag_{unit}") for unit in ("records", "bytes", "seconds")] == [0, 0, 0]
        reasons = {one: value(samples, "whence_store_quarantined_total", reason=one) for one in ("run", "time", "json")}
        assert reasons == {"run": 1, "time": 1, "json": 1}
        assert value(samples, "whence_store_events_total", producer="OpenLineage/spark", version="1.53.0") == 2
        assert value(samples, "whence_runs_without_start") == 1
        assert value(samples, "whence_runs_without_end") == 1


def test_the_pipeline_serves_how_long_its_batches_took(spark: SparkSession, tmp_path: Path) -> None:
    with serving_metrics("127.0.0.1:0") as port:
        before = value(scrape(port), "whence_batch_seconds_count")
        writer = SegmentLog(tmp_path / "log").open_writer()
        taken = accept(json.dumps(event()).encode())
        writer.append([Draft(kind=Kind.EVENT, key=bytes.fromhex(taken.key), received_at=0, payload=taken.payload)])
        writer.close()
        engine = open_migrated(sqlite_url(tmp_path / "store.db"))
        query = run_stream(spark, SegmentLog(tmp_path / "log"), engine, tmp_path / "checkpoint")
        query.catch_up()
        query.stop()
        engine.dispose()
        assert value(scrape(port), "whence_batch_seconds_count") > before


@pytest.mark.parametrize("address", ["here", "127.0.0.1:99999", "192.0.2.77:1"])
def test_an_address_that_cannot_serve_metrics_is_an_error(address: str) -> None:
    with pytest.raises(WhenceError, match="HOST:PORT"), serving_metrics(address):
        pass


@pytest.mark.parametrize("path", ["/metrics", "/api/v2/status"])
def test_a_log_that_cannot_be_read_is_503(serving: Serving, path: str) -> None:
    api = serving()
    (api.data / "log" / "HEAD").write_bytes(bytes(8192))
    assert api.ask("GET", path).status == 503
