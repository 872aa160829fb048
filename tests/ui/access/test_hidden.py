"""What a reader of one namespace sees of what they may not see, and that they change nothing."""

import re

from playwright.sync_api import expect

from ui.access.signed_in import forgive, opened
from ui.conftest import Screen, address
from ui.stories.datasets import DASHBOARD, FEATURES, PREDICTIONS
from ui.stories.guarded import House
from whence.model.names import FieldName


def test_who_may_see_less_sees_hidden_nodes_as_counts(screen: Screen, house: House) -> None:
    page = opened(screen, house, "guest", "lineage", node=str(FEATURES))
    expect(page.locator(f'[data-node="{PREDICTIONS}"]')).to_be_visible()
    expect(page.locator(".standing")).to_contain_text(re.compile(r"\d+ nodes? (is|are) hidden from you"))
    hidden_boxes = page.locator('[data-node^="dataset:hidden:"]')
    expect(hidden_boxes.first).to_contain_text("Hidden dataset")
    expect(hidden_boxes.first.locator(".glyph-hidden")).to_be_visible()
    expect(hidden_boxes.first.locator(".box-name")).to_have_attribute("title", re.compile("Ask an administrator"))
    for hidden in ("payments", "support_tickets", "Customer health"):
        assert hidden not in page.content()
    screen.open("lineage", node=str(DASHBOARD))
    expect(page.get_by_role("alert")).to_contain_text("Not found")
    page.get_by_role("button", name="Account of guest").click()
    expect(page.get_by_text("API key · Reader in some namespaces")).to_be_visible()
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)
    forgive(screen, "404")


TOKEN = re.compile(r"(?<![0-9a-f])[0-9a-f]{20}(?![0-9a-f])")
CHURN = str(FieldName(PREDICTIONS, "churn_probability"))
HIDING: tuple[tuple[str, dict[str, str], str], ...] = (
    ("lineage", {"node": str(PREDICTIONS), "col": CHURN}, "hidden column"),
    ("lineage", {"node": str(PREDICTIONS), "col": CHURN, "view": "list"}, "hidden columns"),
    ("lineage", {"node": str(FEATURES), "panel": "time"}, "Hidden job"),
    ("lineage", {"node": str(FEATURES), "at": str(FEATURES), "panel": "about"}, "features"),
    ("node", {"node": str(FEATURES)}, "Hidden dataset"),
    ("changes", {"node": str(FEATURES), "since": "7d"}, "that you may not see"),
    ("", {}, "of hidden datasets and jobs"),
    ("board", {}, "hidden from you"),
    ("board", {"of": "debug"}, "Schema changes"),
    ("board", {"of": "executive"}, "Coverage"),
)
"""Pages on which a reader of one namespace meets what they may not see, and what is said of it."""


def test_hidden_things_look_hidden_and_never_like_hashes(screen: Screen, house: House) -> None:
    page = opened(screen, house, "guest")
    for where, query, text in HIDING:
        screen.open(where, **query)
        expect(page.locator("main")).to_contain_text(text)
        page.wait_for_load_state("networkidle")
        labels = page.locator("[aria-label], [title]").evaluate_all(
            "some => some.map(one => `${one.ariaLabel} ${one.title}`).join('\\n')"
        )
        assert TOKEN.findall(page.locator("body").inner_text() + str(labels)) == [], where
    forgive(screen, "403")  # the quarantine requires permission to read all namespaces


def test_who_may_only_read_changes_nothing(screen: Screen, house: House) -> None:
    page = opened(screen, house, "guest", "admin")
    expect(page.get_by_text("This is for administrators of everything.")).to_be_visible()
    page.goto(f"{house.base}/ui/{address('lineage', node=str(FEATURES), panel='about', at=str(FEATURES))}")
    expect(page.locator(f'[data-node="{PREDICTIONS}"]')).to_be_visible()
    expect(page.get_by_role("button", name="Add a tag")).to_have_count(0)
