"""The page about asking from Python: its code runs, in order, against a server, and prints what the page shows."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.process import Api
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.store.connection.engine import sqlite_url

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "how-to/ask-from-python.md"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Api]:
    """A server over the events of the first tutorial."""
    api = Api(tmp_path / "data", sqlite_url(tmp_path / "store.db"), {})
    engine = open_migrated(api.store_url)
    days = ("monday.json", "tuesday.json")
    events = [one for day in days for one in json.loads((DOCS / "tutorial" / day).read_text("utf-8"))]
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    try:
        yield api.up()
    finally:
        api.down()
        api.listening.close()


def test_every_block_prints_what_the_page_shows(server: Api, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE.read_text("utf-8"), re.DOTALL)
    assert [bool(shown) for _, shown in blocks] == [False, True, True, True, True]
    names: dict[str, Any] = {}
    for block, shown in blocks:
        code = block.replace("https://whence.example.com", f"http://127.0.0.1:{server.port}")
        exec(compile(code, str(PAGE), "exec"), names)
        assert capsys.readouterr().out == shown
    names["client"].close()
