"""`whence ledger` says of every record what became of it."""

import json
from pathlib import Path

import pytest

from fixtures.migrated_stores import open_migrated
from whence.cli.administration.ledger import show_ledger
from whence.cli.output.streams import Output
from whence.errors import ReceiptNotFoundError
from whence.log import Position
from whence.model.events import EventKind
from whence.model.ids import event_id, event_id_rest
from whence.store.connection.engine import sqlite_url
from whence.store.ingest.facts import Rows, merge_facts

KEY, OTHER = "a" * 32, "b" * 32
FIRST, AGAIN, BAD = (Position(1, offset).as_int for offset in (16, 99, 200))


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store that got one event twice, and one body that is no event."""
    url = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(url)
    receipts = [(BAD, event_id(OTHER), event_id_rest(OTHER), "/run: is no object")]
    events = [(event_id(KEY), event_id_rest(KEY), EventKind.RUN, 5, 1, 3, 3, "", at) for at in (AGAIN, FIRST)]
    merge_facts(engine, Rows({"receipt": receipts, "event": events}))
    engine.dispose()
    return url


def test_totals_and_what_was_quarantined(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_ledger(url, None, Output.TEXT) == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 received: 1 applied, 1 duplicate, 1 quarantined",
        f"1:200          quarantined {OTHER}  /run: is no object",
    ]


def test_both_receipts_of_an_event_are_listed(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_ledger(url, KEY, Output.JSON)
    listed = json.loads(capsys.readouterr().out)["receipts"]
    assert [(one["position"], one["outcome"]) for one in listed] == [("1:16", "applied"), ("1:99", "duplicate")]


def test_a_position_is_found(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_ledger(url, "1:99", Output.TEXT)
    assert capsys.readouterr().out.split() == ["1:99", "duplicate", KEY]


def test_what_was_never_received_is_said(url: str) -> None:
    with pytest.raises(ReceiptNotFoundError, match="9:16"):
        show_ledger(url, "9:16", Output.TEXT)
