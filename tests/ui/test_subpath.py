"""Behind a proxy that puts Whence below a path of its own, and takes that path off."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import expect

from ui.conftest import Screen
from ui.stories.datasets import PREDICTIONS

BELOW = "/tools/whence"


@pytest.fixture
def proxied(served: str) -> Iterator[str]:
    """The address of the proxy, with its path."""

    class Forward(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path.startswith(BELOW + "/"), self.path
            answer = httpx.get(served + self.path.removeprefix(BELOW), timeout=60)
            self.send_response(answer.status_code)
            for name in ("content-type", "content-security-policy", "location"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{BELOW}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_everything_stays_below_the_path(screen: Screen, proxied: str) -> None:
    page = screen.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{proxied}/")
    page.get_by_role("button", name="Name of a dataset, column or job").click()
    page.get_by_role("combobox").fill("gold.predictions")
    page.get_by_role("option").first.click()
    expect(page.locator(f'[data-node="{PREDICTIONS}"]')).to_be_visible()
    expect(page.locator(".react-flow__node-box")).to_have_count(3)
    assert any(".worker-" in one for one in asked)
    assert [one for one in asked if not one.startswith(proxied + "/")] == []
