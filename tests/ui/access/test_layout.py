"""Pages for people who are signed in: accessible, and as wide as a phone."""

import contextlib

from playwright.sync_api import Browser, Page, expect

from ui.browser.axe import find_violations, page_for_axe
from ui.conftest import Screen, address
from ui.stories.datasets import PREDICTIONS
from ui.stories.guarded import House, sign_in

PAGES = {
    "keys": address("admin", tab="keys"),
    "roles": address("admin", tab="access"),
    "audit": address("admin", tab="audit"),
    "sessions": address("admin", tab="sessions"),
    "dataset": address("node", node=str(PREDICTIONS)),
    "graph": address("lineage", node=str(PREDICTIONS), panel="about", at=str(PREDICTIONS)),
    "governance": address("board", of="governance"),
}


def grave(page: Page) -> list[tuple[str, str]]:
    found = find_violations(page, {})
    return [(one["id"], one["nodes"][0]["target"]) for one in found if one["impact"] in ("serious", "critical")]


def test_axe_finds_nothing_serious(browser: Browser, house: House) -> None:
    with page_for_axe(browser) as page:
        page.goto(f"{house.base}/ui/")
        expect(page.get_by_label("API key")).to_be_visible()
        assert grave(page) == []
        sign_in(page, house.keys["root"])
        expect(page.get_by_role("button", name="Account of root")).to_be_visible()
        for name, where in PAGES.items():
            page.goto(f"{house.base}/ui/{where}")
            page.wait_for_load_state("networkidle")
            expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0)
            assert grave(page) == [], name
        page.get_by_role("button", name="Account of root").click()
        assert grave(page) == []
        page.goto(f"{house.base}/ui/{PAGES['keys']}")
        page.get_by_role("button", name="New key").click()
        assert grave(page) == []


def test_pages_fit_a_phone(browser: Browser, house: House) -> None:
    with contextlib.closing(browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)) as context:
        page = context.new_page()
        page.goto(f"{house.base}/ui/")
        expect(page.get_by_label("API key")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        sign_in(page, house.keys["root"])
        account = page.get_by_role("button", name="Account of root")
        expect(account).to_be_visible()  # a page that is left earlier takes its question with it
        for name, where in PAGES.items():
            page.goto(f"{house.base}/ui/{where}")
            page.wait_for_load_state("networkidle")
            expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            box = account.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390, name


def test_the_open_tab_is_in_sight_on_a_phone(screen: Screen, house: House) -> None:
    screen.page.set_viewport_size({"width": 390, "height": 844})
    screen.open("admin", tab="audit")
    sign_in(screen.page, house.keys["root"])
    tab = screen.page.get_by_role("link", name="Audit log")
    expect(tab).to_have_attribute("aria-current", "page")
    expect(tab).to_be_in_viewport(ratio=1)
    screen.page.get_by_role("link", name="Roles").click()
    expect(screen.page.get_by_role("link", name="Roles")).to_be_in_viewport(ratio=1)
