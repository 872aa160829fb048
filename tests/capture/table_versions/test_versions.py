"""Histories of tables: real Delta tables, and the metadata that pyiceberg 0.12.0 wrote."""

import json
import random
import shutil
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake
from sqlalchemy import Engine

import whence_client as whence
from fixtures.captured_lineage import column_edges, store_events
from whence.capture.polling.cursors import Cursors
from whence.capture.polling.poll import Poller
from whence.capture.table_versions.source import Tables, capture_delta, capture_iceberg
from whence.errors import SourceError
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings

ICEBERG = Path(__file__).with_name("pyiceberg-0.12.0.metadata.json")
ORDERS = ("file", "/lake/shop/orders")
RUN = "01941f29-7c00-7abc-8def-00000000000{}"
PARENT = f"prod/nightly load/{RUN.format(1)}"

Json = dict[str, Any]


def poll(source: Tables, cursor: Any = None, window: Window | None = None) -> tuple[list[Json], Any]:
    """The events of a poll, and the cursor as its file keeps it."""
    records = list(source.records(cursor, window or Window()))
    events = list(chain.from_iterable(source.translate(one, Naming("prod")) for one, _ in records))
    for event in events:
        require_valid(event)
    return events, json.loads(json.dumps(records[-1][1])) if records else cursor


