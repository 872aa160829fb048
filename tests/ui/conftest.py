"""The story behind a real API process, and a real Chromium that looks at it."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from api.prepared_process import ServingProcess
from ui.browser.chromium import chromium
from ui.stories.serve import prepared
from whence.api.settings import Settings
from whence.api.ui import FILES

expect.set_options(timeout=20_000)  # of a busy machine; nothing waits longer than it must


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an API over the story, without a slash at its end."""
    with serving(prepared(tmp_path_factory.mktemp("ui"))) as address_of_api:
        yield address_of_api


@contextlib.contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """Serve an API in a process of its own: its address, without a slash at its end."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        process = ServingProcess(settings.data, settings.store_url, listening, {"open": settings.open})
        try:
            process.wait_until_ready()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            process.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless. As root it cannot have its own sandbox. For a module: meanwhile its event loop is this thread's."""
    if not (FILES / "index.html").is_file():
        pytest.fail("the UI is not built: make ui")
    path = chromium()
    if not path:
        pytest.fail("no Chromium: `make .venv/browser` installs one")
    with sync_playwright() as playwright:
        # Drawing by a GPU that is not there costs an eighth more time.
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def address(page: str, **query: str) -> str:
    """A page of the UI, below `/ui/`."""
    return f"{page}?{urlencode(query)}" if query else page


@dataclass(slots=True)
class Screen:
    """A page of the UI. What its console complained of, violations of the policy among it, is in `complaints`."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def open(self, page: str = "", **query: str) -> None:
        """Go to a page of the UI."""
        self.page.goto(f"{self.base}/ui/{address(page, **query)}")

    def heard(self, message: ConsoleMessage) -> None:
        """Keep what is an error or a warning."""
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def places(self) -> dict[str, tuple[float, float]]:
        """Where each box is in the graph, whatever the camera shows."""
        found: list[list[object]] = self.page.locator(".react-flow__node-box").evaluate_all(
            """some => some.map(one => {
                const at = new DOMMatrix(getComputedStyle(one).transform);
                return [one.querySelector('[data-node]').dataset.node, at.e, at.f];
            })"""
        )
        return {str(node): (float(str(x)), float(str(y))) for node, x, y in found}


@pytest.fixture
def screen(browser: Browser, served: str) -> Iterator[Screen]:
    """A fresh window of 1280 × 800. Fails the test if the page complained of anything."""
    with contextlib.closing(browser.new_context(viewport={"width": 1280, "height": 800})) as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        opened = Screen(page, served)
        page.on("console", lambda message: opened.heard(message))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        yield opened
        assert opened.complaints == []
