"""The API's description as a page: nothing of it comes from elsewhere, and it works without a network."""

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
    page.goto(f"{screen.base}/ui/api#/access/ways_api_v2_session_ways_get")
    expect(page.get_by_role("button", name="Try it out").first).to_be_visible()
    assert [one for one in asked if not one.startswith((screen.base + "/", "data:"))] == []
    assert f"{screen.base}/openapi.json" in asked
