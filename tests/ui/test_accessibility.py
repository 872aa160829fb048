"""axe-core finds nothing against WCAG 2.2 AA on any page, light or dark; and every page can be read on a phone.

All pages with `--long`.
"""

import contextlib

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from ui.browser.axe import find_violations, page_for_axe
from ui.conftest import address
from ui.stories.datasets import CLEAN, DATES, FEATURES, HOSTILE, OVERVIEW, PREDICTIONS, USAGE
from ui.stories.story import SCORING, building_run, failed_run
from whence.model.names import FieldName

CHURN = str(FieldName(PREDICTIONS, "churn_probability"))
EMAIL_HASH = str(FieldName(CLEAN, "email_hash"))
PAGES = {
    "home": address(""),
    "lineage": address("lineage", node=str(FEATURES), columns=str(FEATURES), at=str(FEATURES), panel="about"),
    "column": address("lineage", node=str(PREDICTIONS), col=CHURN),
    "stub": address("lineage", node=str(DATES)),
    "impact": address("lineage", node=str(USAGE), panel="impact"),
    "time": address("lineage", node=str(FEATURES), vs="1d ago", panel="time"),
    "list": address("lineage", node=str(PREDICTIONS), col=CHURN, view="list"),
    "dataset": address("node", node=str(PREDICTIONS)),
    "job": address("node", node=str(SCORING.name)),
    "changes": address("changes", node=str(OVERVIEW), since="7d"),
    "changes of a column": address("changes", node=CHURN, since="7d"),
    "on call": address("board"),
    "overview": address("board", of="executive", lacking="owner", namespace="snowflake://acme"),
    "governance": address("board", of="governance", label="financial", grade="statistic", show="twins"),
    "debug": address("board", of="debug", show="quarantine"),
    "lens": address("lineage", node=str(FEATURES), lens="quality"),
    "health lens": address("lineage", node=str(FEATURES), lens="health"),
    "list of health": address("lineage", node=str(FEATURES), lens="health", view="list"),
    "column lens": address("lineage", node=str(PREDICTIONS), col=CHURN, lens="column"),
    "labels": address("lineage", node=str(CLEAN), lens="pii", columns=str(CLEAN)),
    "way of a label": address("lineage", node=str(CLEAN), lens="pii", col=EMAIL_HASH, panel="label", shut="down"),
    "list of labels": address("lineage", node=str(CLEAN), lens="pii", view="list"),
    "dataset with labels": address("node", node=str(CLEAN)),
    "twins": address("lineage", node=str(OVERVIEW)),
    "hostile": address("node", node=str(HOSTILE)),
    "incidents": address("incidents"),
    "objectives": address("slos"),
    "objective": address("slo", slo="billing/charges are fresh"),
    "run": address("run", run=failed_run()),
    "compared runs": address("run", run=building_run(4), vs=building_run(24)),
    "no such name": address("lineage", node=f"{FEATURES}x"),
    "no such page": address("nosuchpage"),
}
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    "rules": {"target-size": {"enabled": True}, "label-content-name-mismatch": {"enabled": True}},
}


FLAT = """.ground, .react-flow__edges, .react-flow__edgelabel-renderer { display: none }
.react-flow__node { z-index: 9 !important }"""
"""Without lines and dots axe knows what is behind the text of a box, and judges its contrast."""


def pages_of(served: str) -> dict[str, str]:
    """All pages, with one of an incident."""
    answer = httpx.get(f"{served}/api/v2/incidents", timeout=30).json()
    return {**PAGES, "incident": address("incident", incident=answer["data"]["incidents"][0]["id"])}


def settled(page: Page, where: str) -> None:
    """Go there, and wait until everything is drawn."""
    page.goto(where)
    page.wait_for_load_state("networkidle")
    expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0)


def test_axe_finds_nothing(browser: Browser, served: str, pytestconfig: pytest.Config) -> None:
    """Every third page; all with `--long`."""
    pages = list(pages_of(served).items())
    with page_for_axe(browser) as page:
        for name, where in pages if pytestconfig.getoption("long") else pages[::3]:
            settled(page, f"{served}/ui/{where}")
            page.add_style_tag(content=FLAT)
            found = find_violations(page, RULES)
            assert [(one["id"], node["target"]) for one in found for node in one["nodes"]] == [], name


def test_pages_fit_a_phone(browser: Browser, served: str, pytestconfig: pytest.Config) -> None:
    """Every third page; all with `--long`."""
    pages = list(pages_of(served).items())
    with contextlib.closing(browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)) as context:
        page = context.new_page()
        for name, where in pages if pytestconfig.getoption("long") else pages[1::3]:
            settled(page, f"{served}/ui/{where}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            age = page.locator(".age small")
            expect(age).to_contain_text("ago")
            box = age.bounding_box()
            assert box is not None, name
            assert 0 <= box["x"] <= box["x"] + box["width"] <= 390, name
