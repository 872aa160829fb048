"""The story behind an API that asks for keys: who signs in, and as whom."""

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from fixtures.stores_of_events import applying
from ui.conftest import serving
from ui.stories.serve import keys, prepared
from whence.store.connection.engine import open_store


@dataclasses.dataclass(frozen=True, slots=True)
class House:
    """An API that asks for keys; what people say comes into its store. `keys` by name (`ui.serve.PEOPLE`)."""

    base: str
    keys: Mapping[str, str]


@contextmanager
def guarded(directory: Path) -> Iterator[House]:
    """Meanwhile it runs."""
    settings = prepared(directory)
    made, engine = keys(settings), open_store(settings.store_url)
    with applying(engine, settings.data / "log"), serving(dataclasses.replace(settings, open=False)) as base:
        yield House(base, made)
    engine.dispose()


def sign_in(page: Page, key: str) -> None:
    """On the page that asks for it."""
    expect(page.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in with a key").click()
