"""Every command that reads a store says what to do with one that has the tables of another release, or none."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from sqlalchemy import text
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.store.connection.engine import open_store, sqlite_url, writing
from whence.store.encryption.master_key import create_master

OTHERWISE = {
    "up": "upgrades it",
    "rebuild": "upgrades it",
    "blast": "upgrades it",
    "log repair": "reads the store for --accept-loss only",
    "backup": "copies any",
    "restore": "wants an empty place",
    "capture dbt": "reads no store",
    "capture sql-log": "reads no store",
    **dict.fromkeys(("gate approve", "gate waive"), "a server takes it"),
    **dict.fromkeys(("keys", "access", "audit"), "the security database has tables of its own"),
}
FURTHER = {
    "sql": ["--schema", "whence"],
    "archive": ["--drop-segments"],
    "decommission": ["x"],
    "ledger": ["--lost"],
    "encryption rotate": ["--to", "{data}/key"],
    "gameday run": ["null-burst", "--copy"],
    "evidence of": ["--into", "{data}/pack"],
    "gate": ["--base", "HEAD"],  # whatever the checkout has for a remote
    "gate waivers": ["--repository-name", "github.com/shop/pipeline"],
}
CONTRACT = Path(__file__).parents[1] / "govern/contracts/examples/orders-v3.1.0.odcs.yaml"
EXPECTED = Path(__file__).parents[1] / "remote/expected.yaml"
RULES = {
    "slo": Path(__file__).parents[2] / "docs/how-to/slos/slos.yaml",
    "certification": Path(__file__).parents[2] / "docs/how-to/certification/certification.yaml",
    "policy": Path(__file__).parents[2] / "docs/how-to/policies/policies.yaml",
}
ADVICE = {
    "": "the store has no tables yet: `whence up` makes them",
    "0000": "the store is of an earlier release (revision 0000; this release of Whence needs",
    "9999": "the store is of a later release (revision 9999; this release of Whence needs",
}


def commands(group: Any, *names: str) -> Iterator[tuple[str, Any]]:
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, *names, name)
        else:
            yield " ".join((*names, name)), one


READING = {
    name: command
    for name, command in commands(typer.main.get_command(app))
    if "store" in [one.name for one in command.params] and not {name, name.split()[0]} & OTHERWISE.keys()
}


@pytest.fixture(params=ADVICE)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A data directory, and what is to be said of it."""
    url = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(url) if request.param else open_store(url)
    with engine.connect():
        pass
    if request.param:
        with writing(engine) as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": request.param})
    engine.dispose()
    return tmp_path, ADVICE[request.param]


@pytest.mark.parametrize("name", READING)
def test_it_says_what_to_do(name: str, other: tuple[Path, str]) -> None:
    data, advice = other
    create_master(data / "key")
    (data / "new.yaml").write_text(CONTRACT.read_text().replace("name: ordered_on", "name: ordered_at"))
    required = [one.name for one in READING[name].params if one.param_type_name == "argument" and one.required]
    rules = RULES.get(name.partition(" ")[0], EXPECTED)
    wanted = [
        {"before": "1h", "file": str(rules), "old": str(CONTRACT), "new": str(data / "new.yaml")}.get(one, "x")
        for one in required
    ]
    wanted += [one.format(data=data) for one in FURTHER.get(name, [])]
    done = CliRunner().invoke(app, [*name.split(), *wanted, "--data", str(data), "--output", "json"])
    if done.exit_code == 2:  # it has no --output
        done = CliRunner().invoke(app, [*name.split(), *wanted, "--data", str(data)])
    assert done.exit_code == Exit.OUT_OF_SERVICE, done.output
    assert advice in done.stderr


def test_json_names_the_error(other: tuple[Path, str]) -> None:
    data, advice = other
    done = CliRunner().invoke(app, ["search", "x", "--data", str(data), "--output", "json"])
    error = json.loads(done.stderr)
    assert error["error"] == "StoreSchemaError"
    assert error["message"].startswith(advice)
