"""How old what is on the screen is: it is asked again by itself, not while nobody looks, less often while it fails."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Request, expect

from ui.conftest import Screen
from ui.stories.datasets import FEATURES, SESSIONS

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


def test_a_board_asks_again_by_itself_and_says_how_old_it_is(screen: Screen, asked: list[str]) -> None:
    page = screen.page
    screen.open("board")
    expect(page.locator(".trouble-failing").first).to_be_visible()
    age = page.locator(".age")
    page.clock.run_for(12_000)
    expect(age).to_contain_text("12 s ago")
    asked.clear()
    for _ in range(5):
        run_until_asked(page)
    assert [one.partition("?")[0] for one in asked].count("troubles") == 1
    assert asked.count("progress") == 5
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
