"""The pages about a person's data, evidence and access print what they show: their commands are run over the three SQL
files that the page about personal data sends.
"""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply
from test_docs import page
from test_tutorials import steps
from whence.cli.commands.app import app
from whence.cli.sending.captured_events import LogOptions, log_lines
from whence.govern.api_keys import create_key, revoke_key
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import SCOPES, Grant, Role
from whence.model.names import DatasetName
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.facets.steward_tags import USER
from whence.openlineage.write import dataset_event, facet, replace_producer
from whence.store.connection.engine import sqlite_url
from whence.store.security.audit import Entry, append_entries
from whence.store.security.database import open_security, security_url, write_security
from whence.store.security.grants import add_grant

SQL = Path(__file__).parents[1] / "docs" / "how-to" / "sensitive-data"
SPACE = "postgres://db:5432"
CUSTOMERS = DatasetName(SPACE, "shop.crm.customers")
DAY = 86_400_000_000
NOW = time.time_ns() // 1_000
VARIABLE = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "KEY"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"^MC\S{58}$", re.MULTILINE), "PEM"),
    (re.compile(r"\bcli:\w+"), "cli:USER"),
)
"""What differs from one installation to another."""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of an installation with that lineage and the tags of the pages, and a directory to be in."""
    data, here = tmp_path / "data", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("WHENCE_DATA", str(data))
    fill(SegmentLog(data / "log"), bodies())
    engine = open_migrated(sqlite_url(data / "store.db"))
    end = committed_end(data / "log")
    apply(engine, list(read_records(data / "log", start_position(data / "log"), end)), end)
    engine.dispose()
    grant_access(data)
    return data


def bodies() -> Iterator[bytes]:
    """The events of the SQL files, and of a steward."""
    columns = str(SQL / "columns.json")
    options = LogOptions(form="sql", dialect="postgres", namespace=SPACE, jobs=SPACE, database="shop", columns=columns)
    for line in log_lines([str(SQL)], options):
        assert isinstance(line, bytes), line
        yield line
    tags = [
        {"key": "pii", "value": "true", "source": USER, "field": "email"},
        {"key": "retention", "value": "90d", "source": USER},
    ]
    steward = dataset_event(NOW, CUSTOMERS, facets={"tags": facet("TagsDatasetFacet", tags=tags)})
    yield msgspec.json.encode(replace_producer(person_uri("ada"), steward))


def grant_access(data: Path) -> None:
    """Keys and grants of 200 days ago, and how they were used."""
    security = open_security(security_url(sqlite_url(data / "store.db")))
    with write_security(security) as connection:
        for name, role in (("admin", Role.ADMIN), ("oldbot", Role.STEWARD)):
            create_key(connection, name, SCOPES, NOW - 200 * DAY)
            add_grant(connection, f"key:{name}", Grant(role, "*"))
        add_grant(connection, "group:analysts", Grant(Role.READER, "postgres://*"))
        append_entries(
            connection,
            [
                Entry(at=NOW - 200 * DAY, who="cli:root", action="admin", what="whence key create"),
                Entry(at=NOW - DAY, who="key:admin", action="steward", what="PUT"),
            ],
        )
        revoke_key(connection, "oldbot", NOW - 100 * DAY)
    security.dispose()


def ran(command: str) -> str:
    """What a line of a page prints, to both streams. Commands of Whence are run in this process."""
    if not command.startswith("whence "):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr
    own, _, others = re.sub(r" ([|>]) ", r"\n\1 ", command, count=1).partition("\n")
    answer = CliRunner().invoke(app, split(own)[1:], prog_name="whence")
    if not others:
        return answer.output
    shell = f"cat {others}" if others.startswith(">") else others.removeprefix("| ")
    done = subprocess.run(["sh", "-c", shell], input=answer.stdout, capture_output=True, text=True, check=True)
    return answer.stderr + done.stdout


def split(command: str) -> list[str]:
    """The words of a command, as a shell reads them."""
    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {command}"], capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


def settled(text: str) -> str:
    """A text without what differs from one installation to another."""
    for pattern, name in VARIABLE:
        text = pattern.sub(name, text)
    return text


@pytest.mark.parametrize(("name", "count"), [("evidence", 11), ("data-subject", 1), ("access-review", 6)])
def test_a_page_prints_what_it_shows(name: str, count: int, shop: Path) -> None:
    found = list(steps(page(f"docs/how-to/{name}.md")))
    assert len(found) >= count
    for command, shown in found:
        assert settled(ran(command)) == settled(shown), command


def test_the_report_of_a_request_has_every_dataset(shop: Path) -> None:
    (command,) = re.findall(r"^whence subject .*--report .*$", page("docs/how-to/data-subject.md"), re.MULTILINE)
    ran(command)
    report = Path(split(command)[-1]).read_text("utf-8")
    assert report.count("| `dataset:") == 4
    assert report.count("not set") == 3
