"""What a person does who has to sign in: see less, change facts, make keys, give roles, read the audit log."""

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from ui.conftest import Screen, address
from ui.stories.guarded import House, guarded, sign_in
from ui.stories.story import CUSTOMERS, DASHBOARD, FEATURES, PREDICTIONS
from whence.model.names import FieldName

HOSTILE = "<img src=x onerror=alert(1)>\"'&=1"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An API that asks for keys."""
    with guarded(tmp_path_factory.mktemp("guarded")) as running:
        yield running


@pytest.fixture
def screen(browser: Browser, house: House) -> Iterator[Screen]:
    """A fresh window of a browser in which nobody is signed in. Fails the test if the page complained of anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, permissions=["clipboard-write"])
    with contextlib.closing(context):
        page = context.new_page()
        page.set_default_timeout(10_000)
        opened = Screen(page, house.base)
        page.on("console", lambda message: opened.heard(message))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
        yield opened
        assert opened.complaints == []


def opened(screen: Screen, house: House, who: str, page: str = "", **query: str) -> Page:
    """A page, signed in as somebody."""
    screen.open(page, **query)
    sign_in(screen.page, house.keys[who])
    expect(screen.page.get_by_role("button", name=f"Account of {who}")).to_be_visible()
    return screen.page


def forgive(screen: Screen, *statuses: str) -> None:
    """A browser says that a request failed, whatever one does with the answer."""
    screen.complaints[:] = [one for one in screen.complaints if not any(status in one for status in statuses)]


def test_a_key_signs_in_to_where_one_was_and_is_kept_nowhere(screen: Screen, house: House) -> None:
    screen.open("node", node=str(PREDICTIONS))
    asked = screen.page.url
    sign_in(screen.page, "whence_00000000_wrong")
    expect(screen.page.get_by_role("alert")).to_contain_text("this key is not known")
    forgive(screen, "401")
    sign_in(screen.page, f" {house.keys['ada']} ")
    expect(screen.page.get_by_role("heading", level=1, name="predictions")).to_be_visible()
    assert screen.page.url == asked
    (cookie,) = screen.page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["secure"]) == ("__Host-whence", True, True)
    kept = screen.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert house.keys["ada"] not in kept + str(cookie)
    screen.page.reload()
    expect(screen.page.get_by_role("button", name="Account of ada")).to_contain_text("Steward")


def test_signing_out_ends_the_session_and_an_ended_one_leads_back(screen: Screen, house: House) -> None:
    page = opened(screen, house, "ada", "node", node=str(PREDICTIONS))
    cookies = page.context.cookies()
    page.get_by_role("button", name="Account of ada").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    stolen = httpx.get(f"{house.base}/api/v2/datasets", cookies={cookies[0]["name"]: cookies[0]["value"]})
    assert stolen.status_code == 401
    expect(page.get_by_text("Your session has ended.")).to_have_count(0)

    sign_in(page, house.keys["ada"])
    expect(page.get_by_role("heading", level=1, name="predictions")).to_be_visible()
    page.reload(wait_until="networkidle")  # else a part of the page that still asks meets the end first
    page.context.clear_cookies()
    page.get_by_role("link", name="Open lineage").click()
    expect(page.get_by_text("Your session has ended.")).to_be_visible()
    asked = page.url
    sign_in(page, house.keys["ada"])
    expect(page.locator(f'[data-node="{FEATURES}"]')).to_be_visible()
    assert page.url == asked
    forgive(screen, "401")


