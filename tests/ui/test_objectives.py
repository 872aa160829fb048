"""Objectives: the list, one with how its budget burned and its transitions, and the way from a dataset."""

import re

from playwright.sync_api import expect

from ui.conftest import Screen
from ui.stories.datasets import CHARGES, DATES, HOSTILE


def test_the_list_has_states_and_budgets(screen: Screen) -> None:
    screen.open("board")
    screen.page.get_by_role("banner").get_by_role("link", name="Objectives").click()
    rows = screen.page.locator("tbody tr")
    expect(rows).to_have_count(4)
    late = rows.filter(has_text="charges are fresh")
    expect(late).to_contain_text("violated")
    expect(late).to_contain_text("page open")
    expect(late).to_contain_text("95 % of 30 days")
    expect(late).to_contain_text(re.compile(r"-\d+\.\d %"))  # overdrawn
    expect(rows.filter(has_text="features keep their columns")).to_contain_text("holds")
    expect(rows.filter(has_text="<img src=x")).to_contain_text("–")


def test_one_has_its_burn_chart_and_transitions(screen: Screen) -> None:
    screen.open("slos")
    screen.page.get_by_role("link", name="billing/charges are fresh").click()
    expect(screen.page.get_by_role("heading", name="charges are fresh")).to_be_visible()
    for chart in ("Budget left over the time window", "Burn rates over the time window"):
        expect(screen.page.get_by_role("img", name=chart).locator("canvas")).to_be_visible()
    facts = screen.page.locator("aside .facts")
    expect(facts).to_contain_text("at most 90 min old")
    expect(facts).to_contain_text("page: 14.4 times the even burn rate for 1 h and 5 min")
    screen.page.get_by_text("The numbers").first.click()
    region = screen.page.get_by_role("region", name="Budget left over the time window")
    expect(region.locator("tbody tr").first).to_contain_text(re.compile(r"-\d+\.\d %"))
    transitions = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Transitions"))
    times = transitions.locator("tbody time").all_inner_texts()
    assert times == sorted(times, reverse=True)
    expect(transitions.locator("tbody tr").last).to_contain_text("not evaluated")
    expect(transitions.locator("tbody tr").first).to_contain_text("violated")


def test_the_page_of_a_dataset_leads_there(screen: Screen) -> None:
    screen.open("node", node=str(CHARGES))
    expect(screen.page.locator(".slos li")).to_contain_text("violated")
    screen.page.get_by_role("link", name="billing/charges are fresh").click()
    expect(screen.page).to_have_url(re.compile("/ui/slo\\?slo="))
    screen.page.get_by_role("link", name="All objectives").click()
    expect(screen.page.get_by_role("heading", name="Objectives", exact=True)).to_be_visible()
    screen.open("node", node=str(DATES))
    expect(screen.page.get_by_text("None is declared.")).to_be_visible()
    screen.open("node", node=str(HOSTILE))
    expect(screen.page.locator(".slos li")).to_contain_text('<img src=x onerror="alert(1)">')


def test_where_nothing_may_be_bad_the_chart_has_what_was(screen: Screen) -> None:
    screen.open("slos")
    row = screen.page.locator("tbody tr").filter(has_text="features report their sources")
    expect(row).to_contain_text("nothing may be bad")
    row.get_by_role("link", name="billing/features report their sources").click()
    chart = screen.page.get_by_role("img", name="What was bad over the time window")
    expect(chart.locator("canvas")).to_be_visible()
    screen.page.get_by_text("The numbers").click()
    region = screen.page.get_by_role("region", name="What was bad over the time window")
    expect(region.locator("thead")).to_contain_text("Allowed")
    expect(region.locator("tbody tr").first).to_contain_text("0")
