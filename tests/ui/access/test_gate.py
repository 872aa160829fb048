"""The page of a verdict and the lists of gates: what a commit hits, before and after, and one's own approval."""

import json
import re
import urllib.request
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, expect

from ui.access.signed_in import opened
from ui.browser.axe import find_violations, page_for_axe
from ui.conftest import Screen, address
from ui.stories.datasets import CUSTOMERS, DASHBOARD, FEATURES, PREDICTIONS
from ui.stories.guarded import House, sign_in
from ui.test_accessibility import RULES
from whence.model.names import FieldName

COMMIT = "9f2c1e7" * 5 + "abcde"
HIDDEN = "(hidden)"


def record(house: House, repository: str) -> None:
    """A gate records a verdict: a renamed column, and other rows, that a dashboard depends on."""
    churn, plan = FieldName(PREDICTIONS, "churn_probability"), FieldName(FEATURES, "plan")
    why = {"rule": "breaking", "text": "1 job read it within 90 days", "verdict": "approval needed"}
    base = {"kind": "renamed", "verdict": "approval needed", "file": "predictions.sql", "line": 12}
    changes = [
        {
            **base,
            "id": "C-1f3a9c42d0",
            "node": str(churn),
            "before": "churn_probability",
            "after": "churn",
            "why": [why],
        },
        {**base, "id": "C-2b7e90aa11", "node": str(plan), "kind": "values", "before": "plan", "after": "upper(plan)"},
        {**base, "id": "C-77aa00bb22", "node": str(CUSTOMERS), "kind": "rows", "verdict": "note", "why": []},
    ]
    hit = {"by": "by value", "distance": 1, "certified": False}
    affected = [
        {
            **hit,
            "node": str(DASHBOARD),
            "kind": "dashboard",
            "path": [str(churn), str(DASHBOARD)],
            "owners": ["team:success"],
            "changes": ["C-1f3a9c42d0", "C-2b7e90aa11"],
        },
        {**hit, "node": str(PREDICTIONS), "kind": "dataset", "path": [str(plan), str(PREDICTIONS)]},
        {
            **hit,
            "node": str(FEATURES),
            "kind": "dataset",
            "by": "by influence",
            "distance": 2,
            "path": [str(CUSTOMERS), HIDDEN, str(FEATURES)],
        },
    ]
    verdict = {
        "verdict": "approval needed",
        "commit": COMMIT,
        "base": "4b7e9c2",
        "hidden": 2,
        "changes": changes,
        "affected": affected,
        "pull": "https://github.com/acme/churn/pull/7",
        "notices": ["not judged: jobs/new.py"],
        "required_approvals": [{"owner": "team:success", "people": ["key:ada"], "changes": ["C-1f3a9c42d0"]}],
    }
    put(house, f"verdicts/{quote(repository, safe='')}/{COMMIT}", verdict)


def promote(house: House, verdict: str, *findings: tuple[str, str]) -> None:
    """A gate records the verdict on the promotion of the predictions."""
    promotion = {
        "verdict": verdict,
        "node": str(PREDICTIONS),
        "coverage": 0.8999 if findings else 1.0,
        "findings": [
            {"criterion": criterion, "text": text, "verdict": verdict, "nodes": [str(FEATURES)]}
            for criterion, text in findings
        ],
    }
    put(house, f"promotions/{quote(str(PREDICTIONS), safe='')}", promotion)


def put(house: House, path: str, body: object) -> None:
    headers = {"Authorization": f"Bearer {house.keys['ada']}", "Content-Type": "application/json"}
    url = f"{house.base}/api/v2/gate/{path}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert answer.status in (200, 202)


