"""Requests to the application without a socket, over a store that a test fills."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
from fastapi import FastAPI

from whence.api.http.clock import Clock, system_clock
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.store.connection.engine import sqlite_url


@dataclass(frozen=True, slots=True)
class Answer:
    """What the application said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Client:
    """Asks one application, one request after the other."""

    app: FastAPI
    loop: asyncio.AbstractEventLoop

    def get(self, path: str, /, headers: Mapping[str, str] | None = None, **parameters: Any) -> Answer:
        """GET with query parameters; lists are repeated."""
        return self.loop.run_until_complete(self._get(path, urlencode(parameters, doseq=True), headers or {}))

    async def _get(self, path: str, query: str, headers: Mapping[str, str]) -> Answer:
        messages: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            messages.append(message)

        sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": sent}
        await self.app(scope, receive, send)
        got = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
        answer = Answer(messages[0]["status"], got, b"".join(part.get("body", b"") for part in messages[1:]))
        check_answer(path, answer)
        return answer


def check_answer(path: str, answer: Answer) -> None:
    """Fail if the OpenAPI document does not describe the answer to a GET request."""
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    if not media_type.endswith("json") or not path.startswith(("/api/", "/health/")):
        return
    template = next((one for one, pattern in _templates() if pattern.fullmatch(path)), None)
    assert template or answer.status == 404, path
    if template:
        _validator(template, str(answer.status), media_type).validate(answer.json)


@cache
def _document() -> dict[str, Any]:
    """The OpenAPI document, made once: it takes a second, and every application of these tests has the same."""
    with TemporaryDirectory() as directory:
        data = Path(directory)
        return create_app(Settings(data=data, store_url=sqlite_url(data / "store.db"), open=True)).openapi()


@cache
def _templates() -> list[tuple[str, re.Pattern[str]]]:
    """Paths with a GET operation, those with fewer parameters first."""
    found = [path for path, methods in _document()["paths"].items() if "get" in methods]
    return [(one, re.compile(re.sub(r"{\w+}", "[^/]+", one))) for one in sorted(found, key=lambda one: one.count("{"))]


@cache
def _validator(template: str, status: str, media_type: str) -> jsonschema_rs.Validator:
    content = _document()["paths"][template]["get"]["responses"][status]["content"]
    return jsonschema_rs.validator_for({**content[media_type]["schema"], "components": _document()["components"]})


@contextmanager
def asking(directory: Path, store_url: str, clock: Clock = system_clock) -> Iterator[Client]:
    """A client of an application over a store."""
    app = create_app(Settings(data=directory, store_url=store_url, open=True), clock)
    with asyncio.Runner() as runner:
        context = app.router.lifespan_context(app)
        runner.run(context.__aenter__())
        yield Client(app, runner.get_loop())
        runner.run(context.__aexit__(None, None, None))
    app.state.engine.dispose()
