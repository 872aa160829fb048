"""`whence access review` over a real store: use comes from the audit log, columns from lineage, decisions stay."""

import csv
import io
import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.govern.api_keys import create_key
from whence.model.access import SCOPES, Grant, Role
from whence.model.names import DatasetName
from whence.openlineage.write import dataset_event, facet
from whence.store.connection.engine import sqlite_url
from whence.store.security.audit import Entry, append_entries, verify_log
from whence.store.security.database import open_security, read_security, write_security
from whence.store.security.grants import add_grant

DAY = 86_400_000_000
NOW = time.time_ns() // 1_000
PROD, DEV = DatasetName("prod", "crm[bold]\x1b[2J"), DatasetName("dev", "crm")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A store with tagged columns in two environments, and an installation of 200 days."""
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    events = [_tagged(one) for one in (PROD, DEV)]
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    security = open_security(sqlite_url(tmp_path / "security.db"))
    with write_security(security) as connection:
        for name, role, namespaces in (("root", Role.ADMIN, "*"), ("spark", Role.STEWARD, "prod")):
            create_key(connection, name, SCOPES, NOW - 200 * DAY)
            add_grant(connection, f"key:{name}", Grant(role, namespaces))
        add_grant(connection, "user:=cmd()\x1b[2J", Grant(Role.READER, "dev"))
        used = (("key:root", "admin", 200), ("key:spark", "steward", 100), ("key:spark", "write", 3), ("x", "read", 1))
        append_entries(
            connection, [Entry(at=NOW - age * DAY, who=who, action=action, what="") for who, action, age in used]
        )
        refused = Entry(at=NOW, who="key:spark", action="refused", what="", status=403)
        append_entries(connection, [refused])
    security.dispose()
    return tmp_path


def _tagged(name: DatasetName) -> object:
    tags = facet("TagsDatasetFacet", tags=[{"key": "pii", "value": "true", "source": "", "field": "mail"}])
    schema = facet("SchemaDatasetFacet", fields=[{"name": "mail", "type": "text"}, {"name": "id", "type": "int"}])
    return dataset_event(NOW - DAY, name, facets={"tags": tags, "schema": schema})


def run(data: Path, *words: str) -> Result:
    security = sqlite_url(data / "security.db")
    return CliRunner().invoke(app, ["access", *words, "--data", str(data), "--security", security])


def test_each_grant_with_its_use_and_its_columns(data: Path) -> None:
    found = json.loads(run(data, "review", "-o", "json").stdout)["grants"]
    assert [(one["subject"], one["strongest_use"], one["columns"], one["concerns"]) for one in found] == [
        (
            "key:root",
            None,
            {"full": 2},
            ["not used", "key never expires", "administers everything", "not reviewed"],
        ),
        ("key:spark", "writer", {"full": 1}, ["role not used", "key never expires", "not reviewed"]),
        ("user:=cmd()\x1b[2J", None, {"full": 1}, ["not used", "not reviewed"]),
    ]
    text = run(data, "review")
    assert (text.exit_code, "\x1b" in text.stdout) == (0, False)
    assert text.stdout.endswith("3 grants, 3 with concerns; 2 columns with sensitive data are known\n")
    longer = json.loads(run(data, "review", "--window", "150d", "-o", "json").stdout)["grants"]
    assert [one["strongest_use"] for one in longer] == [None, "steward", None]


def test_a_decision_is_in_the_audit_log_and_in_the_next_review(data: Path) -> None:
    kept = run(data, "keep", "key:spark", "--namespaces", "prod", "--reason", "=loads the lake")
    assert (kept.exit_code, kept.stdout) == (0, "key:spark stays steward in prod\n")
    rows = {one["subject"]: one for one in csv.DictReader(io.StringIO(run(data, "review", "-o", "csv").stdout))}
    assert "not reviewed" not in rows["key:spark"]["concerns"]
    assert rows["key:spark"]["kept"].endswith(": =loads the lake")
    assert "user:=cmd()\x1b[2J" in rows
    engine = open_security(sqlite_url(data / "security.db"))
    with read_security(engine) as connection:
        verify_log(connection)
    engine.dispose()


def test_what_does_not_exist_cannot_be_kept(data: Path) -> None:
    before = run(data, "review", "-o", "json").stdout
    for words in (
        ("key:spark", "--namespaces", "dev", "--reason", "x"),
        ("spark", "--reason", "x"),
        ("key:spark", "--namespaces", "prod", "--reason", " "),
        ("key:spark", "--namespaces", "prod", "--reason", "a\nb"),
    ):
        assert run(data, "keep", *words).exit_code == Exit.MISTAKE, words
    assert run(data, "review", "-o", "json").stdout == before
