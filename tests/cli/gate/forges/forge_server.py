"""A local server of a forge's REST API: credentials, pages, failures and JSON; what it answers is the forge's own."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changed something. `action`: create, edit or delete (a comment), status, annotate; `text`: of the
    comment, or the status's title; `commit`: which one has the status.
    """

    action: str
    text: str = ""
    state: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and the status of its answer."""

    method: str
    path: str
    body: Json
    status: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer in the place of the forge's own, once. `path`: its end; `status` 0: the connection ends unanswered."""

    method: str
    path: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    is_done: bool = False
    """Whether the forge does what was asked, and fails only then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """How a forge is asked. `answer`: of method, path below `prefix`, body, page and its size: status and JSON."""

    answer: Callable[[str, str, Json, int, int], tuple[int, Any]]
    credential: tuple[str, str]
    """The header with which a request is authorised, and its value."""
    refusal: str
    page_size: int
    prefix: str = ""
    failures: list[Failure] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    def failure(self, method: str, path: str) -> Failure | None:
        """The next failure of a request."""
        found = next((one for one in self.failures if one.method == method and path.endswith(one.path)), None)
        if found:
            self.failures.remove(found)
        return found


class _Handler(BaseHTTPRequestHandler):
    forge: Forge

    def _answer(self) -> None:
        forge, parts = self.forge, urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        path = parts.path.removeprefix(forge.prefix)
        failure = forge.failure(self.command, path)
        status, document, headers = 401, {"message": forge.refusal}, {}
        header, value = forge.credential
        if self.headers.get(header) == value and (failure is None or failure.is_done):
            query = parse_qs(parts.query)
            page, size = (int(query.get(name, [of])[0]) for name, of in (("page", 1), ("per_page", forge.page_size)))
            status, document = forge.answer(self.command, path, body, page, size)
        if failure is not None:
            status, document, headers = failure.status, {"message": "not now"}, failure.headers
        forge.exchanges.append(Exchange(self.command, path, body, status))
        if not status:
            self.close_connection = True
            return
        content = b"" if status == 204 else json.dumps(document).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextmanager
def forge_server(forge: Forge) -> Iterator[str]:
    """The address of the API of a server over a forge."""
    handler = type("Handler", (_Handler,), {"forge": forge})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}{forge.prefix}"
        server.shutdown()
        thread.join()
