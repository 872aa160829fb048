"""How the API hands out the UI: its policy, its caching, and what it says when the UI is not built."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.api.ui import ALWAYS_ASK, FOREVER, POLICY, WORKER_POLICY, router
from whence.store.connection.engine import sqlite_url

Get = Callable[[str], httpx.Response]


def client(files: Path) -> Get:
    app = FastAPI(docs_url=None, redoc_url=None)
    app.include_router(router(files))

    async def ask(path: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://whence") as asked:
            return await asked.get(path)

    return lambda path: asyncio.run(ask(path))


@pytest.fixture
def built(tmp_path: Path) -> Get:
    (tmp_path / "assets").mkdir()
    for name in (
        "index.html",
        "docs.html",
        "icon.svg",
        "assets/index-1a2b.js",
        "assets/tidy.worker-3c4d.js",
        "secret.js",
    ):
        (tmp_path / name).write_text(name)
    return client(tmp_path)


def test_every_page_is_the_one_document_and_asked_for_again(built: Get) -> None:
    for path in ("/ui/", "/ui/lineage?node=dataset%3As3%3A%2F%2Flake%3Araw%2Flogs", "/ui/node"):
        answer = built(path)
        assert (answer.status_code, answer.text) == (200, "index.html"), path
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["cache-control"] == ALWAYS_ASK


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_docs_lead_to_a_page_under_the_same_policy(built: Get, path: str) -> None:
    assert (built(path).status_code, built(path).headers["location"]) == (307, "ui/api")
    answer = built("/ui/api")
    assert (answer.status_code, answer.text) == (200, "docs.html")
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_policy_lets_nothing_run_that_is_not_a_file_of_this_origin() -> None:
    assert POLICY.startswith("default-src 'self';")
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_assets_are_kept_for_ever_and_only_the_worker_may_run_wasm(built: Get) -> None:
    script, worker = built("/ui/assets/index-1a2b.js"), built("/ui/assets/tidy.worker-3c4d.js")
    assert script.headers["cache-control"] == worker.headers["cache-control"] == FOREVER
    assert script.headers["content-security-policy"] == POLICY
    assert worker.headers["content-security-policy"] == WORKER_POLICY
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert script.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/ui/assets/index-0000.js", "/ui/assets/..%2fsecret.js", "/ui/assets/%2e%2e/secret.js"]
)
def test_nothing_but_assets_is_handed_out(built: Get, path: str) -> None:
    assert "secret" not in built(path).text


@pytest.mark.parametrize("path", ["/", "/ui"])
def test_start_leads_to_the_ui_wherever_a_proxy_puts_it(built: Get, path: str) -> None:
    answer = built(path)
    assert (answer.status_code, answer.headers["location"]) == (307, "ui/")


def test_without_a_built_ui_one_plain_page_says_what_to_do(tmp_path: Path) -> None:
    answer = client(tmp_path)("/ui/lineage")
    assert answer.status_code == 503
    assert "make ui" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(Settings(data=tmp_path, store_url=sqlite_url(tmp_path / "store.db")))
    yield made
    made.state.engine.dispose()


def test_the_ui_is_no_part_of_the_described_api(app: FastAPI) -> None:
    assert not [path for path in app.openapi()["paths"] if path == "/" or path.startswith("/ui")]
