"""A Metabase with three databases, in the form of its documented API, over HTTP."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fixtures.replies import Request, replying
from whence.capture.bi.metabase.source import MetabaseServer, capture
from whence.capture.bi.reports import Found

HERE = Path(__file__).parent
Json = dict[str, Any]


class Replay:
    """The answers; a test changes them between polls."""

    def __init__(self) -> None:
        self.answers: Json = json.loads((HERE / "answers.json").read_text("utf-8"))
        self.server: MetabaseServer
        self.url = ""

    def answer(self, request: Request) -> tuple[int, Any]:
        if request.headers.get("x-api-key") != "mb_k3y":
            return 401, "Unauthenticated"
        found = self.answers.get(request.path.removeprefix("/api/"))
        return (200, found) if found is not None else (403, "You don't have permissions to do that.")

    def read(self) -> Found:
        server = self.server
        named = MetabaseServer(api=server.api, connections={}, instance="metabase://metabase")
        return named.read()


@contextmanager
def replaying() -> Iterator[Replay]:
    """Serve the answers while the context is open, to a user who may ask."""
    made = Replay()
    with pytest.MonkeyPatch.context() as patch, replying(made.answer) as url:
        patch.setenv("WHENCE_METABASE_KEY", "mb_k3y")
        made.url = url
        made.server = capture.configure({"url": url})
        made.server.api.source.pause = lambda seconds: None
        yield made
