"""An API that asks for keys, and a browser in which nobody is signed in."""

import contextlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from ui.conftest import Screen
from ui.stories.guarded import House, guarded


@pytest.fixture(scope="session")
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
