"""Making keys, giving roles, reading the audit log."""

import re
import threading
import time
from typing import Any
from urllib.parse import quote

import httpx
from playwright.sync_api import expect

from ui.access.signed_in import forgive, opened
from ui.conftest import Screen
from ui.stories.datasets import PREDICTIONS
from ui.stories.guarded import House


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
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("ada already has a key")
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
    expect(page.get_by_role("status")).to_contain_text("the only administrator")

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
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    text = download.value.path().read_text()
    assert text.startswith("number,at,who,action,what,nodes,count,status")
    assert "key:nobody,refused,GET /api/v2/status" in text
    assert "key:root" not in text
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text(re.compile(r"[\d,]+ rows are as they were written"))).to_be_visible()
    page.get_by_label("Refused only").uncheck()
    page.get_by_role("searchbox", name="Who").fill("key:root")
    walks = page.get_by_role("row").filter(has_text="GET /api/v2/lineage/{direction}")
    expect(walks.filter(has_text=f"{nodes} rows").first).to_be_visible()
