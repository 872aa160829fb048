"""Workbooks of two releases, packed and broken ones; their lineage was written before the capture was run."""

import json
import random
import shutil
import zipfile
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.bi.expected import found_lines, read_expected
from fixtures.captured_lineage import dataset_edges, store_events
from whence.capture.bi.events import Declared, Reading
from whence.capture.bi.reports import DASHBOARD, Found
from whence.capture.bi.tableau.source import WorkbookFolder, capture
from whence.capture.polling.cursors import Cursors
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window

HERE = Path(__file__).parent
Json = dict[str, Any]


def prepare(folder: Path) -> WorkbookFolder:
    """The workbooks, with one that is packed together with its extract."""
    shutil.copytree(HERE / "books", folder)
    with zipfile.ZipFile(folder / "dev.twbx", "w") as packed:
        packed.write(HERE / "dev.twb", "dev.twb")
        packed.writestr("Data/x.hyper", "rows")
    return capture.configure({"folder": str(folder)})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return prepare(tmp_path_factory.mktemp("tableau") / "books").read()


def events_of(source: WorkbookFolder) -> list[Json]:
    naming = Naming("bi", source.instance)
    return list(chain.from_iterable(source.translate(one, naming) for one, _ in source.records(None, Window())))


def test_worksheets_have_the_lineage_that_the_files_say(found: Found) -> None:
    assert found_lines(found.reports) == read_expected(HERE / "edges.txt")


def test_what_cannot_be_known_is_named(found: Found) -> None:
    reasons = {
        "bomb.twb": "DTDForbidden",
        "broken.twb": "no XML",
        "broken.twbx": "cannot be unpacked",
        "page.twb": "no file of Tableau",
        "prod.twb: Hidden: 1": "Circle is made of itself",
        "prod.twb: Hidden: 2": "blends with another data source",
        "prod.twb: Odd: 1": "the class salesforce is not known",
    }
    assert found.gaps.keys() == reasons.keys()
    for place, reason in reasons.items():
        assert reason in found.gaps[place]


def test_dashboards_and_stories_show_hidden_worksheets(found: Found) -> None:
    shown = {
        one.title: {edge.source.name.rpartition("/")[2] for edge in one.lineage.edges if hasattr(edge.source, "name")}
        for one in found.reports
        if one.kind == DASHBOARD
    }
    assert shown == {"Overview": {" region", "Hidden"}, "Story": {" region", "Hidden", "Plan"}}
    assert [one.title for one in found.reports if one.is_hidden] == ["Hidden"]


def test_a_workbook_leads_through_a_published_data_source(tmp_path: Path, sqlite_store: Engine) -> None:
    source = prepare(tmp_path / "books")
    events = events_of(source)
    for event in events:
        require_valid(event)
    assert "hush-4711" not in json.dumps(events)
    once = store_events(sqlite_store, events)
    assert {"acme-prod.finance.plan -> datasources/Plan", "datasources/Plan -> sheets/Plan"} <= dataset_edges(once)
    twice = [*events, *events_of(source)]
    random.Random(10).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_a_folder_does_not_end_what_is_in_another_one(tmp_path: Path) -> None:
    cursors, read = Cursors(tmp_path / "cursors"), []
    for name in ("prod", "staging"):
        (tmp_path / f"{name} ü").mkdir()
        shutil.copy(HERE / "books" / f"{name}.twb", tmp_path / f"{name} ü")
    for folder in ("prod ü", "staging ü", "prod ü", "prod ü/../staging ü/."):
        source = capture.configure({"folder": str(tmp_path / folder), "url": "https://tableau.acme.com"})
        progress = cursors.load("tableau", source.instance)
        found = list(source.records(progress.cursor, Window()))
        read.append({type(record) for record, _ in found})
        cursors.save(replace(progress, cursor=found[-1][1] if found else progress.cursor))
    assert read == [{Declared, Reading}, {Declared, Reading}, set(), set()]
    assert source.server == "tableau://tableau.acme.com"


def test_a_connection_can_be_named(tmp_path: Path) -> None:
    source = prepare(tmp_path / "books")
    (tmp_path / "connections.yaml").write_text(
        "crm: duckdb:////lake/crm.duckdb\ndb/shop: snowflake://acme/SHOP/SALES\n"
    )
    source = capture.configure({"folder": str(source.folder), "connections": str(tmp_path / "connections.yaml")})
    lines = found_lines(source.read().reports)
    assert lines["workbooks/prod/sheets/Odd"] == {
        "Name <- duckdb:///lake/crm.duckdb crm.main.account.name DIRECT IDENTITY"
    }
    measures = lines["workbooks/prod/sheets/Measures"]
    assert "AVG(Amount (EUR)) <- snowflake://acme SHOP.sales.orders.amount DIRECT AGGREGATION" in measures


def test_a_folder_without_workbooks_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set folder=DIRECTORY"):
        capture.configure({})
    with pytest.raises(Exception, match="there are no files of Tableau"):
        list(capture.configure({"folder": str(tmp_path)}).records(None, Window()))