def test_a_session_somewhere_else_is_ended_and_this_one_goes_on(screen: Screen, browser: Browser, house: House) -> None:
    page = opened(screen, house, "ada")
    with contextlib.closing(browser.new_context()) as elsewhere:
        other = elsewhere.new_page()
        other.goto(f"{house.base}/ui/{address('admin', tab='sessions')}")
        sign_in(other, house.keys["ada"])
        expect(other.get_by_text("this one")).to_be_visible()
        screen.open("admin", tab="sessions")
        rows = page.locator("tbody tr")
        others = rows.filter(has_not_text="this one")
        expect(others).not_to_have_count(0)  # with those of the tests before
        for left in reversed(range(others.count())):
            others.first.get_by_role("button").click()
            page.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
            expect(others).to_have_count(left)
        other.reload()
        expect(other.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    page.reload()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("this one")


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


HIDING = (
    ("lineage", {"node": str(PREDICTIONS), "col": CHURN}, "hidden column"),
    ("lineage", {"node": str(PREDICTIONS), "col": CHURN, "view": "list"}, "hidden columns"),
    ("lineage", {"node": str(FEATURES), "panel": "time"}, "Hidden job"),
    ("lineage", {"node": str(FEATURES), "at": str(FEATURES), "panel": "about"}, "features"),
    ("node", {"node": str(FEATURES)}, "Hidden dataset"),
    ("", {}, "of hidden datasets and jobs"),
    ("board", {}, "hidden from you"),
    ("board", {"of": "debug"}, "Schema changes"),
    ("board", {"of": "executive"}, "Coverage"),
)
"""Pages on which a reader of one namespace meets what they may not see, and what is said of it."""


def test_hidden_things_look_hidden_and_never_like_hashes(screen: Screen, house: House) -> None:
    page = opened(screen, house, "guest")
    for where, query, says in HIDING:
        screen.open(where, **query)
        expect(page.locator("main")).to_contain_text(says)
        page.wait_for_load_state("networkidle")
        labels = page.locator("[aria-label], [title]").evaluate_all(
            "some => some.map(one => `${one.ariaLabel} ${one.title}`).join('\\n')"
        )
        assert TOKEN.findall(page.locator("body").inner_text() + str(labels)) == [], where
    forgive(screen, "403")  # the quarantine is for who may read everything


def test_a_first_visitor_is_not_told_of_an_ended_session(screen: Screen) -> None:
    screen.open("lineage", node=str(FEATURES))
    expect(screen.page.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    expect(screen.page.get_by_text("Your session has ended.")).to_have_count(0)


def test_without_a_role_there_is_one_page_that_says_whom_to_ask(screen: Screen, house: House) -> None:
    page = opened(screen, house, "nobody")
    for where, query in (("", {}), ("board", {}), ("lineage", {"node": str(FEATURES)})):
        screen.open(where, **query)
        main = page.locator("main")
        expect(main.get_by_role("heading")).to_have_text("You have no role yet")
        expect(main).to_contain_text("whence access grant key:nobody --role reader")
        page.wait_for_load_state("networkidle")
        expect(main).not_to_contain_text("Something went wrong")


def test_who_may_only_read_changes_nothing(screen: Screen, house: House) -> None:
    page = opened(screen, house, "guest", "admin")
    expect(page.get_by_text("This is for administrators of everything.")).to_be_visible()
    page.goto(f"{house.base}/ui/{address('lineage', node=str(FEATURES), panel='about', at=str(FEATURES))}")
    expect(page.locator(f'[data-node="{PREDICTIONS}"]')).to_be_visible()
    expect(page.get_by_role("button", name="Add a tag")).to_have_count(0)


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
    said = httpx.put(f"{house.base}/api/v2/nodes/{node}/tags/reviewed", headers=headers, json={}, timeout=30)
    assert said.status_code in (200, 202), said.text
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
    said = page.get_by_role("complementary", name="features")
    expect(said).to_contain_text("gold layer/1=yes")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(box.locator(".box-tags")).to_have_count(0)
    expect(said).to_contain_text("No tags.")


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


def _session(house: House, secret: str) -> Any:
    """What a new key is good for: an API knows it within a second (docs/explanation/security.md)."""
    bearer, deadline, pause = {"Authorization": f"Bearer {secret}"}, time.monotonic() + 30, threading.Event()
    while (answer := httpx.get(f"{house.base}/api/v2/session", headers=bearer)).status_code == 401:
        assert time.monotonic() < deadline, answer.text
        pause.wait(0.1)
    return answer.json()


def test_a_key_is_made_shown_once_used_rotated_and_revoked(screen: Screen, house: House) -> None:
    page = opened(screen, house, "root", "admin", tab="keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("air/flow")
    dialog.get_by_label("Role").select_option("writer")
    dialog.get_by_label("In namespaces").fill("air*")
    dialog.get_by_label("administer").uncheck()
    dialog.get_by_role("button", name="Make the key").click()
    secret = page.get_by_test_id("secret").inner_text()
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    row = page.get_by_role("row", name=re.compile("^air.flow"))
    for may in ("read", "send events", "state facts"):
        expect(row).to_contain_text(may)
    expect(row).not_to_contain_text("administer")
    assert secret not in page.content()
    me = _session(house, secret)
    assert (me["name"], me["grants"]) == ("key:air/flow", [{"role": "writer", "namespaces": "air*"}])

    row.get_by_role("button", name="Rotate").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate", exact=True).click()
    expect(page.get_by_test_id("secret")).not_to_have_text(secret)
    page.get_by_role("button", name="Done").click()
    expect(row).to_have_count(2)
    for left in (1, 0):
        row.first.get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
        expect(row).to_have_count(left)
    page.get_by_role("button", name=re.compile("keys that ended")).click()
    expect(row).to_have_count(2)
    page.get_by_role("button", name="New key").click()
    page.get_by_role("dialog").get_by_label("Name").fill("ada")
    page.get_by_role("button", name="Make the key").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("ada has a key")
    forgive(screen, "409")


def test_roles_and_hidden_columns(screen: Screen, house: House) -> None:
    page = opened(screen, house, "root", "admin", tab="access")
    page.get_by_role("button", name="Give a role").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Who").fill("somebody")
    dialog.get_by_role("button", name="Give a role").click()
    expect(dialog.get_by_role("alert")).to_contain_text("write key:NAME, user:SUBJECT or group:NAME")
    dialog.get_by_label("Who").fill("group:analysts")
    dialog.get_by_label("Role").select_option("steward")
    dialog.get_by_label("In namespaces").fill("looker://*")
    dialog.get_by_role("button", name="Give a role").click()
    row = page.get_by_role("row", name=re.compile("^group:analysts"))
    expect(row).to_contain_text("Steward")
    row.get_by_role("button", name=re.compile("^Take")).click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").last.click()
    expect(row).to_contain_text("looker://*")
    page.get_by_role("button", name="Take the role of key:root in * back").click()
    expect(page.get_by_role("status")).to_contain_text("the last administrator")

    page.get_by_role("button", name="Hide columns").click()
    dialog.get_by_label("Columns").fill("*email*")
    dialog.get_by_role("button", name="Hide columns").click()
    hidden = page.get_by_role("row", name=re.compile(r"^\*email\*"))
    expect(hidden).to_contain_text("everybody")
    page.get_by_role("button", name="Show columns that fit *email* again").click()
    expect(hidden).to_have_count(0)
    forgive(screen, "409", "422")


def test_the_audit_log_is_filtered_verified_and_exported(screen: Screen, house: House) -> None:
    refused = {"Authorization": f"Bearer {house.keys['nobody']}"}
    assert httpx.get(f"{house.base}/api/v2/status", headers=refused).status_code == 403
    asking = {"Authorization": f"Bearer {house.keys['root']}"}
    walked = f"{house.base}/api/v2/lineage/upstream?node={quote(str(PREDICTIONS), safe='')}"
    nodes = httpx.get(walked, headers=asking, timeout=30).json()["page"]["total"]
    assert nodes > 1
    page = opened(screen, house, "root", "admin", tab="audit")
    page.get_by_label("Refused only").check()
    page.get_by_role("searchbox", name="Who").fill("nobod")
    rows = page.get_by_role("row", name=re.compile("key:nobody"))
    expect(rows.first).to_contain_text("GET /api/v2/status")
    expect(page.get_by_role("row", name=re.compile("key:root"))).to_have_count(0)
    expect(page).to_have_url(re.compile("who=nobod"))
    asked = page.url
    page.reload()
    expect(page.get_by_role("searchbox", name="Who")).to_have_value("nobod")
    assert page.url == asked
    with page.expect_download() as told:
        page.get_by_role("link", name="Export CSV").click()
    text = told.value.path().read_text()
    assert text.startswith("number,at,who,action,what,nodes,count,status")
    assert "key:nobody,refused,GET /api/v2/status" in text
    assert "key:root" not in text
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text(re.compile(r"[\d,]+ rows are as they were written"))).to_be_visible()
    page.get_by_label("Refused only").uncheck()
    page.get_by_role("searchbox", name="Who").fill("key:root")
    walks = page.get_by_role("row").filter(has_text="GET /api/v2/lineage/{direction}")
    expect(walks.filter(has_text=f"{nodes} rows").first).to_be_visible()


PAGES = {
    "keys": address("admin", tab="keys"),
    "roles": address("admin", tab="access"),
    "audit": address("admin", tab="audit"),
    "sessions": address("admin", tab="sessions"),
    "dataset": address("node", node=str(PREDICTIONS)),
    "graph": address("lineage", node=str(PREDICTIONS), panel="about", at=str(PREDICTIONS)),
}


def grave(page: Page) -> list[tuple[str, str]]:
    found = Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["target"]) for one in found if one["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, house: House, scheme: str) -> None:
    # axe is put into the page, which the policy forbids, as it should.
    with contextlib.closing(browser.new_context(color_scheme=scheme, bypass_csp=True)) as context:
        page = context.new_page()
        page.goto(f"{house.base}/ui/")
        expect(page.get_by_label("API key")).to_be_visible()
        assert grave(page) == []
        sign_in(page, house.keys["root"])
        expect(page.get_by_role("button", name="Account of root")).to_be_visible()
        for name, where in PAGES.items():
            page.goto(f"{house.base}/ui/{where}")
            page.wait_for_load_state("networkidle")
            expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0)
            assert grave(page) == [], name
        page.get_by_role("button", name="Account of root").click()
        assert grave(page) == []
        page.goto(f"{house.base}/ui/{PAGES['keys']}")
        page.get_by_role("button", name="New key").click()
        assert grave(page) == []


def test_pages_fit_a_phone(browser: Browser, house: House) -> None:
    with contextlib.closing(browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)) as context:
        page = context.new_page()
        page.goto(f"{house.base}/ui/")
        expect(page.get_by_label("API key")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        sign_in(page, house.keys["root"])
        account = page.get_by_role("button", name="Account of root")
        expect(account).to_be_visible()  # a page that is left earlier takes its question with it
        for name, where in PAGES.items():
            page.goto(f"{house.base}/ui/{where}")
            page.wait_for_load_state("networkidle")
            expect(page.locator(".skeleton, .laying, .progress")).to_have_count(0)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            box = account.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390, name


def test_the_open_tab_is_in_sight_on_a_phone(screen: Screen, house: House) -> None:
    screen.page.set_viewport_size({"width": 390, "height": 844})
    screen.open("admin", tab="audit")
    sign_in(screen.page, house.keys["root"])
    tab = screen.page.get_by_role("link", name="Audit log")
    expect(tab).to_have_attribute("aria-current", "page")
    expect(tab).to_be_in_viewport(ratio=1)
    screen.page.get_by_role("link", name="Roles").click()
    expect(screen.page.get_by_role("link", name="Roles")).to_be_in_viewport(ratio=1)
