"""The page about asking from Python: every block of code on it runs, in order, against a server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.process import Api
from test_docs import fill
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

PAGE = Path(__file__).parents[2] / "docs/how-to/ask-from-python.md"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Api]:
    """A server over the store of the documentation's examples."""
    api = Api(tmp_path / "data", sqlite_url(tmp_path / "store.db"), {})
    engine = open_store(api.store_url)
    migrate(engine)
    fill(engine)
    engine.dispose()
    try:
        yield api.up()
    finally:
        api.down()
        api.listening.close()


def test_every_block_runs(server: Api, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, Any] = {}
    for block in blocks:
        code = block.replace("https://whence.example.com", f"http://127.0.0.1:{server.port}")
        exec(compile(code, str(PAGE), "exec"), names)
    assert (len(names["answer"].nodes), len(names["answer"].edges)) == (2, 1)
    assert list(names["frame"]["distance"]) == [1]
    assert "dataset:postgres://db:5432:shop.gold.daily_revenue" in capsys.readouterr().out
    names["client"].close()
