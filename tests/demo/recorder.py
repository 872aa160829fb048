"""A collector that remembers what producers send, and passes it on to another."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx

JSON = {"Content-Type": "application/json"}


@dataclass(slots=True)
class Recorder:
    """The events that arrived at `url`, in order of arrival, with the answers of `collector`."""

    collector: str
    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    authorizations: set[str | None] = field(default_factory=set)


@contextmanager
def recording(collector: str) -> Iterator[Recorder]:
    """Serve on a free port of the loopback interface until the block ends. `collector`: the address of the other."""
    recorder = Recorder(collector)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(recorder))
    recorder.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self._chunks() if "Content-Length" not in self.headers else self._sized()
            plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            sent = json.loads(plain)
            recorder.events += sent if isinstance(sent, list) else [sent]
            recorder.paths.add(self.path)
            recorder.authorizations.add(self.headers.get("Authorization"))
            answer = httpx.post(recorder.collector + self.path, content=plain, headers=JSON, timeout=60)
            self.send_response(answer.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

        def _sized(self) -> bytes:
            return self.rfile.read(int(self.headers["Content-Length"]))

        def _chunks(self) -> bytes:
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

    return Handler