@pytest.mark.parametrize("width", [1280, 480])
def test_a_verdict_before_and_after_and_an_approval(screen: Screen, house: House, width: int) -> None:
    repository = f"github.com/acme/churn{width}"
    record(house, repository)
    screen.page.set_viewport_size({"width": width, "height": 800})
    page = opened(screen, house, "ada", "verdict", repository=repository, commit=COMMIT)
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{repository} approval needed")
    picture = page.get_by_role("region", name="Picture of the changes")
    expect(picture).to_contain_text("churn_probability → churn")
    expect(picture.locator(".verdict-box.breaks")).to_have_count(1)
    expect(picture.locator(".verdict-line")).to_have_count(4)
    page.get_by_role("button", name="Before").click()
    expect(picture).not_to_contain_text("→")
    expect(picture.locator(".verdict-box.breaks")).to_have_count(0)
    expect(page.get_by_text("upper(plan)")).to_be_visible()
    expect(page.get_by_text("2 nodes are hidden from you, or from the gate's key.")).to_be_visible()
    expect(page.get_by_text("not judged: jobs/new.py")).to_be_visible()
    page.get_by_role("button", name="Approve this commit").click()
    expect(page.get_by_text("Approved here: key:ada.")).to_be_visible()
    page.get_by_role("button", name="Withdraw my approval").click()
    expect(page.get_by_role("button", name="Approve this commit")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_who_may_see_less_is_told_how_much_is_hidden(screen: Screen, house: House) -> None:
    repository = "snowflake://acme/churn"
    record(house, repository)
    page = opened(screen, house, "guest", "verdict", repository=repository, commit=COMMIT)
    expect(page.get_by_text("3 nodes are hidden from you, or from the gate's key.")).to_be_visible()
    expect(page.get_by_text("1 change of datasets that you may not see.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve this commit")).to_have_count(0)
    expect(page.get_by_text("Waive this change…")).to_have_count(0)
    for hidden in ("customers", "Customer health", "looker"):
        assert hidden not in page.locator("main").inner_html()


def test_a_change_is_waived_with_a_reason_and_a_last_day_and_the_waiver_is_ended(screen: Screen, house: House) -> None:
    repository = "github.com/acme/waived"
    record(house, repository)
    page = opened(screen, house, "ada", "verdict", repository=repository, commit=COMMIT)
    expect(page.get_by_text("Waive this change…")).to_have_count(2)  # a note needs no waiver
    page.get_by_text("Waive this change…").first.click()
    expect(page.get_by_role("button", name="Waive it").first).to_be_disabled()
    page.get_by_label("Reason").first.fill("<b>the report</b> moves on Monday")
    day = (datetime.now(UTC).date() + timedelta(days=3)).isoformat()
    page.get_by_label("Last day").first.fill(day)
    page.get_by_role("button", name="Waive it").first.click()
    expect(page.get_by_text(f"Waived until {day}. It counts when the gate runs next.")).to_be_visible()
    page.get_by_role("link", name="Verdicts").click()
    row = page.get_by_role("row", name="<b>the report</b> moves on Monday")
    expect(row).to_contain_text(day)
    expect(row).to_contain_text("key:ada")
    row.get_by_role("button", name="End the waiver of C-").click()
    expect(row).to_have_count(0)


def test_the_lists_of_a_gate(screen: Screen, house: House) -> None:
    repository = "github.com/acme/lists"
    record(house, repository)
    put(house, f"verdicts/{quote(repository, safe='')}/{COMMIT}/approval", {})
    day = (datetime.now(UTC).date() + timedelta(days=3)).isoformat()
    waiver = {"reason": "the report moves on Monday", "expires": day}
    put(house, f"waivers/{quote(repository, safe='')}/C-1f3a9c42d0", waiver)
    page = opened(screen, house, "ada", "gates", repository=repository)
    expect(page.get_by_role("row", name="the report moves on Monday")).to_contain_text(day)
    row = page.get_by_role("row", name="approval needed")
    expect(row).to_contain_text("3")
    page.set_viewport_size({"width": 480, "height": 800})
    labels = [_label(cell) for cell in row.get_by_role("cell").all()]
    assert labels[2:5] == ['"Changes "', '"Affected "', '"Hidden "']  # numbers say nothing without
    row.get_by_role("link", name=COMMIT[:12]).click()
    expect(page.get_by_role("heading", name="What it hits")).to_be_visible()
    page.get_by_role("link", name="Verdicts").click()
    page.get_by_role("link", name="All repositories").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Gate")
    expect(page.get_by_role("row", name="key:ada").first).to_be_visible()


def test_the_last_verdict_on_a_promotion_is_listed(screen: Screen, house: House) -> None:
    hostile = "the sources of 89.9% of the columns upstream are known, less than 95%<script>alert(1)</script>"
    promote(house, "blocked", ("coverage", hostile), ("violation", "a check of not_null failed"))
    page = opened(screen, house, "ada", "gates")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="predictions acme"))
    for text in ("blocked", "89.9 %", f"coverage: {hostile}", "violation: a check of not_null failed", "key:ada"):
        expect(row).to_contain_text(text)
    promote(house, "pass")
    page.reload()
    expect(row).to_contain_text("pass")
    expect(row).to_contain_text("100.0 %")
    expect(row).to_contain_text("nothing")
    expect(page.get_by_role("row", name="violation")).to_have_count(0)
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/ui/node\?"))


def _label(cell: Locator) -> str:
    return str(cell.evaluate("one => getComputedStyle(one, '::before').content"))


def test_axe_finds_nothing(browser: Browser, house: House) -> None:
    repository = "github.com/acme/accessible"
    record(house, repository)
    promote(house, "blocked", ("coverage", "the sources of 89.9% of the columns upstream are known, less than 95%"))
    pages = {"verdict": {"repository": repository, "commit": COMMIT}, "gates": {}}
    with page_for_axe(browser) as page:
        for name, query in pages.items():
            page.goto(f"{house.base}/ui/{address(name, **query)}")
            if name == "verdict":
                sign_in(page, house.keys["ada"])
            expect(page.get_by_text("C-1f3a9c42d0" if name == "verdict" else "less than 95%").first).to_be_visible()
            page.wait_for_load_state("networkidle")
            found = find_violations(page, RULES)
            assert [(one["id"], node["target"]) for one in found for node in one["nodes"]] == [], name
            page.set_viewport_size({"width": 390, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            page.set_viewport_size({"width": 1280, "height": 720})
