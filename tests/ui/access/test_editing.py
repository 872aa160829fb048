"""Changing tags, owners, tiers and descriptions, alone and beside others."""

import re
from urllib.parse import quote

import httpx
from playwright.sync_api import expect

from ui.access.signed_in import forgive, opened
from ui.conftest import Screen
from ui.stories.datasets import CUSTOMERS, FEATURES
from ui.stories.guarded import House

HOSTILE = "<img src=x onerror=alert(1)>\"'&=1"


def test_an_open_page_shows_what_others_change_without_being_asked(screen: Screen, house: House) -> None:
    screen.page.clock.install()
    page = opened(screen, house, "ada", "lineage", node=str(FEATURES), panel="about", at=str(FEATURES))
    box = page.locator(f'[data-node="{FEATURES}"]')
    expect(box).to_be_visible()
    page.clock.run_for(16_000)  # how far the graph is now
    expect(page.locator(".age")).to_contain_text(re.compile(r"As of \d\d:\d\d:\d\d UTC.* s ago"))
    places = screen.places()
    node = quote(str(FEATURES), safe="")
    headers = {"Authorization": f"Bearer {house.keys['root']}"}
    answer = httpx.put(f"{house.base}/api/v2/nodes/{node}/tags/reviewed", headers=headers, json={}, timeout=30)
    assert answer.status_code in (200, 202), answer.text
    for _ in range(4):
        page.clock.run_for(16_000)
    expect(box.locator(".box-tags")).to_have_text("reviewed")
    expect(page.get_by_role("complementary", name="features")).to_contain_text("reviewed")
    assert screen.places() == places
    httpx.delete(f"{house.base}/api/v2/nodes/{node}/tags/reviewed", headers=headers, timeout=30)


def test_a_tag_is_added_in_the_graph_seen_there_and_taken_back(screen: Screen, house: House) -> None:
    page = opened(screen, house, "ada", "lineage", node=str(FEATURES), panel="about", at=str(FEATURES))
    box = page.locator(f'[data-node="{FEATURES}"]')
    expect(box).to_be_visible()
    places = screen.places()
    page.get_by_role("button", name="Add a tag").click()
    page.get_by_label("Tag", exact=True).fill("gold layer/1")
    page.get_by_label("Value", exact=True).fill("yes")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(box.locator(".box-tags")).to_have_text("gold layer/1")
    assert screen.places() == places
    panel = page.get_by_role("complementary", name="features")
    expect(panel).to_contain_text("gold layer/1=yes")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(box.locator(".box-tags")).to_have_count(0)
    expect(panel).to_contain_text("No tags.")


def test_owners_trust_and_tags_of_columns_are_changed_on_the_page(screen: Screen, house: House) -> None:
    page = opened(screen, house, "ada", "node", node=str(FEATURES))
    page.get_by_role("button", name="Add an owner").click()
    page.get_by_label("Owner", exact=True).fill(HOSTILE)
    page.get_by_label("Role").fill("STEWARD")
    page.keyboard.press("Enter")
    expect(page.locator(".chip-text", has_text=HOSTILE)).to_be_visible()
    page.get_by_role("button", name=f"Remove owner {HOSTILE}").click()
    expect(page.locator(".chip-text", has_text=HOSTILE)).to_have_count(0)
    page.get_by_role("button", name="certified").click()
    expect(page.get_by_role("button", name="certified")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Tier").select_option("2")
    expect(page.get_by_role("status")).to_contain_text("Tier 2")
    page.get_by_role("button", name="Add a tag to tenure_days").click()
    page.get_by_label("Tag", exact=True).fill("PII")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name=re.compile("^tenure_days"))).to_contain_text("PII")
    page.reload()
    expect(page.get_by_role("row", name=re.compile("^tenure_days"))).to_contain_text("PII")
    expect(page.get_by_label("Tier")).to_have_value("2")
    screen.open("lineage", node=str(FEATURES))
    expect(page.locator(f'[data-node="{FEATURES}"] .box-tags')).to_contain_text("certified")


def test_two_people_describe_one_thing(screen: Screen, house: House) -> None:
    page = opened(screen, house, "ada", "node", node=str(CUSTOMERS))
    page.get_by_role("button", name="Edit the description").click()
    page.get_by_label("Description").fill("All customers, ever.")
    bearer = {"Authorization": f"Bearer {house.keys['root']}"}
    node = f"{house.base}/api/v2/nodes/{str(CUSTOMERS).replace(':', '%3A').replace('/', '%2F')}"
    assert httpx.put(f"{node}/tags/gold", headers=bearer).status_code == 200
    assert httpx.put(f"{node}/description", json={"description": "Theirs"}, headers=bearer).status_code == 200
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed this while you were writing")
    expect(page.locator("blockquote")).to_have_text("Theirs")
    page.get_by_role("button", name="Save mine instead").click()
    expect(page.locator(".described")).to_have_text("All customers, ever.")
    page.get_by_role("button", name="Edit the description").click()
    page.get_by_label("Description").fill("Mine alone")
    assert httpx.delete(f"{node}/tags/gold", headers=bearer).status_code == 200
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".described")).to_have_text("Mine alone")
    page.get_by_role("status").get_by_role("button", name="Undo").last.click()
    expect(page.locator(".described")).to_have_text("All customers, ever.")
    forgive(screen, "412")
