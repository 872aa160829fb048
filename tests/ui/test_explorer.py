"""What a person does in the browser: search, trace a column, open hops, ask for evidence, go back in time."""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from ui.conftest import Screen
from ui.stories.datasets import (
    CHARGES,
    CLEAN,
    DASHBOARD,
    DATES,
    FEATURES,
    MODEL,
    PAYMENTS,
    PREDICTIONS,
    SESSIONS,
    STRIPE,
    TICKETS,
    USAGE,
)
from ui.stories.story import CONSUMERS
from whence.model.names import DatasetName, FieldName

CHURN = str(FieldName(PREDICTIONS, "churn_probability"))


def box(screen: Screen, of: DatasetName) -> Locator:
    return screen.page.locator(f'[data-node="{of}"]')


def lines(screen: Screen, mark: str) -> Locator:
    return screen.page.locator(f".react-flow__edge-path.{mark}")


def test_search_then_trace_then_evidence_then_the_same_from_the_address(screen: Screen) -> None:
    page = screen.page
    screen.open()
    expect(page.get_by_text("AnalysisException: column churn_probability")).to_be_visible()
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("churn_prob")
    expect(page.get_by_role("option").first).to_contain_text("churn_probability")
    page.keyboard.press("Enter")

    traced = {PREDICTIONS, FEATURES, CLEAN, SESSIONS, TICKETS, PAYMENTS, USAGE, DASHBOARD}
    for one in traced:
        expect(box(screen, one)).to_be_visible()
    expect(box(screen, USAGE)).to_contain_text("last_login")
    expect(box(screen, DASHBOARD)).to_contain_text("customers_at_risk")
    expect(lines(screen, "flow-indirect")).to_have_count(1)

    line = "usage_logs.minutes to sessions.minutes_30d: Values flow, by build_sessions. Show evidence"
    page.get_by_role("button", name=line).press("Enter")
    panel = page.get_by_role("complementary", name="Evidence")
    expect(panel).to_contain_text("sum(minutes)")
    expect(panel).to_contain_text("build_sessions")
    expect(panel.get_by_text("Completed").first).to_be_visible()
    panel.get_by_role("button", name="Show the event").click()
    expect(panel.locator("pre")).to_contain_text('"eventType": "COMPLETE"')

    places = screen.places()
    page.reload()
    expect(page.get_by_role("complementary", name="Evidence")).to_contain_text("sum(minutes)")
    expect(page.locator(".react-flow__node-box")).to_have_count(len(places))


def test_boxes_stay_where_they_are_when_a_hop_opens_and_closes(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(PREDICTIONS))
    expect(box(screen, FEATURES)).to_be_visible()
    before = screen.places()
    page.get_by_role("button", name="Show what features comes from").click()
    expect(box(screen, SESSIONS)).to_be_attached()
    after = screen.places()
    assert {node: after[node] for node in before} == before
    assert set(after) - set(before) == {str(one) for one in (CLEAN, SESSIONS, PAYMENTS, TICKETS)}
    box(screen, FEATURES).hover()
    page.get_by_role("button", name="Hide what features comes from").click()
    expect(box(screen, SESSIONS)).to_have_count(0)
    assert screen.places() == before
    page.go_back()
    expect(box(screen, SESSIONS)).to_be_attached()


def test_influence_is_dashed_and_guesses_are_dotted(screen: Screen) -> None:
    screen.open("lineage", node=str(TICKETS))
    expect(lines(screen, "flow-inferred")).to_have_css("stroke-dasharray", "1.5px, 5px")
    screen.open("lineage", node=str(FEATURES))
    expect(lines(screen, "flow-indirect")).to_have_count(1)
    expect(lines(screen, "flow-indirect")).to_have_css("stroke-dasharray", "7px, 5px")
    expect(lines(screen, "flow-direct").first).to_have_css("stroke-dasharray", "none")
    expect(box(screen, MODEL)).to_be_visible()


def test_a_hop_too_large_to_draw_is_a_count_to_choose_from(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(DATES))
    page.get_by_role("button", name=f"+{CONSUMERS}").click()
    dialog = page.get_by_role("dialog", name="What depends on dim_date")
    expect(dialog).to_contain_text(f"{CONSUMERS} of {CONSUMERS} read")
    dialog.get_by_label("Filter by name").fill("mart_01")
    dialog.get_by_role("checkbox", name="mart_012").check()
    dialog.get_by_role("checkbox", name="mart_013").check()
    dialog.get_by_role("button", name="Show 2 boxes").click()
    expect(page.locator(".react-flow__node-box")).to_have_count(3)
    page.reload()
    expect(page.locator(".react-flow__node-box")).to_have_count(3)


