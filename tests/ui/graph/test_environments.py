"""Production, staging and development are told apart wherever a dataset is named, whatever the names are."""

import re

import pytest
from playwright.sync_api import Locator, expect

from ui.conftest import Screen
from ui.stories.datasets import DATES, ENVIRONMENTS, HOSTILE, LONG_TWINS, OVERVIEW, PARTITION, TWINS
from whence.model.names import DatasetName


def distinct(rows: Locator) -> list[str]:
    """What the rows say, all of them different."""
    texts = [re.sub(r"\s+", " ", one) for one in rows.all_inner_texts()]
    assert len(set(texts)) == len(texts) > 0, texts
    return texts


def test_twins_in_the_search(screen: Screen) -> None:
    screen.open()
    screen.page.locator(".hero-search").click()
    screen.page.get_by_role("combobox").fill("MART.ORDERS")
    found = screen.page.get_by_role("option")
    expect(found.first).to_contain_text("ORDERS")
    for one in ENVIRONMENTS:
        expect(found.locator(f".instance.env-{one}", has_text=one).first).to_be_visible()
    distinct(found)


def test_twins_in_the_graph_with_the_whole_name_as_title(screen: Screen) -> None:
    screen.open("lineage", node=str(OVERVIEW))
    boxes = screen.page.locator(".box")
    expect(boxes).to_have_count(8)
    distinct(boxes)
    for twin, environment in [*zip(TWINS, ENVIRONMENTS, strict=True), *zip(LONG_TWINS, ENVIRONMENTS, strict=False)]:
        box = screen.page.locator(f'[data-node="{twin}"]')
        expect(box.locator(".instance")).to_have_class(re.compile(f"env-{environment}"))
        expect(box.locator(".instance")).to_contain_text(environment)
        expect(box.locator(".box-name")).to_have_attribute("title", f"{twin.namespace} {twin.name}")


def test_hostile_names_stay_in_their_boxes(screen: Screen) -> None:
    screen.open("lineage", node=str(OVERVIEW))
    box = screen.page.locator(".box", has_text="fct_marketin")
    expect(box.locator(".box-name")).to_have_attribute("title", f"{HOSTILE.namespace} {HOSTILE.name}")
    expect(box.locator("img")).to_have_count(0)
    inside, text = box.bounding_box(), box.locator(".box-text").bounding_box()
    assert inside
    assert text
    assert inside["x"] < text["x"]
    assert text["x"] + text["width"] < inside["x"] + inside["width"]


def test_a_partition_is_called_by_its_table(screen: Screen) -> None:
    screen.open("node", node=str(PARTITION))
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("attribution_by_channel_v2")
    expect(screen.page.locator(".page-head")).to_contain_text("marts · date=2026-11-23/hour=07")


@pytest.mark.parametrize(
    ("page", "query", "rows"),
    [
        ("lineage", {"view": "list"}, ".list-view tbody tr"),
        ("node", {}, "section:has(h2:text('Comes from')) tbody tr"),
        ("lineage", {"panel": "time"}, ".changes li"),
    ],
)
def test_twins_in_lists_pages_and_history(screen: Screen, page: str, query: dict[str, str], rows: str) -> None:
    screen.open(page, node=str(OVERVIEW), **query)
    found = screen.page.locator(rows)
    for one in ENVIRONMENTS:
        expect(found.filter(has_text=one).first).to_be_visible()
    distinct(found)


def test_twins_on_the_boards_and_in_the_picker(screen: Screen) -> None:
    screen.open("board")
    failing = screen.page.locator(".trouble-failing", has_text="load_orders")
    expect(failing.locator(".instance.env-dev").first).to_have_text("shop-dev")
    screen.open("lineage", node=str(DATES))
    screen.page.get_by_role("button", name="Choose…").click()
    expect(screen.page.get_by_role("dialog").locator("legend .instance").first).to_have_text("acme")


def test_csv_has_whole_names(screen: Screen) -> None:
    twin: DatasetName = TWINS[0]
    screen.open("lineage", node=str(twin), panel="impact")
    with screen.page.expect_download() as download:
        screen.page.get_by_role("link", name="CSV").click()
    assert f"dataset:{OVERVIEW.namespace}:{OVERVIEW.name}" in download.value.path().read_text()
