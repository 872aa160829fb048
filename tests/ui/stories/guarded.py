"""The story behind an API that asks for keys: who signs in, and as whom."""

import dataclasses
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from fixtures.stores_of_events import applying
from ui.stories.serve import keys, prepared
from whence.store.connection.engine import open_store

SERVE = """
import socket, sys
from pathlib import Path
from whence.api.server.serve import serve
from whence.api.settings import Settings

serve(Settings(data=Path(sys.argv[1]), store_url=sys.argv[2]), socket.socket(fileno=int(sys.argv[3])))
"""


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
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening, applying(engine, settings.data / "log"):
        fd = listening.fileno()
        command = [sys.executable, "-c", SERVE, str(settings.data), settings.store_url, str(fd)]
        process = subprocess.Popen(command, pass_fds=[fd], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        with process, process.stdout:
            assert process.stdout.readline() == b"ready\n"
            yield House(f"http://127.0.0.1:{listening.getsockname()[1]}", made)
            process.terminate()
    engine.dispose()


def sign_in(page: Page, key: str) -> None:
    """On the page that asks for it."""
    expect(page.get_by_role("heading", name="Sign in to Whence")).to_be_visible()
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in with a key").click()
