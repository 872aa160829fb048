"""The governance dashboard and what may be relied on, in the browser."""

import re

from playwright.sync_api import Locator, expect

from ui.conftest import Screen
from ui.stories.rules import DECK, ERP, OTHER_REVENUE, REVENUE


def section(screen: Screen, title: str) -> Locator:
    return screen.page.locator("section.section", has=screen.page.get_by_role("heading", name=title, exact=True))


def test_figures_lead_to_their_lists(screen: Screen) -> None:
    page = screen.page
    screen.open("board", of="governance")
    tile = page.get_by_role("region", name="Lapsed certifications")
    expect(tile).to_contain_text("1 dataset is certified")
    violations = section(screen, "Policy violations")
    expect(violations.get_by_role("row").nth(1)).to_contain_text("invoices")
    expect(violations.get_by_role("row").nth(1)).to_contain_text("nobody")
    expect(violations.get_by_role("link", name="Violated")).to_have_attribute("aria-current", "page")
    violations.get_by_role("link", name="Not evaluated").click()
    expect(violations.get_by_role("link", name="Not evaluated")).to_have_attribute("aria-current", "page")
    expect(violations).not_to_contain_text("invoices")
    tile.get_by_role("link", name="See the list").click()
    certifications = section(screen, "Certifications")
    expect(certifications.get_by_role("link", name="Lapsed 1")).to_have_attribute("aria-current", "page")
    expect(certifications.locator("li")).to_contain_text(["forecast"])
    expect(certifications.locator("li")).to_contain_text(["not met: contract"])
    expect(certifications).to_be_in_viewport()
    certifications.get_by_role("link", name="Expiring 1").click()
    expect(certifications.locator("li")).to_contain_text([re.compile(r"budget.*contract 1\.0\.0 ends in (19|20) days")])
    labels = section(screen, "Sensitive columns")
    labels.get_by_role("link", name="Financial data").click()
    labels.get_by_role("link", name="By domain").click()
    expect(labels.get_by_role("rowheader")).to_have_text(["no domain"])
    labels.get_by_role("link", name="By namespace").click()
    labels.get_by_role("link", name=f"2 columns of grade statistic in {ERP}").click()
    expect(labels.locator("li")).to_have_count(2)
    expect(page).to_have_url(re.compile("label=financial&by=namespace&grade=statistic"))
    page.reload()
    expect(labels.locator("li")).to_have_count(2)
    section(screen, "Two truths").get_by_role("link", name="Find them").click()
    truths = section(screen, "Two truths")
    expect(truths.locator(".misled")).to_contain_text("Board deck")
    expect(truths.get_by_role("listitem").filter(has_text="preferred")).to_contain_text(["revenue"])
    expect(section(screen, "Access review")).to_contain_text("Whence runs open")
    expect(section(screen, "Evidence packs")).to_contain_text("No key signs here")


def test_a_dashboard_that_reads_the_other_truth_is_warned_of(screen: Screen) -> None:
    page = screen.page
    screen.open("node", node=str(DECK))
    warning = page.get_by_role("note").filter(has_text="preferred twin")
    expect(warning.get_by_role("link")).to_have_count(2)
    warning.get_by_role("link", name=re.compile("^revenue")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("canonical")
    expect(page.get_by_role("note").filter(has_text="two truths")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Evidence pack").click()
    assert download.value.path().read_bytes().startswith(b"PK")
    screen.open("node", node=str(OTHER_REVENUE))
    expect(page.get_by_role("note").filter(has_text="There are two truths")).to_contain_text("revenue")


def test_search_marks_and_prefers_what_may_be_relied_on(screen: Screen) -> None:
    page = screen.page
    screen.open("node", node=str(REVENUE))
    page.get_by_role("button", name="Search datasets, columns and jobs").click()
    page.get_by_role("combobox", name="Name of a dataset").fill("revenue canonical:true")
    options = page.get_by_role("dialog").get_by_role("option")
    expect(options.first).to_contain_text("canonical")
    page.get_by_role("combobox", name="Name of a dataset").fill("certified:true")
    expect(options.filter(has_text="budget")).to_contain_text("certified")
