"""The API's description as a page: nothing of it comes from elsewhere, and it works without a network."""

import re

from playwright.sync_api import Route, expect

from ui.conftest import Screen


def test_the_docs_render_with_the_network_cut_off(screen: Screen) -> None:
    page, asked = screen.page, list[str]()
    page.set_default_timeout(60_000)

    def pass_own(route: Route) -> None:
        asked.append(route.request.url)
        if route.request.url.startswith(screen.base + "/"):
            route.continue_()
        else:
            route.abort()

    page.route("**/*", pass_own)
    page.goto(f"{screen.base}/docs")
    expect(page.get_by_role("heading", name="Whence")).to_be_visible()
    ask = page.locator(".opblock-tag-section").filter(has=page.get_by_role("heading", name="ask"))
    ask.get_by_role("button", name="Expand operation").click()
    operations = ask.locator(".opblock")
    for path in ("/api/v2/lineage/{direction}", "/api/v2/impact", "/api/v2/paths"):
        expect(operations.filter(has_text=re.compile(re.escape(path) + r"(?!/)"))).to_be_visible()
    expect(page.get_by_role("button", name="Try it out")).to_have_count(0)
    impact = operations.filter(has_text=re.compile("/api/v2/impact"))
    impact.get_by_role("button").first.click()
    expect(impact.get_by_role("button", name="Try it out")).to_be_visible()
    expect(impact.get_by_role("row", name=re.compile("^node"))).to_be_visible()
    assert screen.complaints == []  # violations of the policy among them
    page.reload()  # the address names the open operation
    expect(page.get_by_role("button", name="Try it out")).to_have_count(1, timeout=60_000)
    # Swagger UI says this of each address whose operation has "_" in its id.
    screen.complaints[:] = [one for one in screen.complaints if "escaping deep link whitespace" not in one]
    assert [one for one in asked if not one.startswith((screen.base + "/", "data:"))] == []
    assert f"{screen.base}/openapi.json" in asked
