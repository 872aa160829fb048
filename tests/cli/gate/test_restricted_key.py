"""The gate with the key of a service that may not see everything: what is hidden is counted, in every form."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.process import Api
from cli.gate.conftest import WAREHOUSE, Checkout
from cli.gate.test_promotion import CLEAN, FEATURES, LINEAGE, MODEL, checked, run, table
from fixtures.stores_of_events import apply_bodies
from query.worlds.churn_story import NOW
from whence.cli.commands.app import app
from whence.cli.gate.forms import Form
from whence.govern.api_keys import create_key
from whence.model.access import SCOPES, Grant, Role
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant

SECRET = "payroll|`@finance`<b>"
"""Part of every name that only the key of everything may see."""
HIDDEN_WORDS = ("payroll", "notebook", "scan", "staging", "lab:", "postgres://dev")
STAGING, DEV = (DatasetName(f"postgres://{environment}:5432", f"shop.{SECRET}") for environment in ("staging", "dev"))
CODE = {
    "_producer": "https://shop.example",
    "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/SourceCodeLocationJobFacet.json",
    "type": "git",
    "url": "https://github.example/shop/pipeline/blob/main/jobs/clean.py",
    "repoUrl": "https://github.example/shop/pipeline",
    "path": "jobs/clean.py",
}


def elsewhere(namespace: str, job: str, inputs: list[Json], outputs: list[Json], number: int) -> bytes:
    """A run of a job in a namespace of its own."""
    event = json.loads(run(job, inputs, outputs, number))
    event["job"]["namespace"] = namespace
    return json.dumps(event).encode()


def with_code(body: bytes) -> bytes:
    """The same run, of a job whose code is in the repository."""
    event = json.loads(body)
    event["job"]["facets"] = {"sourceCodeLocation": CODE}
    return json.dumps(event).encode()


def copy(of: DatasetName) -> Json:
    """A dataset whose column is a copy of the clean one."""
    return table(of, "a", of={"a": (CLEAN, "a")})


EVENTS = (
    with_code(LINEAGE[0]),
    *LINEAGE[1:3],
    run("soda", [checked(CLEAN, held=True)], [], 11),
    elsewhere(f"soda {SECRET}", "scan", [checked(CLEAN, held=True)], [], 12),
    elsewhere(f"soda {SECRET}", "scan of features", [checked(FEATURES, held=False)], [], 13),
    elsewhere("staging", f"copy {SECRET}", [table(CLEAN, "a", "b")], [copy(STAGING)], 14),
    elsewhere("dev", f"copy {SECRET}", [table(CLEAN, "a", "b")], [copy(DEV)], 15),
    elsewhere("lab", f"notebook {SECRET}", [table(CLEAN, "a", "b")], [], 16),
    elsewhere("lab", f"scan and read {SECRET}", [table(CLEAN, "a", "b"), checked(FEATURES, held=True)], [], 17),
)


@dataclass(frozen=True)
class Asked:
    """A server, and a key of everything and one of production's warehouse and pipeline alone."""

    url: str
    keys: dict[str, str]

    def gate(self, checkout: Checkout, key: str, *options: str) -> Result:
        """What the gate answers to a key."""
        where = ["--repository", str(checkout.folder), "--base", "main", "--head", "work", "--url", self.url]
        environment = {"WHENCE_API_KEY": self.keys[key], "WHENCE_URL": None, "NO_COLOR": "1"}
        return CliRunner().invoke(app, ["gate", *where, *options], env=environment)

    def document(self, checkout: Checkout, key: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.gate(checkout, key, "-o", "json").stdout)
        return found


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    base = tmp_path_factory.mktemp("server")
    store, url = sqlite_url(base / "store.db"), sqlite_url(base / "security.db")
    engine, security = open_store(store), open_security(url)
    migrate(engine)
    apply_bodies(engine, EVENTS)
    engine.dispose()
    grants = {"everything": ["*"], "service": [WAREHOUSE, "prod"]}
    with write_security(security) as connection:
        keys = {name: create_key(connection, name, SCOPES, NOW).text for name in grants}
        for name, namespaces in grants.items():
            for one in namespaces:
                add_grant(connection, f"key:{name}", Grant(Role.READER, one))
    security.dispose()
    api = Api(base / "data", store, {"open": False, "security_url": url}).up()
    try:
        yield Asked(f"http://127.0.0.1:{api.port}", keys)
    finally:
        api.down()
        api.listening.close()


@pytest.fixture
def changed(checkout: Checkout) -> Checkout:
    """A head that changes the code of the clean table."""
    checkout.commit({"jobs/clean.py": "# other\n"})
    return checkout


def test_what_is_hidden_is_counted_and_a_hidden_job_is_never_known_to_only_check(
    asked: Asked, changed: Checkout
) -> None:
    """So a key that sees less may get a stricter verdict, and never one that is less strict."""
    whole, part = (asked.document(changed, key) for key in asked.keys)
    named = {one["node"] for one in whole["affected"]}
    assert named == {
        *(str(one) for one in (STAGING, DEV, FEATURES, MODEL)),
        *(f"job:lab:{name} {SECRET}" for name in ("notebook", "scan and read")),
    }
    assert (whole["hidden"], whole["changes"][0]["affected"]) == (0, len(named))
    assert [one["node"] for one in part["affected"]] == [str(FEATURES), str(MODEL)]
    scans = 2  # of what the key may not see; the scan that it may see is a test, and counts for nobody
    assert part["hidden"] == len(named) - 2 + scans
    assert part["changes"][0]["affected"] == 2 + part["hidden"]


@pytest.mark.parametrize("form", Form)
def test_no_form_has_a_hidden_name(asked: Asked, changed: Checkout, form: Form, tmp_path: Path) -> None:
    file = tmp_path / "verdict"
    result = asked.gate(changed, "service", "-o", form, "--write", f"{form}={file}")
    assert (result.exit_code, result.stdout) == (7, file.read_text("utf-8"))
    assert "shop.clean" in result.stdout
    assert [word for word in HIDDEN_WORDS if word in result.output] == []
    whole = asked.gate(changed, "everything", "-o", form).stdout
    assert any(word in whole for word in HIDDEN_WORDS)


def test_the_tests_that_are_enough_name_nothing_hidden(asked: Asked, changed: Checkout) -> None:
    result = asked.gate(changed, "service", "--tests")
    assert [word for word in HIDDEN_WORDS if word in result.output] == []
    assert "need a key that may read all namespaces" in result.output
