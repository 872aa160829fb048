"""Pages of the UI as somebody sees them who has signed in."""

from playwright.sync_api import Page, expect

from ui.conftest import Screen
from ui.stories.guarded import House, sign_in


def opened(screen: Screen, house: House, who: str, page: str = "", **query: str) -> Page:
    """A page, signed in as somebody."""
    screen.open(page, **query)
    sign_in(screen.page, house.keys[who])
    expect(screen.page.get_by_role("button", name=f"Account of {who}")).to_be_visible()
    return screen.page


def forgive(screen: Screen, *statuses: str) -> None:
    """A browser says that a request failed, whatever one does with the answer."""
    screen.complaints[:] = [one for one in screen.complaints if not any(status in one for status in statuses)]