def test_a_wide_table_shows_a_few_columns_and_finds_the_others(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES))
    page.get_by_role("button", name="Columns of features").click()
    expect(box(screen, FEATURES).locator(".row")).to_have_count(12)
    box(screen, FEATURES).get_by_label("Find in 60 columns").fill("signal_45")
    box(screen, FEATURES).get_by_role("button", name="signal_45").click()
    expect(page.locator(".pill-focus")).to_contain_text("signal_45")
    expect(box(screen, SESSIONS)).to_contain_text("minutes_30d")
    expect(box(screen, DASHBOARD)).to_have_count(0)


def test_a_search_may_look_for_one_kind_only(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES))
    search = page.get_by_role("button", name="Search datasets, columns and jobs")
    search.click()
    typed = page.get_by_role("combobox", name="Name of a dataset")
    typed.fill("session")
    kinds = page.get_by_role("group", name="What to look for")
    found = page.locator(".palette-kind")
    expect(found.filter(has_text="Table").first).to_be_visible()
    expect(found.filter(has_text="Job").first).to_be_visible()
    kinds.get_by_role("button", name="Jobs").click()
    expect(found.filter(has_text="Table")).to_have_count(0)
    assert set(found.all_inner_texts()) == {"Job"}
    expect(typed).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("node=job"))

    search.click()
    page.get_by_role("combobox", name="Name of a dataset").fill("churn_prob")
    expect(page.locator(".palette-item").first).to_contain_text("churn_probability")
    page.get_by_role("button", name="Datasets", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("No dataset is found by “churn_prob”.")


def test_enter_means_the_best_of_what_is_typed_though_it_is_not_known_yet(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES))
    page.get_by_role("button", name="Search datasets, columns and jobs").click()
    typed = page.get_by_role("combobox", name="Name of a dataset")
    typed.fill("session")
    expect(page.locator(".palette-item").first).to_be_visible()
    typed.fill("churn_probability")
    typed.press("Enter")
    expect(page).to_have_url(re.compile("churn_probability"))


def test_a_part_that_cannot_be_read_is_said(screen: Screen) -> None:
    page = screen.page
    broken = {"status": 503, "content_type": "application/problem+json", "body": '{"detail": "the store is away"}'}
    page.route("**/api/v2/lineage/upstream**", lambda route: route.fulfill(**broken))
    screen.open("lineage", node=str(FEATURES))
    expect(page.locator(".standing")).to_contain_text("a part could not be read (the store is away)")
    expect(box(screen, PREDICTIONS)).to_be_visible()
    assert [one for one in screen.complaints if "503" not in one] == []  # the browser itself says that
    screen.complaints.clear()


def test_a_path_shows_what_leads_from_one_to_the_other_and_nothing_else(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(USAGE))
    expect(box(screen, SESSIONS)).to_be_visible()
    page.keyboard.press("p")
    page.get_by_role("combobox", name="Name of a dataset").fill("gold.predictions")
    page.get_by_role("option", name=re.compile("^predictions")).first.click()
    expect(page.locator(".react-flow__node-box")).to_have_count(4)
    page.get_by_role("button", name="Leave the path").click()
    expect(page.locator(".react-flow__node-box")).to_have_count(2)


def test_then_and_now_on_one_picture(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES))
    expect(box(screen, TICKETS)).to_be_visible()
    page.keyboard.press("t")
    page.get_by_role("button", name="Compare with now").first.click()
    # The table was there a day ago; its way into the features is new.
    expect(box(screen, TICKETS)).to_have_class(re.compile("fate-connected"))
    expect(box(screen, TICKETS)).to_contain_text("Newly connected")
    expect(lines(screen, "fate-added")).to_have_count(1)
    expect(box(screen, FEATURES)).to_contain_text("Inputs changed")
    expect(box(screen, SESSIONS)).not_to_have_class(re.compile("fate-"))
    expect(page.locator(".legend")).to_contain_text("Newly connected")
    page.get_by_role("button", name="Stop comparing").click()
    page.get_by_role("button", name="1 day ago").click()
    expect(box(screen, TICKETS)).to_have_count(0)
    expect(box(screen, SESSIONS)).to_be_visible()


