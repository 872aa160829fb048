"""axe-core finds nothing serious on any page, light or dark; and every page can be read on a phone."""

import contextlib

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from ui.conftest import address
from ui.story import DATES, FEATURES, PREDICTIONS, SCORING, USAGE
from whence.model.names import FieldName

CHURN = str(FieldName(PREDICTIONS, "churn_probability"))
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
    "on call": address("board"),
    "overview": address("board", of="executive", lacking="owner", namespace="snowflake://acme"),
    "debug": address("board", of="debug", show="quarantine"),
    "failed checks": address("board", of="debug", show="checks"),
    "lost": address("board", of="debug", show="lost"),
    "lens": address("lineage", node=str(FEATURES), lens="quality"),
    "column lens": address("lineage", node=str(PREDICTIONS), col=CHURN, lens="column"),
}


def settled(page: Page, where: str) -> None:
    """Go there, and wait until everything is drawn."""
    page.goto(where)
    page.wait_for_load_state("networkidle")
    expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, served: str, scheme: str) -> None:
    # axe is put into the page, which the policy forbids, as it should.
    with contextlib.closing(browser.new_context(color_scheme=scheme, bypass_csp=True)) as context:
        page = context.new_page()
        for name, where in PAGES.items():
            settled(page, f"{served}/ui/{where}")
            found = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
            assert [(one["id"], one["nodes"][0]["target"]) for one in found] == [], name


def test_pages_fit_a_phone(browser: Browser, served: str) -> None:
    with contextlib.closing(browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)) as context:
        page = context.new_page()
        for name, where in PAGES.items():
            settled(page, f"{served}/ui/{where}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
