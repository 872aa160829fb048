"""A Superset with three databases, in the form of its documented API, over HTTP."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fixtures.replies import Request, replying
from whence.capture.bi.superset.source import SupersetServer, capture

HERE = Path(__file__).parent
Json = dict[str, Any]


class Replay:
    """The answers; a test changes them between polls."""

    def __init__(self) -> None:
        self.answers: Json = json.loads((HERE / "answers.json").read_text("utf-8"))
        self.server: SupersetServer
        self.url = ""
        self.status = 200

    def answer(self, request: Request) -> tuple[int, Any]:
        path = request.path.removeprefix("/")
        if path == "api/v1/security/login":
            is_right = request.body["password"] == "hush-4711"
            return (200, {"access_token": "t0ken"}) if is_right else (401, {"message": "Not authorized"})
        if request.authorization != "Bearer t0ken":
            return 401, {"message": "Missing Authorization Header"}
        if path in self.answers["lists"]:
            rows = self.answers["lists"][path]
            page = int(request.query["q"].partition("page:")[2].partition(",")[0])
            return self.status, {"count": len(rows), "result": rows[page * 100 :][:100]}
        found = self.answers["results"].get(path.removeprefix("api/v1/"))
        return (200, {"result": found}) if found is not None else (403, {"message": "Forbidden"})


@contextmanager
def replaying() -> Iterator[Replay]:
    """Serve the answers while the context is open, to a user who may ask."""
    made = Replay()
    with pytest.MonkeyPatch.context() as patch, replying(made.answer) as url:
        patch.setenv("WHENCE_SUPERSET_USER", "ada")
        patch.setenv("WHENCE_SUPERSET_PASSWORD", "hush-4711")
        made.url = url
        made.server = capture.configure({"url": url})
        made.server.api.source.pause = lambda seconds: None
        yield made
