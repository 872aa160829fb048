"""A local server that answers as GitHub's REST API documents, and refuses what that refuses."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]

TOKEN = "ghs_of_the_workflow"
CONCLUSIONS = {
    *("action_required", "cancelled", "failure", "neutral", "skipped", "stale", "success", "timed_out"),
}


@dataclass
class GitHubState:
    """What a repository with one pull request holds; `written`: every request that changed something."""

    comments: list[Json] = field(default_factory=list)
    reviews: list[Json] = field(default_factory=list)
    checks: list[Json] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    can_write: bool = True

    def review(self, login: str, commit: str, state: str = "APPROVED", type: str = "User") -> None:
        """Somebody reviews a commit."""
        self.reviews.append({"user": {"login": login, "type": type}, "state": state, "commit_id": commit})

    def comment(self, login: str, body: str) -> None:
        """Somebody comments."""
        self.comments.append({"id": len(self.comments) + 1, "user": {"login": login}, "body": body})

    def answer(self, method: str, path: str, body: Json | None, page: int, size: int) -> tuple[int, Any]:
        """The status and JSON of one request."""
        if method != "GET" and not self.can_write:
            return 403, {"message": "Resource not accessible by integration"}
        start = (page - 1) * size
        match method, re.sub(r"/\d+(?=/|$)", "/N", path):
            case "GET", "/repos/shop/pipeline/pulls/N/reviews":
                return 200, self.reviews[start : start + size]
            case "GET", "/repos/shop/pipeline/issues/N/comments":
                return 200, self.comments[start : start + size]
            case "POST", "/repos/shop/pipeline/issues/N/comments":
                return self._write_comment(body, None)
            case "PATCH", "/repos/shop/pipeline/issues/comments/N":
                return self._write_comment(body, int(path.rsplit("/", 1)[1]))
            case "POST", "/repos/shop/pipeline/check-runs":
                return self._write_check(body or {}, None)
            case "PATCH", "/repos/shop/pipeline/check-runs/N":
                return self._write_check(body or {}, int(path.rsplit("/", 1)[1]))
        return 404, {"message": "Not Found"}

    def _write_comment(self, body: Json | None, id_: int | None) -> tuple[int, Any]:
        text = (body or {}).get("body")
        if not isinstance(text, str) or not 0 < len(text) <= 65_536:
            return 422, {"message": "Validation Failed"}
        self.written.append("create comment" if id_ is None else "edit comment")
        if id_ is None:
            self.comment("github-actions[bot]", text)
            return 201, self.comments[-1]
        self.comments[id_ - 1]["body"] = text
        return 200, self.comments[id_ - 1]

    def _write_check(self, body: Json, id_: int | None) -> tuple[int, Any]:
        output = body.get("output") or {}
        known = {"path", "start_line", "end_line", "annotation_level", "title", "message"}
        annotations = output.get("annotations") or []
        is_right = (
            len(annotations) <= 50
            and all(one.keys() == known for one in annotations)
            and all(one["annotation_level"] in ("notice", "warning", "failure") for one in annotations)
            and isinstance(output.get("title"), str)
            and 0 < len(output.get("summary", "")) <= 65_535
            and (id_ is not None or (body.get("name") and re.fullmatch("[0-9a-f]{40}", body.get("head_sha", ""))))
            and body.get("conclusion", "success") in CONCLUSIONS
        )
        if not is_right:
            return 422, {"message": "Invalid request."}
        if id_ is None:
            self.written.append(f"check {body['conclusion']}")
            self.checks.append({"id": len(self.checks) + 1, **body})
            return 201, self.checks[-1]
        self.written.append("more annotations")
        self.checks[id_ - 1]["output"]["annotations"] += annotations
        return 200, self.checks[id_ - 1]


class _Handler(BaseHTTPRequestHandler):
    state: GitHubState

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        asked = parse_qs(parts.query)
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        status, document = 401, {"message": "Bad credentials"}
        if self.headers.get("authorization") == f"Bearer {TOKEN}":
            page, size = (int(asked.get(name, [default])[0]) for name, default in (("page", "1"), ("per_page", "30")))
            status, document = self.state.answer(self.command, parts.path, body, page, size)
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = _answer

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextmanager
def github_server(state: GitHubState) -> Iterator[str]:
    """The address of a server over a state."""
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