CROSSINGS = """() => {
    const rects = [...document.querySelectorAll(".react-flow__node")].map(one => {
        const at = new DOMMatrix(getComputedStyle(one).transform);
        return { id: one.dataset.id, x: at.e, y: at.f, width: one.offsetWidth, height: one.offsetHeight };
    });
    const inside = ({ x, y }, of, room) =>
        x > of.x + room && x < of.x + of.width - room && y > of.y + room && y < of.y + of.height - room;
    return [...document.querySelectorAll("path.react-flow__edge-path")].flatMap(path => {
        const length = path.getTotalLength();
        const ends = [path.getPointAtLength(0), path.getPointAtLength(length)];
        const foreign = rects.filter(of => !ends.some(end => inside(end, of, -6)));
        const points = Array.from({ length: Math.ceil(length / 4) }, (_, at) => path.getPointAtLength(at * 4));
        return foreign.filter(of => points.some(point => inside(point, of, 1))).map(of => of.id);
    });
}"""


TIDIED = """() => {
    const flow = document.querySelector(".react-flow");
    const moving = is => new Promise(done => {
        const look = () => flow.classList.contains("moving") === is && (watch.disconnect(), done());
        const watch = new MutationObserver(look);
        watch.observe(flow, { attributeFilter: ["class"] });
    });
    window.tidied = moving(true).then(() => moving(false))
        .then(() => Promise.all(document.getAnimations().map(one => one.finished)));
}"""
"""Promises that boxes have begun to move, have arrived, and slide no more: on their way, lines are where they go."""


def test_no_line_crosses_a_box_that_it_does_not_belong_to(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(DASHBOARD))
    # Payments lead to the features and, past them and the predictions, to the dashboard.
    page.get_by_role("button", name="Show what predictions comes from").click()
    page.get_by_role("button", name="Show what features comes from").click()
    expect(box(screen, SESSIONS)).to_be_attached()
    expect(page.locator("path.react-flow__edge-path")).to_have_count(7)
    assert page.evaluate(CROSSINGS) == []
    page.evaluate(TIDIED)
    page.keyboard.press("l")
    page.evaluate("() => window.tidied.then(() => true)")
    assert page.evaluate(CROSSINGS) == []
    screen.open("lineage", node=str(PREDICTIONS), col=CHURN, **{"with": "influence"})
    expect(box(screen, FEATURES)).to_contain_text("days_since_login")
    assert page.evaluate(CROSSINGS) == []


def test_escape_closes_the_keys_and_a_ticked_box_leaves_shortcuts_alone(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(PREDICTIONS), col=CHURN)
    expect(box(screen, FEATURES)).to_be_visible()
    page.get_by_label("Joins and filters too").check()
    page.keyboard.press("i")
    expect(page.get_by_role("complementary", name="Impact")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)
    expect(page.get_by_role("complementary", name="Impact")).to_be_visible()


def test_the_keyboard_reaches_boxes_first_and_lines_beside_them(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(FEATURES), at=str(FEATURES), panel="about")
    expect(box(screen, SESSIONS)).to_be_visible()
    assert page.locator(".react-flow__edge[tabindex='0']").count() == 0
    page.get_by_text("Evidence of 6 lines").press("Enter")
    page.get_by_role("button", name="sessions → features direct").press("Enter")
    expect(page.get_by_role("complementary", name="Evidence")).to_contain_text("build_features")


@pytest.mark.parametrize(
    ("page", "query", "text"),
    [
        ("nosuchpage", {}, "There is no such page."),
        ("board", {"of": "nosuch"}, "There is no such page."),
        ("node", {"node": "garbage"}, "This is not the id of a dataset, column or job"),
        ("lineage", {"node": "garbage"}, "This is not the id of a dataset, column or job"),
    ],
)
def test_what_is_not_there_says_so_once(screen: Screen, page: str, query: dict[str, str], text: str) -> None:
    screen.open(page, **query)
    expect(screen.page.get_by_role("alert")).to_contain_text(text)
    expect(screen.page.get_by_role("alert")).to_have_count(1)
    expect(screen.page.get_by_role("link", name="Open lineage")).to_have_count(0)
    screen.page.get_by_role("alert").get_by_role("link", name="Home").click()
    expect(screen.page.get_by_role("heading", name="Where did this number come from?")).to_be_visible()


