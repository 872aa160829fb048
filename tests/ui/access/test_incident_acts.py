"""What a person does about an incident in the browser: who is offered it, what is recorded, and how a refusal reads."""

import re

import httpx
from playwright.sync_api import Locator, Page, expect

from ui.access.signed_in import forgive, opened
from ui.conftest import Screen
from ui.stories.guarded import House

TITLE = "charges are fresh"
OFFERED = ["Acknowledge", "Assign", "Silence", "Comment", "Confirm the cause", "Mitigated", "Resolve"]


def show(screen: Screen, house: House, who: str) -> Page:
    """The page of the incident of the charges, for somebody."""
    page = opened(screen, house, who, "incidents")
    page.get_by_role("link", name=re.compile(TITLE)).click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    return page


def acts_of(page: Page) -> Locator:
    return page.get_by_role("group", name="What you can do")


def history(page: Page) -> Locator:
    return page.locator("section").filter(has=page.get_by_role("heading", name="History")).locator("li")


def press(page: Page, act: str) -> Locator:
    """Press the button of an act: its dialog."""
    acts_of(page).get_by_role("button", name=act).click()
    return page.get_by_role("dialog", name=act)


def test_a_steward_takes_an_incident_from_open_to_resolved_and_back(screen: Screen, house: House) -> None:
    page = show(screen, house, "ada")
    assert acts_of(page).get_by_role("button").all_inner_texts() == OFFERED
    acts_of(page).get_by_role("button", name="Acknowledge").click()
    expect(history(page).first).to_contain_text("key:ada acknowledged it")
    expect(page.locator("aside .facts")).to_contain_text("acknowledged")
    expect(acts_of(page).get_by_role("button", name="Acknowledge")).to_have_count(0)

    dialog = press(page, "Assign")
    expect(dialog.get_by_label("To whom")).to_have_value("key:ada")
    dialog.get_by_label("To whom").fill('<img src=x onerror="alert(1)">')
    dialog.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(history(page).first).to_contain_text('key:ada assigned it to <img src=x onerror="alert(1)">')

    dialog = press(page, "Silence")
    dialog.get_by_label("For").select_option("1 hour")
    dialog.get_by_label("Why, in your words").fill("the source is\ndown")
    dialog.get_by_role("button", name="Silence", exact=True).click()
    expect(history(page).first).to_contain_text("the source is down")
    expect(page.get_by_text(re.compile("^Nobody is notified of it until 20"))).to_be_visible()

    dialog = press(page, "Comment")
    dialog.get_by_role("button", name="Comment", exact=True).click()
    expect(dialog).to_be_visible()  # the browser asks for the words
    dialog.get_by_label("Your words").fill("asked the owner")
    dialog.get_by_role("button", name="Comment", exact=True).click()
    expect(history(page).first).to_contain_text("key:ada wrote")
    expect(history(page).first).to_contain_text("asked the owner")

    dialog = press(page, "Confirm the cause")
    cause = dialog.get_by_label("The cause").locator("option").first.inner_text()
    dialog.get_by_role("button", name="Confirm the cause", exact=True).click()
    expect(history(page).first).to_contain_text("key:ada confirmed the cause")
    expect(page.locator("aside .facts")).to_contain_text(cause.rsplit(".", 1)[-1])

    page.get_by_role("link", name="All incidents").click()
    row = page.locator("tbody tr").filter(has_text=TITLE)
    for text in ("acknowledged", "silenced", "<img src=x"):
        expect(row).to_contain_text(text)
    row.get_by_role("link").first.click()

    press(page, "Resolve").get_by_role("button", name="Resolve", exact=True).click()
    expect(history(page).first).to_contain_text("key:ada resolved it")
    expect(acts_of(page).get_by_role("button").first).to_have_text("Assign")
    press(page, "Reopen").get_by_role("button", name="Reopen", exact=True).click()
    expect(history(page).first).to_contain_text("key:ada opened it again")
    expect(acts_of(page).get_by_role("button").first).to_have_text("Acknowledge")


def test_an_act_that_somebody_else_was_quicker_with_is_refused_in_plain_words(screen: Screen, house: House) -> None:
    page = show(screen, house, "ada")
    expect(acts_of(page).get_by_role("button", name="Acknowledge")).to_be_visible()
    incident = page.url.rpartition("=")[2]
    answer = httpx.post(
        f"{house.base}/api/v2/incidents/{incident}/acts",
        json={"act": "acknowledge"},
        headers={"Authorization": f"Bearer {house.keys['root']}"},
        timeout=30,
    )
    assert answer.status_code in (200, 202), answer.text
    acts_of(page).get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "the incident is acknowledged, so acknowledge would change nothing"
    )
    page.reload()
    expect(history(page).first).to_contain_text("key:root acknowledged it")
    press(page, "Reopen").get_by_role("button", name="Reopen", exact=True).click()
    expect(acts_of(page).get_by_role("button", name="Acknowledge")).to_be_visible()
    forgive(screen, "409")


def test_a_reader_is_offered_nothing_and_told_why(screen: Screen, house: House) -> None:
    page = show(screen, house, "guest")
    expect(page.get_by_text("To act on it you need the role steward in the namespace of its root.")).to_be_visible()
    expect(acts_of(page)).to_have_count(0)
