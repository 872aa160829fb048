"""The checks, measurements and versions of a dataset on its page: the latest, those before, and as of a time."""

import re

from playwright.sync_api import Locator, expect

from ui.conftest import Screen
from ui.stories.datasets import CHARGES, FEATURES, PREDICTIONS, TICKETS


def part(screen: Screen, heading: str) -> Locator:
    return screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name=heading))


def test_each_check_has_its_latest_result_and_those_before(screen: Screen) -> None:
    screen.open("node", node=str(PREDICTIONS))
    rows = part(screen, "Checks").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("accepted_values")
    expect(rows.nth(1)).to_contain_text("failed · ")
    expect(rows.nth(2)).to_contain_text("not_null")
    expect(rows.nth(2)).to_contain_text("held · ")
    results = rows.nth(1).get_by_role("link")
    expect(results.first).to_have_accessible_name(re.compile(r"^failed, 20\d\d-"))
    results.first.click()
    expect(screen.page).to_have_url(re.compile(r"/ui/run\?"))


def test_a_measurement_is_chosen_and_shown_as_a_chart_or_a_table(screen: Screen) -> None:
    screen.open("node", node=str(FEATURES))
    shown = part(screen, "Measurements")
    chosen = shown.get_by_role("combobox", name="Measurement")
    expect(chosen).to_have_value("rowCount (as read)")
    expect(shown.get_by_role("img", name="Measurements: rowCount (as read)").locator("canvas")).to_be_visible()
    chosen.select_option("minutes_30d.nullCount (as read)")
    shown.get_by_role("button", name="As table").click()
    values = {row.inner_text() for row in shown.locator("td.number").all()}
    assert values
    assert values <= {"2", "40"}
    shown.get_by_role("button", name="As chart").click()
    expect(shown.locator("canvas")).to_be_visible()


def test_as_of_a_time_later_results_are_not_shown(screen: Screen) -> None:
    screen.open("node", node=str(PREDICTIONS), as_of="12h ago")
    earlier = part(screen, "Checks").get_by_role("row").nth(1).get_by_role("link")
    expect(earlier.first).to_be_visible()
    then = earlier.count()
    screen.open("node", node=str(PREDICTIONS))
    now = part(screen, "Checks").get_by_role("row").nth(1).get_by_role("link")
    expect(now.first).to_be_visible()
    expect(now).not_to_have_count(then)
    assert now.count() > then


def test_a_dataset_without_checks_has_no_such_part(screen: Screen) -> None:
    screen.open("node", node=str(CHARGES))
    expect(screen.page.get_by_role("heading", name="Owners")).to_be_visible()
    expect(screen.page.locator(".skeleton")).to_have_count(0)
    expect(screen.page.get_by_role("heading", name="Checks")).to_have_count(0)
    expect(screen.page.get_by_role("heading", name="Measurements")).to_have_count(0)


def test_the_versions_of_a_table_are_listed_the_newest_first(screen: Screen) -> None:
    screen.open("node", node=str(TICKETS))
    part = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Versions"))
    rows = part.get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("OPTIMIZE (no new data)")
    expect(rows.nth(2)).to_contain_text("WRITE")
    expect(rows.nth(2)).to_contain_text("1,200")
    expect(rows.nth(2)).to_contain_text("not known")


def test_a_dataset_without_versions_has_no_such_part(screen: Screen) -> None:
    screen.open("node", node=str(CHARGES))
    expect(screen.page.get_by_role("heading", name="History")).to_be_visible()
    expect(screen.page.locator(".skeleton")).to_have_count(0)
    expect(screen.page.get_by_role("heading", name="Versions")).to_have_count(0)
