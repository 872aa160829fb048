"""What the camera shows: all that is there, also when a panel or the window takes room; and no map over the start."""

import pytest
from playwright.sync_api import Page, expect

from ui.browser.modules import call_each
from ui.conftest import Screen
from ui.stories.datasets import FEATURES, PREDICTIONS
from whence.model.names import FieldName

STAGE = {"width": 1000, "height": 600}
LIMITS = {"least": 0.87, "most": 1, "edge": 20}


def rect(x: float, y: float, width: float = 268, height: float = 80) -> dict[str, float]:
    return {"x": x, "y": y, "width": width, "height": height}


def test_all_of_a_graph_is_in_the_middle_if_it_can_be_read() -> None:
    (view,) = call_each("graph/view.ts", "viewOf", [[rect(0, 0, 600, 300), STAGE, {"x": 10, "y": 10}, LIMITS]])
    assert view == {"x": 200, "y": 150, "zoom": 1}


def test_else_the_start_is_in_sight_at_a_size_that_can_be_read() -> None:
    start = {"x": 3_900, "y": 40}
    (view,) = call_each("graph/view.ts", "viewOf", [[rect(0, 0, 4_000, 300), STAGE, start, LIMITS]])
    assert view["zoom"] == LIMITS["least"]
    assert 0 < view["x"] + start["x"] * view["zoom"] < STAGE["width"]
    # Nothing but room is beyond the right edge.
    assert view["x"] + 4_000 * view["zoom"] == pytest.approx(STAGE["width"] - LIMITS["edge"] * view["zoom"])


def test_the_map_is_in_the_corner_where_it_covers_less() -> None:
    view, map_ = {"x": 0, "y": 0, "zoom": 1}, {"width": 230, "height": 180}
    asked = [[boxes, view, STAGE, map_] for boxes in ([], [rect(720, 60)], [rect(10, 60)], [rect(720, 400)])]
    found = call_each("graph/view.ts", "freeCorner", asked)
    assert found == ["top-right", "top-left", "top-right", "top-right"]


def hidden_boxes(page: Page) -> list[str]:
    """The boxes that are not wholly on the stage."""
    return list(
        page.evaluate("""() => {
            const stage = document.querySelector('.stage').getBoundingClientRect();
            return [...document.querySelectorAll('.react-flow__node-box [data-node]')].filter(one => {
                const at = one.getBoundingClientRect();
                return at.left < stage.left - 1 || at.right > stage.right + 1
                    || at.top < stage.top - 1 || at.bottom > stage.bottom + 1;
            }).map(one => one.dataset.node);
        }""")
    )


def wait_until_all_is_seen(page: Page) -> None:
    expect(page.locator(".react-flow__node-box").first).to_be_attached()
    page.wait_for_function(
        """() => {
            const stage = document.querySelector('.stage').getBoundingClientRect();
            const boxes = [...document.querySelectorAll('.react-flow__node-box [data-node]')];
            return boxes.length > 1 && !boxes.some(one => {
                const at = one.getBoundingClientRect();
                return at.left < stage.left - 1 || at.right > stage.right + 1
                    || at.top < stage.top - 1 || at.bottom > stage.bottom + 1;
            });
        }"""
    )


def test_a_panel_and_a_smaller_window_leave_all_boxes_in_sight(screen: Screen) -> None:
    page = screen.page
    page.set_viewport_size({"width": 1500, "height": 860})
    screen.open("lineage", node=str(FEATURES))
    wait_until_all_is_seen(page)
    page.keyboard.press("i")
    expect(page.get_by_role("complementary", name="Impact")).to_be_visible()
    wait_until_all_is_seen(page)
    page.set_viewport_size({"width": 1400, "height": 620})
    wait_until_all_is_seen(page)


def test_who_moved_the_graph_keeps_what_they_look_at(screen: Screen) -> None:
    page = screen.page
    page.set_viewport_size({"width": 1500, "height": 860})
    screen.open("lineage", node=str(FEATURES))
    wait_until_all_is_seen(page)
    page.mouse.move(750, 780)
    page.mouse.down()
    page.mouse.move(350, 780, steps=4)
    page.mouse.up()
    moved = hidden_boxes(page)
    assert moved
    page.set_viewport_size({"width": 1490, "height": 860})
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert hidden_boxes(page) == moved


def test_the_start_is_not_below_the_map(screen: Screen) -> None:
    page = screen.page
    screen.open("lineage", node=str(PREDICTIONS), col=str(FieldName(PREDICTIONS, "churn_probability")))
    start, map_ = page.locator(f'[data-node="{PREDICTIONS}"]'), page.locator(".react-flow__minimap")
    expect(map_).to_be_visible()
    boxes = start.bounding_box(), map_.bounding_box()
    assert boxes[0] is not None
    assert boxes[1] is not None
    (left, right) = sorted(boxes, key=lambda one: one["x"] if one else 0)
    assert left is not None
    assert right is not None
    is_beside = left["x"] + left["width"] <= right["x"]
    (upper, lower) = sorted((left, right), key=lambda one: one["y"])
    assert is_beside or upper["y"] + upper["height"] <= lower["y"]