def version_of(event: Json) -> Json:
    (table,) = event.get("outputs") or [event["dataset"]]
    found: Json = table["facets"]["whence_tableVersion"]
    assert table["facets"]["version"]["datasetVersion"] == found["version"]
    return found


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": list(ids), "amount": [1.0] * len(ids)})


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with two commits of a run, one of nobody, and one that compacts, written by a run, too."""
    place = tmp_path / "lake ü" / "orders"
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", PARENT)
    commit = CommitProperties(custom_metadata=whence.commit_metadata())
    write_deltalake(str(place), rows(1, 2), commit_properties=commit)
    write_deltalake(str(place), rows(3), mode="append", commit_properties=commit)
    write_deltalake(str(place), rows(4, 5, 6), mode="append")
    DeltaTable(str(place)).optimize.compact(commit_properties=commit)
    return place


def test_a_commit_is_an_event_of_the_run_that_it_names(orders: Path) -> None:
    events, _ = poll(capture_delta.configure({"tables": str(orders)}))
    named = [one for one in events if "run" in one]
    assert [version_of(one)["version"] for one in named] == ["0", "1"]
    for event in named:
        assert (event["eventType"], event["run"]["runId"]) == ("OTHER", RUN.format(1))
        assert (event["job"]["namespace"], event["job"]["name"]) == ("prod", "nightly load")
        assert (event["outputs"][0]["namespace"], event["outputs"][0]["name"]) == ("file", str(orders))
    assert [one["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] for one in named] == [2, 1]


def test_other_commits_are_versions_without_a_job(orders: Path) -> None:
    events, _ = poll(capture_delta.configure({"tables": str(orders)}))
    appended, compacted = (version_of(one) for one in events if "dataset" in one)
    assert (appended["version"], appended["before"], appended["rows"], appended["hasNewData"]) == ("2", "1", 3, True)
    assert (compacted["operation"], compacted["hasNewData"], compacted["runId"]) == ("OPTIMIZE", False, RUN.format(1))


def test_a_poll_goes_on_after_the_last_version(orders: Path) -> None:
    source = capture_delta.configure({"tables": str(orders)})
    whole, cursor = poll(source)
    assert poll(source, cursor) == ([], cursor)
    write_deltalake(str(orders), rows(7), mode="append")
    (event,), _ = poll(source, cursor)
    assert version_of(event)["version"] == "4"
    assert len(whole) == 4


def test_a_table_that_was_made_anew_begins_at_its_first_version(orders: Path) -> None:
    source = capture_delta.configure({"tables": str(orders)})
    _, cursor = poll(source)
    shutil.rmtree(orders)
    write_deltalake(str(orders), rows(1))
    events, after = poll(source, cursor)
    assert [(version_of(one)["version"], version_of(one).get("lostVersions")) for one in events] == [("0", None)]
    assert poll(source, after) == ([], after)


def test_a_cursor_of_an_earlier_release_holds(orders: Path) -> None:
    events, _ = poll(capture_delta.configure({"tables": str(orders)}), {str(orders): 2})
    assert [version_of(one)["version"] for one in events] == ["3"]


def test_versions_that_the_history_lost_are_counted(orders: Path) -> None:
    for version in range(3):
        write_deltalake(str(orders), rows(version), mode="append")
    DeltaTable(str(orders)).create_checkpoint()
    for number in range(5):
        (orders / f"_delta_log/{number:020}.json").unlink()
    events, _ = poll(capture_delta.configure({"tables": str(orders)}), {str(orders): 1})
    assert version_of(events[0])["lostVersions"] == 3


def test_a_broken_table_does_not_hide_the_others(orders: Path) -> None:
    (orders.parent / "broken" / "_delta_log").mkdir(parents=True)
    source: Any = capture_delta.configure({"tables": str(orders.parent)})
    assert len(source.places) == 2
    assert "broken" in source.check().problems[0]
    with pytest.raises(SourceError, match="broken"):
        list(source.records(None, Window()))
    poller = Poller(
        capture=source,
        outbox=Outbox(Settings(outbox=str(orders.parent / "outbox"), url="http://127.0.0.1:9")),
        cursors=Cursors(orders.parent / "cursors"),
        naming=Naming("prod"),
    )
    done = poller.poll()
    poller.outbox.close()
    assert (done.records, "broken" in done.problem) == (4, True)
    table = str(DeltaTable(str(orders)).metadata().id)
    assert poller.cursors.load("delta", source.instance).cursor == {str(orders): [table, 3]}


def test_order_and_duplicates_do_not_matter(orders: Path, sqlite_store: Engine) -> None:
    events, _ = poll(capture_delta.configure({"tables": str(orders)}))
    once = store_events(sqlite_store, events)
    again = [*events, *events]
    random.Random(9).shuffle(again)
    assert store_events(sqlite_store, again) == once


def test_snapshots_of_iceberg_name_their_runs() -> None:
    events, cursor = poll(capture_iceberg.configure({"tables": str(ICEBERG)}))
    columns, first, second, third = events
    assert (columns["dataset"]["namespace"], columns["dataset"]["name"]) == ORDERS
    assert first["run"]["runId"] == RUN.format(1)
    assert (third["run"]["runId"], third["job"]["name"]) == (RUN.format(2), "erase")
    assert "run" not in second
    assert [version_of(one)["operation"] for one in (first, second, third)] == ["append", "append", "overwrite"]
    assert version_of(third)["before"] == version_of(second)["version"]
    assert poll(capture_iceberg.configure({"tables": str(ICEBERG)}), cursor)[0] == []


def test_a_renamed_column_goes_on_and_one_that_was_dropped_does_not(sqlite_store: Engine) -> None:
    events, _ = poll(capture_iceberg.configure({"tables": str(ICEBERG)}))
    assert column_edges(store_events(sqlite_store, events)) == {
        "orders.gross -> orders.total",
        "orders.address.city -> orders.address.town",
    }
    facets = events[0]["dataset"]["facets"]
    assert [one["name"] for one in facets["schema"]["fields"]] == ["id", "total", "address", "note"]
    assert facets["whence_replacedColumns"]["columns"] == ["note"]


def test_a_folder_of_iceberg_has_its_newest_metadata(tmp_path: Path) -> None:
    place = tmp_path / "orders" / "metadata"
    place.mkdir(parents=True)
    newest = json.loads(ICEBERG.read_text())
    oldest = {**newest, "snapshots": newest["snapshots"][:1]}
    (place / "00009-b.metadata.json").write_text(json.dumps(oldest))
    (place / "00010-a.metadata.json").write_text(json.dumps(newest))
    assert len(poll(capture_iceberg.configure({"tables": str(tmp_path)}))[0]) == 4
    (place / "v11.metadata.json").write_text("{}")
    assert "no metadata of an Iceberg table" in capture_iceberg.configure({"tables": str(tmp_path)}).check().problems[0]


def test_wrong_options_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the option tables"):
        capture_delta.configure({})
    with pytest.raises(ValueError, match="there is no table in"):
        capture_delta.configure({"tables": str(tmp_path)})


def test_outside_of_a_run_a_commit_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENLINEAGE_PARENT_ID", raising=False)
    monkeypatch.delenv("OPENLINEAGE_ROOT_PARENT_ID", raising=False)
    assert whence.commit_metadata() == {}
