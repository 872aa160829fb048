"""The runs of a job: how long the last ones took, and what changed from one to another."""

import re
from typing import Any

from playwright.sync_api import expect

from ui.browser.modules import call_each
from ui.conftest import Screen
from ui.stories.story import BUILDING, LOADING


def event(sql: str, columns: dict[str, str], rows: int | None = None) -> dict[str, Any]:
    fields = [{"name": name, "type": type_} for name, type_ in columns.items()]
    counted = {} if rows is None else {"outputFacets": {"outputStatistics": {"rowCount": rows}}}
    output = {"namespace": "db", "name": "t", "facets": {"schema": {"fields": fields}}, **counted}
    return {"job": {"facets": {"sql": {"query": sql}}}, "outputs": [output]}


def test_later_events_of_a_run_win_and_malformed_ones_say_nothing() -> None:
    events = [event("select 1", {"a": "int"}), {"job": None, "outputs": "none"}, event("select 2", {"a": "long"}, 7)]
    (found,) = call_each("runs/compare.ts", "reportedBy", [[events]])
    assert found["sql"] == "select 2"
    assert found["rows"] == [["db t", 7]]
    assert found["schemas"] == [["db t", [["a", "long"]]]]


def test_lines_of_two_texts_are_one_with_marks() -> None:
    asked = [["a\nb\nc", "a\nc\nd"], ["", "a"], ["a", "a"]]
    found = [
        [f"{one['sign']}{one['text']}" for one in lines]
        for lines in call_each("runs/compare.ts", "comparedLines", asked)
    ]
    assert found == [[" a", "-b", " c", "+d"], ["+a"], [" a"]]


def test_a_job_shows_how_long_its_last_runs_took(screen: Screen) -> None:
    page = screen.page
    screen.open("node", node=str(LOADING.name))
    bars = page.locator(".durations").get_by_role("link")
    expect(bars).to_have_count(10)
    expect(bars.last).to_have_accessible_name(re.compile(r"^Completed, 3 min, "))
    expect(page.locator(".durations")).to_contain_text("longest 3 min")
    bars.last.click()
    expect(page.get_by_role("heading", name="load_charges")).to_be_visible()


def test_a_run_is_compared_with_the_one_before(screen: Screen) -> None:
    page = screen.page
    screen.open("node", node=str(BUILDING))
    page.get_by_role("link", name="Compare run").first.click()
    compared = page.locator(".run-diff")
    expect(compared.get_by_role("row", name="Reads")).to_contain_text("3 datasets")
    expect(compared.get_by_role("row", name="Reads")).to_contain_text("4 datasets")
    expect(compared).to_contain_text("support_tickets.ticket_id")
    expect(compared).to_contain_text("The columns of the outputs are the same.")
    expect(compared.locator(".text-diff .fate-added").first).to_contain_text("select c.customer_id")
    page.reload()
    expect(compared).to_contain_text("support_tickets.ticket_id")
    compared.get_by_label("Compare with").select_option("")
    expect(compared).to_contain_text("Choose another run of this job")
