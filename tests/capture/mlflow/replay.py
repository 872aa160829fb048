"""The recorded answers of a real MLflow over HTTP, as a server gives them: for pages, cursor and errors of polls.

The real server itself is polled in tests/nightly/mlflow.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]


@dataclass
class Replay:
    """What the server has; a test changes it between polls. `page`: the size of pages. `status`: the error of all."""

    experiments: dict[str, str] = field(default_factory=dict)
    runs: list[Json] = field(default_factory=list)
    models: dict[str, Json] = field(default_factory=dict)
    signatures: dict[str, Json] = field(default_factory=dict)
    versions: list[Json] = field(default_factory=list)
    aliases: dict[str, list[Json]] = field(default_factory=dict)
    page: int = 2
    status: int = 200
    time: int = 0
    url: str = ""
    authorizations: set[str] = field(default_factory=set)

    def answer(self, path: str, query: Json) -> tuple[int, Json | str]:
        """The status and the answer of a request."""
        if self.status != 200:
            return self.status, {"error_code": "INTERNAL_ERROR"}
        if path == "/version":
            return 200, "3.17.2"
        if found := re.fullmatch(r"/ajax-api/2.0/mlflow/logged-models/([^/]+)/artifacts/files", path):
            signature = self.signatures.get(found[1])
            return (200, json.dumps({"signature": signature})) if signature else (404, {})
        if found := re.fullmatch(r"/api/2.0/mlflow/logged-models/([^/]+)", path):
            return (200, {"model": self.models[found[1]]}) if found[1] in self.models else (404, {})
        return self._search(path.removeprefix("/api/2.0/mlflow/"), query)

    def _search(self, path: str, query: Json) -> tuple[int, Json]:
        if path == "experiments/search":
            rows: list[Json] = [{"experiment_id": key, "name": name} for key, name in self.experiments.items()]
            return self._page("experiments", rows, query)
        if path == "runs/search":
            return self._page("runs", list(self._found(query)), query)
        if path == "runs/get":
            run = next((one for one in self.runs if one["info"]["run_id"] == query["run_id"]), None)
            return (200, {"run": run}) if run else (404, {})
        if path == "registered-models/search":
            names = sorted({str(one["name"]) for one in self.versions})
            models: list[Json] = [{"name": name, "aliases": self.aliases.get(name, [])} for name in names]
            return self._page("registered_models", models, query)
        assert path == "model-versions/search", path
        return self._page("model_versions", self.versions, query)

    def _found(self, query: Json) -> Iterator[Json]:
        condition = str(query["filter"])
        first, last = (re.search(rf"end_time {sign} (\d+)", condition) for sign in (">=", "<"))
        for run in sorted(self.runs, key=lambda one: one["info"].get("end_time", 0)):
            info = run["info"]
            if info["experiment_id"] not in query["experiment_ids"]:
                continue
            ended = info.get("end_time", -1)
            if first is None:
                is_found = info["status"] == "RUNNING"
            else:
                is_found = ended >= int(first[1]) and (last is None or ended < int(last[1]))
            if is_found:
                yield run

    def _page(self, member: str, rows: list[Json], query: Json) -> tuple[int, Json]:
        start = int(query.get("page_token", 0))
        more = {"next_page_token": str(start + self.page)} if start + self.page < len(rows) else {}
        return 200, {member: rows[start : start + self.page], **more}


@contextmanager
def replaying(replay: Replay) -> Iterator[Replay]:
    """Serve on loopback while the context is open."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            self._reply(address.path, {name: one[0] for name, one in parse_qs(address.query).items()})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(self.path, json.loads(body))

        def _reply(self, path: str, query: Json) -> None:
            replay.authorizations.add(self.headers.get("Authorization", ""))
            status, document = replay.answer(path, query)
            text = document if isinstance(document, str) else json.dumps(document)
            self.send_response_only(status)
            self.send_header("Date", formatdate(replay.time / 1000, usegmt=True))
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    replay.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield replay
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
