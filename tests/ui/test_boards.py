"""Dashboards, lenses and images in the browser: what is broken, what is known, what was refused; a graph to keep."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from ui.conftest import Screen
from ui.stories.datasets import CLEAN, CUSTOMERS, DASHBOARD, FEATURES, PREDICTIONS, SESSIONS, TICKETS
from whence.model.names import DatasetName, FieldName

CHURN = str(FieldName(PREDICTIONS, "churn_probability"))
PNG = b"\x89PNG\r\n\x1a\n"


def mark(screen: Screen, of: DatasetName) -> Locator:
    return screen.page.locator(f'[data-node="{of}"] .box-mark')


def section(screen: Screen, title: str) -> Locator:
    return screen.page.locator("section", has=screen.page.get_by_role("heading", name=title, exact=True))


def test_on_call_incidents_by_urgency_and_those_that_nobody_has(screen: Screen) -> None:
    page = screen.page
    screen.open("board")
    incidents = section(screen, "Incidents")
    rows = incidents.locator("li")
    expect(rows.first).to_contain_text("page")
    expect(rows.last).to_contain_text("ticket")
    count = rows.count()
    expect(incidents.get_by_role("button", name=f"Not resolved {count}")).to_have_attribute("aria-pressed", "true")
    incidents.get_by_role("button", name=f"Nobody has it {count}").click()
    expect(rows).to_have_count(count)
    incidents.get_by_role("button", name="Mine 0").click()
    expect(incidents).to_contain_text("Nothing is assigned to you.")
    burning = section(screen, "Objectives that are violated or burn")
    expect(burning.locator("li")).to_have_count(1)
    expect(burning.locator("li")).to_contain_text("billing/charges are fresh")
    expect(burning.locator("li")).to_contain_text(re.compile(r"error budget: overdrawn by \d+ %"))
    expect(section(screen, "Resolved last")).to_be_visible()
    incidents.get_by_role("button", name=re.compile("^Not resolved")).click()
    incidents.get_by_role("link", name=re.compile("charges are fresh")).click()
    expect(page).to_have_url(re.compile(r"/ui/incident\?incident="))


def test_on_call_what_fails_what_is_downstream_and_the_last_good_commit(screen: Screen) -> None:
    page = screen.page
    screen.open()
    expect(section(screen, "Late jobs")).to_contain_text("load_charges")
    page.get_by_role("link", name="Dashboards").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("On call")
    failing = page.locator(".trouble-failing", has_text="refresh_customer_health")
    expect(failing).to_contain_text("refresh_customer_health")
    expect(failing).to_contain_text("12 % of values are null")
    expect(failing).to_contain_text("1 dashboard")
    expect(failing).to_contain_text("commit a41d0c9 → b77e2f0")
    expect(failing).to_contain_text("Commit changed since last success")
    # Nothing sticks out of its column.
    widths = failing.locator("dd").evaluate_all("some => some.map(one => one.scrollWidth - one.clientWidth)")
    assert max(widths) == 0
    expect(page.locator(".trouble-late")).to_contain_text("load_charges")
    expect(page.locator(".trouble-late")).to_contain_text("never paused longer than 1.0 h")
    refused = page.get_by_role("region", name="Events rejected")
    expect(refused).to_contain_text("3")
    refused.get_by_text("How it is counted").click()
    expect(refused).to_contain_text("Requests that were not valid events")
    page.get_by_role("link", name="See what breaks: Customer health").click()
    expect(page.get_by_role("complementary", name="Impact")).to_be_visible()
    expect(mark(screen, DASHBOARD)).to_have_text("Failed")


def test_overview_kpis_their_trend_as_a_table_and_the_datasets_behind_a_share(screen: Screen) -> None:
    page = screen.page
    screen.open("board", of="executive")
    tile = page.get_by_role("region", name="Certified-path integrity")
    expect(tile).to_contain_text(re.compile(r"\d\d\.\d %"))
    expect(tile.get_by_role("img", name="Trend: Certified-path integrity").locator("canvas")).to_be_visible()
    page.get_by_role("button", name="As a table").click()
    table = page.get_by_role("region", name="Trend").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(61)
    page.get_by_role("link", name=re.compile("^Description: 50 %.*crm:5432")).click()
    lacking = page.locator(".lacking")
    expect(lacking).to_contain_text("Datasets without a description in postgres://crm:5432")
    expect(lacking.locator("li")).to_have_count(1)
    expect(lacking).to_contain_text("payments")
    page.reload()
    expect(lacking).to_contain_text("payments")
    lacking.get_by_role("link", name="Close").click()
    expect(lacking).to_have_count(0)


def test_before_anything_was_measured_the_overview_says_how(screen: Screen) -> None:
    names = json.dumps({"data": [], "page": None})
    screen.page.route("**/api/v2/kpis", lambda route: route.fulfill(body=names, content_type="application/json"))
    screen.open("board", of="executive")
    expect(section(screen, "No KPI was measured yet.")).to_contain_text("whence publish")


def test_debug_filters_events_and_shows_one_as_it_was_sent(screen: Screen) -> None:
    page = screen.page
    screen.open("board", of="debug")
    stream = section(screen, "Events")
    expect(stream.locator(".stream-item")).to_have_count(25)
    stream.get_by_role("button", name="FAIL").click()
    expect(stream.locator(".stream-item")).to_have_count(2)
    stream.get_by_role("button", name=re.compile("^Show: Event")).first.click()
    expect(stream.locator("pre")).to_contain_text('"eventType": "FAIL"')
    stream.get_by_role("button", name="All").click()
    stream.get_by_label("Namespace").fill("ingest")
    page.keyboard.press("Enter")
    expect(stream.locator(".stream-item")).to_have_count(4)
    expect(section(screen, "Schema changes")).to_contain_text("amount: double → numeric")
    stream.get_by_label("Namespace").fill("")
    page.keyboard.press("Enter")
    stream.get_by_role("button", name="Show more").click()
    expect(stream.locator(".stream-item")).to_have_count(50)


def test_a_refused_body_is_mended_and_taken(screen: Screen) -> None:
    page = screen.page
    screen.open("board", of="oncall")
    page.get_by_role("link", name="Job without a name").click()
    quarantine = section(screen, "Quarantine")
    expect(quarantine.locator(".stream-item")).to_have_count(1)
    quarantine.get_by_role("button", name=re.compile("^Show")).click()
    body = quarantine.get_by_label("Body")
    expect(body).to_have_value(re.compile("revenue"))
    quarantine.get_by_role("button", name="Send again").click()
    expect(quarantine.get_by_role("status")).to_contain_text("a job needs a namespace and a name")
    body.fill(body.input_value().replace('{"namespace": "revenue"}', '{"namespace": "revenue", "name": "mended"}'))
    quarantine.get_by_role("button", name="Send again").click()
    expect(quarantine.get_by_role("status")).to_contain_text("Taken, at log position")
    # A browser says that a request failed, whatever one does with the answer.
    screen.complaints[:] = [one for one in screen.complaints if "422" not in one]


def test_failed_checks_and_lost_events_are_lists_behind_their_tiles(screen: Screen) -> None:
    page = screen.page
    screen.open("board", of="executive")
    page.get_by_role("link", name="See the list: Quality checks failed").click()
    failed = section(screen, "Quality checks that failed")
    # Four runs of the report, and three that read clean customers, of which a check warns.
    expect(failed.locator("li")).to_have_count(7)
    first = failed.locator("li").first
    expect(first).to_contain_text("accepted_values")
    expect(first).to_contain_text("1 other check passed")
    first.get_by_role("link", name=re.compile("refresh_customer_health")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("refresh_customer_health")
    screen.open("board", of="oncall")
    page.get_by_role("link", name="See the list: Events lost").click()
    expect(section(screen, "Events lost")).to_contain_text(re.compile(r"\d+ records looked at, each has an outcome"))


@pytest.mark.parametrize(
    ("lens", "texts", "legend"),
    [
        ("run", {FEATURES: "Completed", PREDICTIONS: "Running", SESSIONS: "Completed"}, "Completed"),
        ("fresh", {FEATURES: re.compile("ago"), TICKETS: re.compile("ago")}, "within a day"),
        (
            "quality",
            {FEATURES: "3 checks passed", PREDICTIONS: "1 check failed", CLEAN: "1 warning", SESSIONS: "no data"},
            "a check failed",
        ),
        (
            "health",
            {PREDICTIONS: "incident, page", FEATURES: "objectives hold", SESSIONS: "no incident, no objective"},
            "incident, page",
        ),
        ("tags", {PREDICTIONS: "certified", SESSIONS: "no tags"}, "certified"),
        ("owner", {PREDICTIONS: "team:churn", SESSIONS: "no owner"}, "team:churn"),
        ("change", {PREDICTIONS: "new"}, "new"),
    ],
)
def test_a_lens_marks_every_box_by_a_word(
    screen: Screen, lens: str, texts: dict[DatasetName, str | re.Pattern[str]], legend: str
) -> None:
    screen.open("lineage", node=str(FEATURES), lens=lens)
    for of, text in texts.items():
        expect(mark(screen, of)).to_have_text(text)
    expect(screen.page.locator(".legend")).to_contain_text(legend)
    screen.open("lineage", node=str(FEATURES), lens=lens, view="list")
    of, text = next(iter(texts.items()))
    row = screen.page.get_by_role("row", name=re.compile(f"^{of.name.rpartition('.')[2]}"))
    expect(row.locator(".list-mark")).to_have_text(text)


def test_the_tags_lens_names_the_columns_with_pii(screen: Screen) -> None:
    screen.open("lineage", node=str(CUSTOMERS), lens="tags")
    expect(mark(screen, CUSTOMERS)).to_have_text("PII: email")


def test_the_change_lens_compares_with_the_time_compared_with(screen: Screen) -> None:
    screen.open("lineage", node=str(FEATURES), lens="change", vs="12h ago")
    expect(mark(screen, FEATURES)).to_have_text("changed")
    expect(mark(screen, CLEAN)).to_have_text("as before")


def test_lenses_by_keyboard_and_from_the_list_change_the_address_and_no_place(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(PREDICTIONS), col=CHURN)
    expect(page.locator(f'[data-node="{FEATURES}"]')).to_be_visible()
    before = screen.places()
    page.get_by_label("Lens").select_option("Column evolution")
    row = page.locator(f'[data-node="{FEATURES}"] .row', has_text="revenue_90d")
    expect(row.locator(".mark")).to_have_text("aggregated")
    expect(page.locator(f'[data-node="{CLEAN}"] .row', has_text="tenure_days").locator(".mark")).to_have_text(
        "transformed"
    )
    expect(page).to_have_url(re.compile("lens=column"))
    assert screen.places() == before
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    for lens in ("pii", "phi", "financial", "sensitive"):
        page.keyboard.press("v")
        expect(page).to_have_url(re.compile(f"lens={lens}"))
    page.keyboard.press("v")
    expect(page).not_to_have_url(re.compile("lens="))
    page.keyboard.press("v")
    expect(page).to_have_url(re.compile("lens=run"))


@pytest.fixture
def saved(screen: Screen, tmp_path: Path) -> dict[str, Path]:
    """The traced column as SVG and PNG, saved by keyboard."""
    screen.open("lineage", node=str(PREDICTIONS), col=CHURN)
    expect(screen.page.locator(f'[data-node="{DASHBOARD}"]')).to_be_visible()
    found = {}
    for kind in ("SVG", "PNG"):
        screen.page.locator(".menu summary").press("Enter")
        with screen.page.expect_download() as download:
            screen.page.get_by_role("button", name=f"Save as {kind}", exact=True).press("Enter")
        assert download.value.suggested_filename == f"predictions.{kind.lower()}"
        found[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(found[kind])
    return found


def test_the_graph_is_saved_whole_as_svg_and_png(screen: Screen, saved: dict[str, Path]) -> None:
    root = ElementTree.parse(saved["SVG"]).getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = ["".join(one.itertext()) for one in root.iter(f"{name}text")]
    for word in ("predictions", "features", "customers", "usage_logs", "last_login", "Customer health", "Values flow"):
        assert word in texts, word
    drawn = screen.page.locator(".react-flow__edge").count()
    heads = [one for one in root.iter(f"{name}path") if one.get("d", "").endswith("z") and one.get("fill") != "none"]
    assert len(heads) >= drawn > 5
    assert not {one.tag.removeprefix(name) for one in root.iter()} - {
        "svg",
        "g",
        "rect",
        "path",
        "text",
        "circle",
        "ellipse",
    }
    png = saved["PNG"].read_bytes()
    assert png.startswith(PNG)
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    sizes = [float(root.get(side, "0")) for side in ("width", "height")]
    assert width / height == pytest.approx(sizes[0] / sizes[1], rel=0.01)
