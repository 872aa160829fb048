"""Traces of a real API and a real pipeline, as a collector gets them: OTLP over HTTP, decoded with its own messages."""

import gzip
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from sqlalchemy import Engine

from api.process import Api, Serving
from bench.workloads.events import bodies
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from services.pipeline_process import derive, driving, has_all, until
from whence.errors import WhenceError
from whence.log.address import open_log
from whence.store.connection.engine import sqlite_url
from whence.tracing import is_traced, spanning

SECRET = "salaries_of_the_board"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@dataclass(slots=True)
class Received:
    """What a collector got."""

    port: int
    bodies: "SimpleQueue[bytes]"
    spans: dict[str, list[tuple[str, Span]]] = field(default_factory=dict)

    def take(self, seconds: float = 60) -> bytes:
        """The next request of an exporter; its spans are kept by name, with the service that sent them."""
        body = self.bodies.get(timeout=seconds)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = attributes(resource.resource)["service.name"]
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.setdefault(span.name, []).append((service, span))
        return body

    def until(self, *names: str) -> bytes:
        """All that came until there are spans of these names."""
        come = b""
        while not self.spans.keys() >= set(names):
            come += self.take()
        return come


def attributes(of: Span) -> dict[str, str]:
    """Attributes of a span or a resource, as text."""
    return {one.key: one.value.string_value or str(one.value.int_value) for one in of.attributes}


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Received]:
    """A server that takes spans; processes that the test starts send theirs to it."""
    queue: SimpleQueue[bytes] = SimpleQueue()

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            queue.put(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            logging.getLogger(__name__).debug(format, *args)

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        yield Received(server.server_port, queue)
        server.shutdown()
        serving.join()


def test_a_request_is_a_span_of_the_callers_trace(
    collector: Received, serving: Serving, migrated: Callable[[Api], Engine]
) -> None:
    api = serving()
    migrated(api)
    calling = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    asked = api.ask("GET", f"/api/v2/lineage/upstream?node={SECRET}", headers=calling)
    assert asked.status == 404
    come = collector.until("GET /api/v2/lineage/{direction}", "answer")
    ((service, request),) = collector.spans["GET /api/v2/lineage/{direction}"]
    ((_, answer),) = collector.spans["answer"]
    assert service == "whence-api"
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, PARENT)
    assert answer.trace_id.hex() == TRACE
    assert attributes(request)["http.response.status_code"] == "404"
    assert SECRET.encode() not in come
    assert answer.status.code == Status.STATUS_CODE_ERROR
    assert attributes(answer)["error.type"] == "NodeNotFoundError"


def test_an_event_is_named_though_it_passes_no_route(collector: Received, serving: Serving) -> None:
    api = serving()
    assert api.post(f"{{{SECRET}").status == 400
    come = collector.until("POST /api/v1/lineage")
    ((_, posted),) = collector.spans["POST /api/v1/lineage"]
    assert attributes(posted)["http.route"] == "/api/v1/lineage"
    assert SECRET.encode() not in come


def test_the_last_spans_are_sent_at_the_end(
    collector: Received, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    api = serving()
    api.ask("GET", "/health/live")
    assert collector.bodies.empty()
    api.down()
    collector.until("GET /health/live")


def test_a_collector_that_is_gone_stops_nothing(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")  # nobody listens there
    api = serving()
    assert api.ask("GET", "/health/live").status == 200
    api.down()


def test_a_batch_of_the_pipeline_is_a_trace(collector: Received, tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    log = open_log(url := str(tmp_path / "log"))
    fill(log, islice(bodies(seed=5), 20))
    with driving([sys.executable, "-m", "whence.derive", *derive(url, engine)], tmp_path) as driver:
        until(driver, lambda: has_all(engine, log))
        collector.until("batch", "write", "settle")
    engine.dispose()
    (service, batch), *_ = collector.spans["batch"]
    assert service == "whence-pipeline"
    assert {span.parent_span_id for _, span in collector.spans["write"]} >= {batch.span_id}


@pytest.mark.parametrize(
    ("settings", "traced"),
    [
        ({}, False),
        ({ENDPOINT: ""}, False),
        ({ENDPOINT: "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        ({ENDPOINT: "http://collector:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({ENDPOINT: "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
    ],
)
def test_whether_there_are_traces(settings: dict[str, str], traced: bool) -> None:
    assert is_traced(settings) is traced


@pytest.mark.parametrize("wrong", [{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, {"OTEL_TRACES_EXPORTER": "zipkin"}])
def test_what_cannot_be_had_is_said(wrong: dict[str, str]) -> None:
    with pytest.raises(WhenceError, match="OTEL_SDK_DISABLED"):
        is_traced({ENDPOINT: "http://collector:4317"} | wrong)


@pytest.mark.parametrize("module", ["whence.api", "whence.derive"])
def test_without_the_extra_the_endpoint_is_refused(module: str, tmp_path: Path) -> None:
    """Each process says what to install, and no traceback."""
    hidden = "import runpy, sys; sys.modules['opentelemetry.sdk'] = None; "
    hidden += f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    store = ["--store", sqlite_url(tmp_path / "store.db"), "--log", str(tmp_path / "log")]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        fd = listening.fileno()
        serving = ["--data", str(tmp_path), "--open", "--fd", str(fd)] if module == "whence.api" else []
        ended = subprocess.run(
            [sys.executable, "-c", hidden, *store, *serving],
            pass_fds=[fd],
            env=os.environ | {ENDPOINT: "http://127.0.0.1:9"},
            capture_output=True,
            check=False,
            text=True,
        )
    assert ended.returncode != 0
    assert "pip install 'whence-lineage[tracing]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_work_without_traces_is_the_same() -> None:
    with pytest.raises(ZeroDivisionError), spanning("work"):
        _ = 1 // 0
