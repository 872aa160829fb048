"""Which job writes a dataset is on its box, on its lines and in the list, whether or not the hop into it is open."""

from typing import Any

from playwright.sync_api import expect

from ui.browser.modules import call_each
from ui.conftest import Screen
from ui.stories.datasets import CLEAN, FEATURES, PAYMENTS, SESSIONS

LATEST = {"run": "run:1", "job": "job:ns:load", "state": "FAIL", "time": "2026-11-20T00:00:00Z"}


def written(box: dict[str, Any], latest: dict[str, str] | None) -> dict[str, Any]:
    """The box as it is drawn."""
    picture = {"boxes": [{"id": "a", "kind": "dataset", **box}], "stubs": [], "lines": []}
    (answer,) = call_each("graph/writers.ts", "withWriters", [[picture, [["a", {"latest": latest}]]]])
    return dict(answer["boxes"][0])


def test_a_box_gets_the_writer_that_its_lines_do_not_show() -> None:
    box = written({}, LATEST)
    assert (box["writer"], box["run"]["state"]) == ("job:ns:load", "FAIL")
    assert written({"writer": "job:ns:seen"}, LATEST)["writer"] == "job:ns:seen"
    assert "writer" not in written({}, None)
    assert "writer" not in written({"kind": "job"}, LATEST)


def test_sources_name_their_writers_before_their_hops_are_open(screen: Screen) -> None:
    screen.open("lineage", node=str(FEATURES))
    box = screen.page.locator
    expect(box(f'[data-node="{SESSIONS}"]').get_by_role("link")).to_have_text("build_sessions")
    expect(box(f'[data-node="{CLEAN}"]').get_by_role("link")).to_have_text("clean_customers")
    expect(box(f'[data-node="{PAYMENTS}"] .box-foot')).to_have_count(0)


def test_a_line_under_the_pointer_names_its_job(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(SESSIONS))
    line = page.get_by_role("button", name="sessions to features: Values flow, by build_features. Show evidence")
    expect(line).to_be_attached()
    line.locator(".react-flow__edge-interaction").dispatch_event("mouseover")
    expect(page.locator(".line-tip")).to_contain_text("build_features")
    line.locator(".react-flow__edge-interaction").dispatch_event("mouseout")
    expect(page.locator(".line-tip")).to_have_count(0)


def test_the_legend_has_only_the_lines_that_there_are(screen: Screen) -> None:
    screen.open("lineage", node=str(SESSIONS))
    legend = screen.page.get_by_role("list", name="Legend")
    expect(legend.get_by_role("listitem")).to_have_text(["Values flow"])
