"""The access review in the browser: a decision is made and seen; who does not administer is told so."""

import re

from playwright.sync_api import expect

from ui.access.signed_in import opened
from ui.conftest import Screen
from ui.stories.guarded import House


def test_an_administrator_keeps_a_grant(screen: Screen, house: House) -> None:
    page = opened(screen, house, "root", "board", of="governance")
    row = page.get_by_role("row", name=re.compile("^key:ada"))
    expect(row).to_contain_text("key never expires")
    row.get_by_role("button", name="Keep key:ada in *").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("<b>she</b> runs it")
    dialog.get_by_role("button", name="Keep", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(row).to_contain_text("kept by key:root: <b>she</b> runs it")


def test_who_may_read_little_sees_counts_of_the_rest(screen: Screen, house: House) -> None:
    page = opened(screen, house, "guest", "board", of="governance")
    expect(page.locator("#access")).to_contain_text("For administrators of everything.")
    expect(
        page.get_by_text(re.compile(r"\d+ more rules are not met for datasets that you may not see"))
    ).to_be_visible()
    expect(page.locator("#labels")).to_contain_text(re.compile(r"\d+ namespaces are hidden from you"))
    assert "erp" not in page.locator("main").inner_text()
