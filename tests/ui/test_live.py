"""How old what is on the screen is: it follows the server by itself, not while nobody looks. Where streams are held
back, it is asked again; less often while it fails.
"""

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request as Post
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, Request, expect

from fixtures.stores_of_events import apply
from ui.conftest import Screen, serving
from ui.stories.datasets import FEATURES, SESSIONS
from ui.stories.serve import prepared
from whence.log.segments.read import committed_end, read_records
from whence.store.connection.engine import open_store

MINUTE = 60_000


@pytest.fixture
def asked(screen: Screen) -> Iterator[list[str]]:
    """The paths of the API that the page asks, in order. Its clock stands still until it is set on."""
    paths: list[str] = []

    def note(request: Request) -> None:
        if "/api/v2/" in request.url:
            paths.append(request.url.partition("/api/v2/")[2])

    screen.page.clock.install()
    screen.page.on("request", note)
    yield paths
    screen.complaints[:] = [one for one in screen.complaints if "ERR_INTERNET_DISCONNECTED" not in one]


def wait_for_quiet(page: Page) -> None:
    page.wait_for_load_state("networkidle")


def run_until_asked(page: Page) -> None:
    """Set the clock on until how far the graph is was asked once more, and what followed from it is on the screen."""
    with page.expect_response(re.compile("/progress$")):
        page.clock.run_for(15_500)
    for _ in range(400):
        if page.get_by_role("button", name="Refresh").get_attribute("aria-busy") == "false":
            return
        page.clock.run_for(50)  # the page itself looks at such intervals whether all is answered
    raise AssertionError("the page still asks")


@pytest.fixture
def held_back(screen: Screen) -> Iterator[Screen]:
    """A window behind a proxy that lets no stream through."""
    screen.page.route("**/progress/events", lambda route: route.abort())
    yield screen
    screen.complaints[:] = [one for one in screen.complaints if "ERR_FAILED" not in one]


def failed_run(job: str) -> bytes:
    """An event of a run of a job that just failed."""
    event = {
        "eventTime": datetime.now(UTC).isoformat(),
        "eventType": "FAIL",
        "producer": "https://example.com/live",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "live", "name": job},
        "inputs": [],
        "outputs": [{"namespace": "live", "name": f"{job}_out"}],
    }
    return json.dumps(event).encode()


def test_what_happens_is_on_the_screen_by_itself(screen: Screen, tmp_path: Path) -> None:
    settings = prepared(tmp_path)
    engine, log = open_store(settings.store_url), settings.data / "log"
    requests = list[str]()
    screen.page.on("request", lambda one: requests.append(one.url.partition("/api/v2/")[2]))
    with serving(settings) as base:
        replace(screen, base=base).open("board")
        expect(screen.page.locator(".trouble-failing").first).to_be_visible()
        begin = committed_end(log)
        urlopen(Post(f"{base}/api/v1/lineage", failed_run("collapses"), {"content-type": "application/json"})).close()
        end = committed_end(log)
        apply(engine, list(read_records(log, begin, end)), end)
        expect(screen.page.get_by_role("link", name="job collapses fails")).to_be_visible()
        assert requests.count("progress/events") == 1
        assert requests.count("progress") <= 3, "a reload that came too soon is made after all; else nothing is asked"
        screen.page.goto("about:blank")
    engine.dispose()


def test_where_streams_are_held_back_a_board_asks_again_and_says_how_old_it_is(
    held_back: Screen, asked: list[str]
) -> None:
    page = held_back.page
    held_back.open("board")
    expect(page.locator(".trouble-failing").first).to_be_visible()
    age = page.locator(".age")
    page.clock.run_for(12_000)
    expect(age).to_contain_text("12 s ago")
    asked.clear()
    for _ in range(5):
        run_until_asked(page)
    assert [one.partition("?")[0] for one in asked].count("troubles") == 1
    assert asked.count("progress") == 5
    assert asked.count("progress/events") <= 3, "ever less often"
    expect(age).to_contain_text(re.compile(r"As of \d\d:\d\d:\d\d UTC"))


def test_nothing_is_asked_while_nobody_looks(screen: Screen, asked: list[str]) -> None:
    page = screen.page
    screen.open("board")
    expect(page.locator(".trouble-failing").first).to_be_visible()
    wait_for_quiet(page)
    look = """is => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(look, True)
    asked.clear()
    page.clock.run_for(10 * MINUTE)
    assert asked == []
    with page.expect_request(re.compile("progress$")):
        page.evaluate(look, False)


def test_without_a_server_what_was_shown_stays_and_is_asked_ever_less_often(screen: Screen, asked: list[str]) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES))
    expect(page.locator(f'[data-node="{SESSIONS}"]')).to_be_visible()
    page.clock.run_for(16_000)
    wait_for_quiet(page)
    page.context.set_offline(True)
    asked.clear()
    for _ in range(10 * 4):
        page.clock.run_for(MINUTE // 4)
        page.evaluate("() => 0")  # what failed has been told
    assert 3 <= len(asked) <= 8, asked
    assert set(asked) == {"progress"}
    expect(page.locator(".age")).to_contain_text("the server cannot be reached")
    expect(page.locator(f'[data-node="{SESSIONS}"]')).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator(".age")).not_to_contain_text("cannot be reached")


def test_refreshing_asks_everything_again_and_moves_no_box(screen: Screen, asked: list[str]) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES))
    expect(page.locator(f'[data-node="{SESSIONS}"]')).to_be_visible()
    page.clock.run_for(1_000)
    wait_for_quiet(page)
    places, camera = screen.places(), page.locator(".react-flow__viewport").get_attribute("style")
    asked.clear()
    with page.expect_response(re.compile("lineage/upstream")):
        page.get_by_role("button", name="Refresh").click()
    page.clock.run_for(1_000)
    wait_for_quiet(page)
    assert {one.partition("?")[0] for one in asked} >= {"lineage/upstream", "lineage/downstream", "traits", "facts"}
    assert screen.places() == places
    assert page.locator(".react-flow__viewport").get_attribute("style") == camera
