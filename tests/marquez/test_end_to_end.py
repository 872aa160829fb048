"""marquez-python, the API, the log and the real pipeline: what is written is read back, with what Spark derived."""

from pathlib import Path

import pytest
from marquez_client import MarquezClient
from marquez_client.models import DatasetId, DatasetType, JobType
from pyspark.sql import SparkSession

from api.process import Serving
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply
from marquez.shop import bodies
from whence.derive.pipeline import run_stream
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.store.connection.engine import sqlite_url
from whence.store.lifecycle.dump import dump

pytestmark = pytest.mark.filterwarnings("ignore::deprecation.DeprecatedWarning", "ignore::DeprecationWarning")


def test_what_a_client_writes_is_read_back(spark: SparkSession, tmp_path: Path) -> None:
    serving = Serving(tmp_path)
    engine = open_migrated(sqlite_url(tmp_path / "store0.db"))
    api = serving()
    query = run_stream(spark, SegmentLog(api.data / "log"), engine, tmp_path / "checkpoint")
    try:
        api.post(bodies()[0])  # the first micro-batch is the slow one: what a client writes next is not to wait for it
        assert any(api.ask("GET", "/api/v2/progress?wait_for=head&timeout=25").json["reached"] for _ in range(8))
        client = MarquezClient(f"http://127.0.0.1:{api.port}", timeout_ms=120_000)
        assert client.create_namespace("e2e", "ann")["ownerName"] == "ann"
        client.create_source("lake", "s3", "s3://lake")
        for one in "ab":
            client.create_dataset("e2e", one, DatasetType.DB_TABLE, one, "lake")
        job = client.create_job(
            "e2e", "copy", JobType.BATCH, inputs=[DatasetId("e2e", "a")], outputs=[DatasetId("e2e", "b")]
        )
        assert [one["name"] for one in (*job["inputs"], *job["outputs"])] == ["a", "b"]
        run = client.create_job_run("e2e", "copy", mark_as_running=True)
        assert client.mark_job_run_as_completed(run["id"])["state"] == "COMPLETED"
        assert client.tag_dataset("e2e", "b", "GOLD")["tags"] == ["GOLD"]
        nodes = api.ask("GET", "/api/v1/lineage?nodeId=dataset:e2e:a").json["graph"]
        assert [one["id"] for one in nodes] == ["dataset:e2e:a", "dataset:e2e:b", "job:e2e:copy"]
    finally:
        query.stop()
        serving.end()
    other = open_migrated(sqlite_url(tmp_path / "other.db"))
    log = api.data / "log"
    apply(other, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    assert list(dump(other)) == list(dump(engine))
    for store in (engine, other):
        store.dispose()
