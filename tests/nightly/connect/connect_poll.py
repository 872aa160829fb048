"""A real Kafka Connect, polled: its connectors as records and events. `make nightly-connect` runs it.

The lineage that is expected was written from reading `run_connectors`. `python -m nightly.connect.connect_poll` records
the answers for tests/capture/kafka_connect.
"""

import json
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import httpx2
import pytest

from nightly.connect.worker import RELEASE, SECRET, Worker, connect, run_connectors
from whence.capture.kafka_connect.source import ConnectCluster, capture
from whence.capture.polling.http_source import HttpSource
from whence_client.captures import Naming, Window
from whence_client.outbox.encoding import encode_event

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests/capture/kafka_connect" / f"connect-{RELEASE}.json"

Json = dict[str, Any]


class Recorder(HttpSource):
    """A source that keeps each answer by its path."""

    answers: dict[str, Any]

    def send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        reply = super().send(method, path, **sent)
        self.answers[path] = reply.json()
        return reply


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with connect(tmp_path_factory.mktemp("connect").resolve()) as made:
        run_connectors(made)
        yield made


def poll(worker: Worker, cursor: Any) -> tuple[list[Json], Any]:
    """The events of a poll, and the cursor after it."""
    source: ConnectCluster = capture.configure({"url": worker.url, "bootstrap": worker.servers})
    found = list(source.records(cursor, Window()))
    naming = Naming("prod", source.instance)
    events = chain.from_iterable(source.translate(record, naming) for record, _ in found)
    return list(events), found[-1][1] if found else cursor


def flows(worker: Worker, events: list[Json]) -> set[tuple[str, str]]:
    """From dataset to dataset; files by their names."""
    return {
        (Path(one["name"]).name, Path(other["name"]).name)
        for event in events
        for one in event["inputs"]
        for other in event["outputs"]
    }


def ends(events: list[Json]) -> dict[str, str]:
    """The last state of each job."""
    return {one["job"]["name"]: one["eventType"] for one in events}


def test_topics_are_those_that_records_went_through(worker: Worker) -> None:
    events, cursor = poll(worker, None)
    expected = set[tuple[str, str]]()
    for stage in ("prod", "staging"):
        expected |= {(f"{stage} ü.txt", f"{stage}.orders-v1"), (f"{stage}.orders-v1", f"{stage}-out; drop 1.txt")}
    assert flows(worker, events) == expected
    states = ends(events)
    assert states["dev.broken"] == "FAIL"
    assert {states[one] for one in ("dev.idle", "prod.orders ü in", "staging.orders out")} == {"RUNNING"}
    assert SECRET.encode() not in b"".join(map(encode_event, events))
    assert poll(worker, cursor) == ([], cursor)


def test_a_connector_that_is_deleted_ends_and_one_that_restarts_is_a_new_run(worker: Worker) -> None:
    before, cursor = poll(worker, None)
    worker.ask("DELETE", "connectors/staging.orders%20out")
    worker.configure(
        "dev.broken",
        connector_class="org.apache.kafka.connect.file.FileStreamSinkConnector",
        file=str(worker.lake / "mended.txt"),
        topics="prod.orders-v1",
    )
    worker.await_state("dev.broken", "RUNNING")
    worker.await_topic("dev.broken", "prod.orders-v1")
    events, _ = poll(worker, cursor)
    states = ends(events)
    assert states["staging.orders out"] == states["staging.orders out.staging.orders-v1"] == "COMPLETE"
    assert states["dev.broken"] == "RUNNING"
    assert ("prod.orders-v1", "mended.txt") in flows(worker, events)
    runs = [{one["run"]["runId"] for one in part if one["job"]["name"] == "dev.broken"} for part in (before, events)]
    assert len(runs[0] | runs[1]) == 2


def main() -> None:
    """Record the answers to a poll. Folders and addresses are replaced."""
    with tempfile.TemporaryDirectory(prefix="whence-connect-") as directory:
        _record(Path(directory).resolve())


def _record(folder: Path) -> None:
    with connect(folder) as worker:
        run_connectors(worker)
        source = Recorder(url=worker.url)
        source.answers = {}
        cluster = ConnectCluster(source=source, bootstrap=worker.servers, instance="kafka-connect://connect:8083")
        cluster.check()
        list(cluster.records(None, Window()))
        lines = [f"{json.dumps(path)}: {json.dumps(answer, sort_keys=True)}" for path, answer in source.answers.items()]
        text = ("{\n" + ",\n".join(lines) + "\n}\n").replace(str(worker.lake), "/lake")
        RECORDED.write_text(text.replace(worker.url.removeprefix("http://"), "connect:8083"))


if __name__ == "__main__":
    main()
