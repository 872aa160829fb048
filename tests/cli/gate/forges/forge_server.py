"""A local server of a forge's REST API: credentials, pages and JSON; what it answers is the forge's own."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changed something. `action`: create or edit (a comment), status, annotate; `text`: of the comment,
    or the status's title; `commit`: which one has the status.
    """

    action: str
    text: str = ""
    state: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """How a forge is asked. `answer`: of method, path below `prefix`, body, page and its size: status and JSON."""

    answer: Callable[[str, str, Json, int, int], tuple[int, Any]]
    credential: tuple[str, str]
    """The header with which a request is authorised, and its value."""
    refusal: str
    page_size: int
    prefix: str = ""


class _Handler(BaseHTTPRequestHandler):
    forge: Forge

    def _answer(self) -> None:
        forge, parts = self.forge, urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        status, document = 401, {"message": forge.refusal}
        header, value = forge.credential
        if self.headers.get(header) == value:
            query = parse_qs(parts.query)
            page, size = (int(query.get(name, [of])[0]) for name, of in (("page", 1), ("per_page", forge.page_size)))
            path = parts.path.removeprefix(forge.prefix)
            status, document = forge.answer(self.command, path, body, page, size)
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = _answer

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
