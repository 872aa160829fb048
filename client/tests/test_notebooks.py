"""`%load_ext whence_client`: cells are runs, and what one cell makes is found by the next."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from client.tests.recording import MemoryOutbox, recorded

import whence_client as whence

sent = pytest.fixture(recorded)


class Shell:
    """Runs cells, and calls what is registered around each, as IPython's shell does."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.events = self
        self._callbacks: dict[str, list[Callable[[Any], None]]] = {"pre_run_cell": [], "post_run_cell": []}

    def register(self, event: str, callback: Callable[[Any], None]) -> None:
        self._callbacks[event].append(callback)

    def unregister(self, event: str, callback: Callable[[Any], None]) -> None:
        self._callbacks[event].remove(callback)

    def run(self, source: str, cell_id: str = "") -> None:
        self._call("pre_run_cell", SimpleNamespace(raw_cell=source, cell_id=cell_id))
        error: BaseException | None = None
        try:
            exec(source, self.user_ns)
        except Exception as raised:
            error = raised
        self._call("post_run_cell", SimpleNamespace(error_before_exec=None, error_in_exec=error))

    def _call(self, event: str, given: Any) -> None:
        for callback in list(self._callbacks[event]):
            callback(given)


@pytest.fixture
def shell(sent: MemoryOutbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell in an empty folder, in a notebook that has a name."""
    (tmp_path / "orders.csv").write_text("country,amount\nCH,10\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHENCE_NOTEBOOK", "shop.ipynb")
    made = Shell()
    yield made
    whence.unload_ipython_extension(made)


def outputs(sent: MemoryOutbox) -> dict[str, str]:
    """The job that writes each dataset, by the end of its name."""
    return {
        output["name"].rpartition("/")[2]: event["job"]["name"] for event in sent.events for output in event["outputs"]
    }


def test_a_table_in_memory_that_one_cell_makes_is_the_one_that_another_reads(shell: Shell, sent: MemoryOutbox) -> None:
    whence.load_ipython_extension(shell)
    shell.run("import duckdb; con = duckdb.connect()", "a")
    shell.run("con.execute(\"CREATE TABLE orders AS FROM read_csv('orders.csv')\")", "b")
    shell.run("con.execute(\"COPY (SELECT amount FROM orders) TO 'out.csv'\")", "c")
    (written,) = [one for one in sent.events if one["job"]["name"] == "shop.ipynb.out"]
    assert [one["name"] for one in written["inputs"]] == ["shop.ipynb.memory.main.orders"]
    assert outputs(sent)["shop.ipynb.memory.main.orders"] == "shop.ipynb.main.orders"
    assert written["run"]["facets"]["parent"]["job"]["name"] == "shop.ipynb#c"


def test_an_edited_cell_without_an_id_writes_as_the_same_job(shell: Shell, sent: MemoryOutbox) -> None:
    whence.load_ipython_extension(shell)
    shell.run("import pandas as pd; orders = pd.read_csv('orders.csv')")
    for factor in (2, 3):
        shell.run(f"orders['gross'] = orders.amount * {factor}; orders.to_csv('gross.csv')")
    assert outputs(sent)["gross.csv"] == "shop.ipynb.gross"
    assert sent.states("shop.ipynb.gross") == ["COMPLETE", "COMPLETE"]
    cells = {one["job"]["name"] for one in sent.events if one["job"]["name"].startswith("shop.ipynb#")}
    assert len(cells) == 3


@pytest.mark.parametrize(("last", "state"), [("1/0", "FAIL"), ("pass", "COMPLETE")])
def test_a_session_ends_as_its_last_cell(last: str, state: str, shell: Shell, sent: MemoryOutbox) -> None:
    whence.load_ipython_extension(shell)
    shell.run("1/0", "a")
    shell.run(last, "b")
    whence.unload_ipython_extension(shell)
    assert sent.states("shop.ipynb#a") == ["START", "FAIL"]
    assert sent.states("shop.ipynb#b") == ["START", state]
    assert sent.states("shop.ipynb") == ["START", state]


def test_the_parameters_of_papermill_are_on_the_run_of_the_session(shell: Shell, sent: MemoryOutbox) -> None:
    whence.load_ipython_extension(shell)
    shell.run('# Parameters\nday = "2026-11-20"\ntoken = "hush"\n')
    whence.unload_ipython_extension(shell)
    values = sent.last("shop.ipynb")["run"]["facets"]["executionParameters"]["parameters"]
    assert [(one["key"], one["value"]) for one in values] == [("day", "2026-11-20"), ("token", "[redacted]")]


def test_a_notebook_without_a_name_says_so(
    shell: Shell, sent: MemoryOutbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("WHENCE_NOTEBOOK", "JPY_SESSION_NAME"):
        monkeypatch.delenv(name, raising=False)
    with caplog.at_level(logging.WARNING):
        whence.load_ipython_extension(shell)
    assert "set WHENCE_NOTEBOOK" in caplog.text
    assert sent.states("notebook") == ["START"]