def test_how_much_is_shown_is_said_in_numbers(screen: Screen) -> None:
    screen.open("lineage", node=str(DATES))
    standing = screen.page.locator(".standing")
    expect(standing).to_contain_text(f"Showing 0 of {CONSUMERS} datasets directly downstream of dim_date")
    expect(standing).not_to_contain_text("Complete")
    screen.open("lineage", node=str(PREDICTIONS), col=CHURN)
    # Some tickets are imported without column lineage; ids come from where it is known of all.
    expect(standing).to_contain_text("Incomplete: the lineage of 1 dataset is not fully reported")
    expect(standing).not_to_contain_text("The whole trace")
    why = standing.get_by_title("import_tickets reports whole datasets only, so the trace ends there.")
    expect(why).to_have_count(1)
    screen.open("lineage", node=str(PREDICTIONS), col=str(FieldName(PREDICTIONS, "customer_id")))
    expect(standing).to_contain_text("The whole trace of customer_id")
    expect(standing).not_to_contain_text("Incomplete")
    screen.open("lineage", node=str(CHARGES))
    expect(standing).to_contain_text("Complete: there is nothing more upstream or downstream of charges")


def test_a_columns_page_marks_the_column(screen: Screen) -> None:
    screen.open("node", node=str(FieldName(FEATURES, "signal_53")))
    row = screen.page.get_by_role("row", name=re.compile("^signal_53"))
    expect(row).to_have_attribute("aria-current", "true")
    expect(row).to_be_in_viewport()


def test_what_is_new_since_a_time_says_so_the_start_too(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(CHARGES), vs="60h ago", panel="time")
    expect(box(screen, CHARGES)).to_contain_text("Added")
    expect(box(screen, STRIPE)).to_contain_text("Added")
    expect(lines(screen, "fate-added")).to_have_count(2)
    panel = page.get_by_role("complementary", name="Time")
    expect(panel).to_contain_text("It is new since the time compared with.")
    screen.open("lineage", node=str(STRIPE), vs="60h ago", panel="time")
    expect(panel).to_contain_text(re.compile("First seen .* It is new since .*No later change"))
    expect(box(screen, STRIPE)).to_contain_text("Added")


def test_impact_is_counted_listed_and_exported(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(USAGE))
    expect(box(screen, SESSIONS)).to_be_visible()
    page.keyboard.press("i")
    panel = page.get_by_role("complementary", name="Impact")
    expect(panel).to_contain_text("6 affected")
    panel.get_by_role("button", name="team:success").click()
    expect(panel.locator(".affected li")).to_have_count(1)
    with page.expect_download() as download:
        panel.get_by_role("link", name="CSV").click()
    assert download.value.path().read_text().count("\n") == 7
    with page.expect_download() as download:
        panel.get_by_role("button", name="JSON").click()
    assert json.loads(download.value.path().read_text())["data"]["counts"]["nodes"] == 6
    with page.expect_download() as download:
        panel.get_by_role("button", name="Markdown").click()
    assert "Customer health" in download.value.path().read_text()


def test_the_list_is_the_same_picture_for_keyboard_and_screen_reader(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(PREDICTIONS), col=CHURN, view="list")
    table = page.get_by_role("table", name="Lineage of predictions")
    expect(table.get_by_role("row")).to_have_count(10)
    expect(table.get_by_role("row", name=re.compile("usage_logs"))).to_contain_text("Upstream")
    table.get_by_role("button", name="Show what features comes from").press("Enter")
    expect(table.get_by_role("button", name="Hide what features comes from")).to_be_visible()


def test_pages_of_datasets_jobs_and_runs(screen: Screen) -> None:
    page = screen.page
    screen.open("node", node=str(PREDICTIONS))
    expect(page.locator("section", has_text="Description").first).to_contain_text("How likely each customer is")
    expect(page.get_by_role("button", name="certified")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name="score_customers churn").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("score_customers")
    page.locator("section", has_text="Runs").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name=re.compile("^Reads"))).to_be_visible()
    expect(page.locator("section", has_text="Writes").last).to_contain_text("predictions")


def test_a_name_that_nothing_has_says_so_and_offers_the_nearest(screen: Screen) -> None:
    screen.open("lineage", node=str(DatasetName("snowflake://acme", "churn.gold.prediction")))
    expect(screen.page.get_by_role("alert")).to_contain_text("Not found")
    expect(screen.page.get_by_role("alert").get_by_role("link", name=re.compile("^predictions"))).to_be_visible()
    # A browser says that a request failed, whatever one does with the answer.
    screen.complaints[:] = [one for one in screen.complaints if "404" not in one]
