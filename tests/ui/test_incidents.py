"""Incidents: the list, and the page of one with its root, its findings and its history."""

import re

from playwright.sync_api import expect

from ui.conftest import Screen


def test_the_list_leads_to_one_with_its_root_and_history(screen: Screen) -> None:
    screen.open("board")
    screen.page.get_by_role("banner").get_by_role("link", name="Incidents").click()
    expect(screen.page.get_by_role("heading", name="Incidents", exact=True)).to_be_visible()
    late = screen.page.locator("tbody tr").filter(has_text="charges are fresh")
    expect(late).to_contain_text("open")
    late.get_by_role("link").first.click()
    expect(screen.page).to_have_url(re.compile("/ui/incident\\?incident="))
    facts = screen.page.locator("aside .facts")
    expect(facts).to_contain_text("Root")
    expect(facts).to_contain_text("platform")
    for name in ("Possible causes", "Whom it affects", "Findings", "History"):
        expect(screen.page.get_by_role("heading", name=name)).to_be_visible()
    history = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="History"))
    expect(history.locator("li").first).to_contain_text("open")
    aside = screen.page.locator("aside")
    expect(aside).to_contain_text("The newest run before it that can be trusted, to roll back to:")
    expect(aside).to_contain_text("1 job of which no schedule is known")
    for name, there in (
        ("Lineage when it began", "/ui/lineage\\?.*as_of=.*lens=health"),
        ("Compared with the last good run", "/ui/lineage\\?.*vs="),
        ("What changed", "/ui/changes"),
    ):
        screen.page.get_by_role("link", name=name).click()
        expect(screen.page).to_have_url(re.compile(there))
        screen.page.go_back()
    expect(screen.page.locator("aside code")).to_contain_text("whence contain plan 'dataset")
    screen.page.get_by_role("link", name="All incidents").click()
    expect(screen.page.get_by_role("heading", name="Resolved in the last 30 days")).to_be_visible()
