"""Somebody new: from the start page to where a prediction comes from, in four clicks at most and within a minute."""

import time

from playwright.sync_api import expect

from ui.conftest import Screen
from ui.stories.datasets import CLEAN, FEATURES, PAYMENTS, SESSIONS, TICKETS, USAGE

MOST_CLICKS = 4
MOST_SECONDS = 60

COUNT = "addEventListener('click', () => sessionStorage.clicks = 1 + Number(sessionStorage.clicks ?? 0), true)"


def test_where_a_prediction_comes_from_in_four_clicks(screen: Screen) -> None:
    page = screen.page
    page.add_init_script(COUNT)
    began = time.monotonic()
    screen.open()
    page.get_by_role("button", name="Name of a dataset, column or job").click()
    page.keyboard.type("prediction")
    page.get_by_role("option", name="predictions").first.click()
    page.get_by_role("button", name="Columns of predictions").click()
    page.locator(".row").get_by_role("button", name="churn_probability").click()
    for one in (FEATURES, CLEAN, SESSIONS, TICKETS, PAYMENTS, USAGE):
        expect(page.locator(f'[data-node="{one}"]')).to_be_visible()
    expect(page.locator(f'[data-node="{USAGE}"]')).to_contain_text("last_login")
    took = time.monotonic() - began
    assert int(page.evaluate("sessionStorage.clicks")) <= MOST_CLICKS
    assert took < MOST_SECONDS
