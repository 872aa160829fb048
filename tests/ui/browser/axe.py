"""What axe-core finds in a page, in light and in dark: two questions about a page that is opened once."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

Finding = dict[str, Any]
"""A violation as axe-core reports it: `id`, `impact`, and `nodes`, each with its `target`."""

_BRIEF: dict[str, Any] = {"resultTypes": ["violations"]}
_COLOURS: dict[str, Any] = _BRIEF | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


@contextmanager
def page_for_axe(browser: Browser) -> Iterator[Page]:
    """A page, light at first. Nothing moves: axe would judge colours that are half way to the next."""
    # axe is put into the page, which the policy forbids, as it should.
    with closing(browser.new_context(color_scheme="light", reduced_motion="reduce", bypass_csp=True)) as context:
        yield context.new_page()


def find_violations(page: Page, rules: dict[str, Any]) -> list[Finding]:
    """What breaks the rules in light, then what breaks those of colours in dark: otherwise it is the same page."""
    light: list[Finding] = Axe().run(page, options=_BRIEF | rules).response["violations"]
    _switch(page, "dark")
    dark: list[Finding] = page.evaluate("options => axe.run(options)", _COLOURS)["violations"]
    _switch(page, "light")
    return [*light, *dark]


def _switch(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)  # as `applyTheme` does
