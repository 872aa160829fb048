"""Signing in and out, sessions elsewhere, and having no role."""

import contextlib
import re

import httpx
from playwright.sync_api import Browser, expect

from ui.access.signed_in import forgive, opened
from ui.conftest import Screen, address
from ui.stories.datasets import FEATURES, PREDICTIONS
from ui.stories.guarded import House, sign_in


def test_a_key_signs_in_to_where_one_was_and_is_kept_nowhere(screen: Screen, house: House) -> None:
    screen.open("node", node=str(PREDICTIONS))
    asked = screen.page.url
    sign_in(screen.page, "whence_00000000_wrong")
    expect(screen.page.get_by_role("alert")).to_contain_text("this key is not known")
    forgive(screen, "401")
    sign_in(screen.page, f" {house.keys['ada']} ")
    expect(screen.page.get_by_role("heading", level=1, name="predictions")).to_be_visible()
    assert screen.page.url == asked
    (cookie,) = screen.page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["secure"]) == ("__Host-whence", True, True)
    kept = screen.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert house.keys["ada"] not in kept + str(cookie)
    screen.page.reload()
    expect(screen.page.get_by_role("button", name="Account of ada")).to_contain_text("Steward")


def test_signing_out_ends_the_session_and_an_ended_one_leads_back(screen: Screen, house: House) -> None:
    page = opened(screen, house, "ada", "node", node=str(PREDICTIONS))
    cookies = page.context.cookies()
    page.get_by_role("button", name="Account of ada").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    stolen = httpx.get(f"{house.base}/api/v2/datasets", cookies={cookies[0]["name"]: cookies[0]["value"]})
    assert stolen.status_code == 401
    expect(page.get_by_text("Your session has ended.")).to_have_count(0)

    sign_in(page, house.keys["ada"])
    expect(page.get_by_role("heading", level=1, name="predictions")).to_be_visible()
    page.reload(wait_until="networkidle")
    # A part of the page that still asks would meet the end first: no answer comes to it.
    page.route(re.compile("/api/v2/(?!lineage|session)"), lambda _: None)
    page.context.clear_cookies()
    page.get_by_role("link", name="Open lineage").click()
    expect(page.get_by_text("Your session has ended.")).to_be_visible()
    page.unroute_all()
    asked = page.url
    sign_in(page, house.keys["ada"])
    expect(page.locator(f'[data-node="{FEATURES}"]')).to_be_visible()
    assert page.url == asked
    forgive(screen, "401")


def test_a_session_somewhere_else_is_ended_and_this_one_goes_on(screen: Screen, browser: Browser, house: House) -> None:
    page = opened(screen, house, "ada")
    with contextlib.closing(browser.new_context()) as elsewhere:
        other = elsewhere.new_page()
        other.goto(f"{house.base}/ui/{address('admin', tab='sessions')}")
        sign_in(other, house.keys["ada"])
        expect(other.get_by_text("this one")).to_be_visible()
        screen.open("admin", tab="sessions")
        rows = page.locator("tbody tr")
        others = rows.filter(has_not_text="this one")
        expect(others).not_to_have_count(0)  # with those of the tests before
        for left in reversed(range(others.count())):
            others.first.get_by_role("button").click()
            page.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
            expect(others).to_have_count(left)
        other.reload()
        expect(other.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    page.reload()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("this one")


def test_a_first_visitor_is_not_told_of_an_ended_session(screen: Screen) -> None:
    screen.open("lineage", node=str(FEATURES))
    expect(screen.page.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    expect(screen.page.get_by_text("Your session has ended.")).to_have_count(0)


def test_without_a_role_there_is_one_page_that_says_whom_to_ask(screen: Screen, house: House) -> None:
    page = opened(screen, house, "nobody")
    for where, query in (("", {}), ("board", {}), ("lineage", {"node": str(FEATURES)})):
        screen.open(where, **query)
        main = page.locator("main")
        expect(main.get_by_role("heading")).to_have_text("You have no role yet")
        expect(main).to_contain_text("whence access grant key:nobody --role reader")
        page.wait_for_load_state("networkidle")
        expect(main).not_to_contain_text("Something went wrong")
