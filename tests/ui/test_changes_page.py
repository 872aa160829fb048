"""What changed upstream of a node: the timeline by day, one kind alone, the proof of a change, and the ways there."""

import re

from playwright.sync_api import Locator, expect

from ui.conftest import Screen
from ui.stories.datasets import CHARGES, DASHBOARD, FEATURES, PREDICTIONS, REVENUE
from ui.stories.story import REPORTING
from whence.model.names import FieldName

CHURN = FieldName(PREDICTIONS, "churn_probability")


def entries(screen: Screen) -> Locator:
    return screen.page.locator(".timeline-entry")


def test_the_newest_change_is_first_and_proven_by_its_event(screen: Screen) -> None:
    screen.open("changes", node=str(DASHBOARD), since="7d")
    expect(entries(screen).first).to_contain_text("ran another version of its code")
    first = entries(screen).nth(1)
    expect(first).to_contain_text("refresh_customer_health")
    expect(first).to_contain_text("began to fail")
    expect(first).to_contain_text("Completed → Failed")
    expect(first).to_contain_text("1 hop upstream")
    expect(first.get_by_role("link", name=re.compile("^[0-9a-f]{8}$"))).to_have_attribute("href", re.compile("run="))
    first.get_by_role("button", name="Show the event").click()
    expect(first.locator("pre")).to_contain_text("12 % of values are null")
    days = screen.page.locator(".changes-day").all_inner_texts()
    assert len(days) == len(set(days)) >= 2
    assert days == sorted(days, reverse=True)


def test_one_kind_or_another_period_is_a_link(screen: Screen) -> None:
    screen.open("changes", node=str(DASHBOARD), since="7d")
    kinds = screen.page.get_by_role("navigation", name="Show only")
    every = entries(screen)
    expect(every.first).to_be_visible()
    count = every.count()
    kinds.get_by_role("link", name="Run 1").click()
    expect(every).to_have_count(1)
    expect(screen.page).to_have_url(re.compile("kind=run"))
    kinds.get_by_role("link", name="Run 1").click()
    expect(every).to_have_count(count)
    periods = screen.page.get_by_role("navigation", name="Period")
    expect(periods.get_by_role("link", name="7 days")).to_have_attribute("aria-current", "page")
    periods.get_by_role("link", name="24 hours").click()
    expect(every).not_to_have_count(count)
    expect(every.nth(1)).to_contain_text("began to fail")


def test_a_column_has_only_what_is_on_its_way(screen: Screen) -> None:
    screen.open("changes", node=str(CHURN))
    new = entries(screen).filter(has_text="tickets_90d").first
    expect(new).to_contain_text("has new inputs")
    expect(new).to_contain_text(re.compile(r"support_tickets\.ticket_id lake → tickets_90d"))
    expect(screen.page.locator(".page")).not_to_contain_text("severity")
    new.get_by_role("link", name="Compare the graph").click()
    expect(screen.page).to_have_url(re.compile(r"/ui/lineage\?.*vs="))
    expect(screen.page.locator(f'[data-node="{FEATURES}"]')).to_be_visible()


def test_a_schema_and_what_is_not_known(screen: Screen) -> None:
    screen.open("changes", node=str(REVENUE))
    schema = entries(screen).filter(has_text="double → numeric")
    expect(schema.locator(".fate-changed")).to_contain_text("amount double → numeric")
    expect(schema.locator(".fate-removed")).to_contain_text("card string")
    unknown = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="What is not known"))
    expect(unknown).to_contain_text("Nobody reports the columns of 1 node.")
    expect(unknown.get_by_role("link")).to_contain_text("charges")
    screen.open("changes", node=str(CHARGES), as_of="2020-01-01T00:00")
    expect(screen.page.locator(".page")).to_contain_text("Nothing changed in this period that anybody reported.")
    expect(screen.page.get_by_text("as of 2020-01-01 00:00:00 UTC")).to_be_visible()


def test_the_pages_of_datasets_the_graph_and_the_board_lead_there(screen: Screen) -> None:
    name = re.compile("^What changed upstream")
    screen.open("node", node=str(PREDICTIONS))
    screen.page.get_by_role("link", name=name).click()
    expect(screen.page.get_by_role("heading", name="predictions")).to_be_visible()
    expect(entries(screen).first).to_be_visible()
    screen.open("lineage", node=str(PREDICTIONS), col=str(CHURN), panel="time")
    screen.page.get_by_role("link", name=name).click()
    expect(screen.page.get_by_role("heading", name="predictions.churn_probability")).to_be_visible()
    screen.open("board")
    screen.page.get_by_role("link", name=f"What changed upstream: {REPORTING.name.name}").click()
    expect(screen.page.get_by_role("heading", name=REPORTING.name.name)).to_be_visible()
    expect(entries(screen).nth(1)).to_contain_text("began to fail")
