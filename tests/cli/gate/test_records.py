"""Verdicts at a server: recorded once, approved and waived by people with a role, stale after a push."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from typer.testing import CliRunner, Result

from api.process import Api
from cli.gate.conftest import REVENUE, SHOP, WAREHOUSE, Checkout
from fixtures.stores_of_events import applying
from query.worlds.churn_story import NOW
from query.worlds.random_worlds import load
from whence.cli.commands.app import app
from whence.govern.api_keys import create_key
from whence.model.access import SCOPES, Grant, Role
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant

RULES = """\
on_unknown: approval
approvers:
  - {owner: finance, people: ["key:bob"]}
  - {owner: shop-team, people: ["key:bob", "key:ann"]}
"""

CALLS = "dataset:postgres://db:5432:crm.public.calls"
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: calls
version: 1.0.0
status: active
servers: [{server: prod, environment: prod, type: postgres, host: db, port: 5432, database: crm, schema: public}]
schema:
  - name: calls
    properties: [{name: id, logicalType: integer}]
"""


@dataclass(frozen=True)
class Server:
    """A server with keys that knows the shop. `repository`: the name under which a test records."""

    api: Api
    store: str
    keys: dict[str, str]
    repository: str = ""

    def gate(self, checkout: Checkout, *options: str, key: str = "gate") -> Result:
        where = ("--url", f"http://127.0.0.1:{self.api.port}", "--repository-name", self.repository)
        return self.run(checkout, *where, *options, key=key)

    def run(self, checkout: Checkout, *options: str, key: str = "gate", **variables: str) -> Result:
        where = ["--repository", str(checkout.folder), "--base", "main", "--head", "work"]
        environment = {"WHENCE_API_KEY": self.keys[key], "WHENCE_URL": None, **variables}
        return CliRunner().invoke(app, ["gate", *where, *options], env=environment)

    def ask(self, method: str, path: str, key: str, body: object = None) -> Any:
        headers = {"Authorization": f"Bearer {self.keys[key]}", "Content-Type": "application/json"}
        answer = self.api.ask(method, f"/api/v2/gate/{path}", json.dumps(body).encode() if body else None, headers)
        assert answer.status == 200, answer
        return answer.json["data"]

    def verdicts(self) -> Any:
        return self.ask("GET", f"verdicts?repository={self.repository}", "gate")

    def approve(self, checkout: Checkout, key: str, method: str = "PUT") -> None:
        commit = checkout.git("rev-parse", "work")
        self.ask(method, f"verdicts/{quote(self.repository, safe='')}/{commit}/approval", key)


@pytest.fixture(scope="module")
def everyones(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    base = tmp_path_factory.mktemp("server")
    store, url = sqlite_url(base / "store.db"), sqlite_url(base / "security.db")
    engine, security = open_store(store), open_security(url)
    migrate(engine)
    load(engine, SHOP)
    keys = {}
    with write_security(security) as connection:
        for name, role, namespaces in (
            ("gate", Role.READER, "*"),
            ("gate", Role.STEWARD, "github.example/shop/*"),
            ("bob", Role.STEWARD, "github.example/*"),
            ("ann", Role.STEWARD, "github.example/*"),
            ("plain", Role.READER, "*"),
            ("promoter", Role.READER, "*"),
            ("promoter", Role.STEWARD, WAREHOUSE),
            ("checkout", Role.READER, "*"),
            ("checkout", Role.STEWARD, "postgres://db:5432"),
        ):
            if name not in keys:
                keys[name] = create_key(connection, name, SCOPES, NOW).text
            add_grant(connection, f"key:{name}", Grant(role, namespaces))
    security.dispose()
    api = Api(base / "data", store, {"open": False, "security_url": url}).up()
    try:
        with applying(engine, api.data / "log"):
            yield Server(api, store, keys)
    finally:
        api.down()
        api.listening.close()
        engine.dispose()


@pytest.fixture
def server(everyones: Server, request: pytest.FixtureRequest) -> Server:
    """The server, with a repository of the test's own."""
    return replace(everyones, repository=f"github.example/shop/{sha256(request.node.name.encode()).hexdigest()[:8]}")


def rules(checkout: Checkout, text: str) -> None:
    """Rules that are merged before."""
    checkout.git("switch", "-q", "main")
    checkout.commit({"whence/gate.yaml": text})
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")


def test_a_verdict_is_recorded_approved_and_stale_after_a_push(server: Server, checkout: Checkout) -> None:
    rules(checkout, RULES)
    checkout.commit({"jobs/clean.py": "# other\n"})
    before = len(server.api.records())
    for _ in range(2):
        result = server.gate(checkout, "--record")
        assert result.exit_code == 6, result.output
        asked = urlencode({"repository": server.repository, "commit": checkout.git("rev-parse", "work")})
        assert f"/ui/verdict?{asked}" in result.stdout
    assert len(server.api.records()) == before + 1
    server.approve(checkout, "bob")
    assert server.gate(checkout, "--record").exit_code == 0
    (row,) = server.verdicts()
    assert (row["verdict"], row["recorded_by"], row["repository"]) == ("note", "key:gate", server.repository)
    of_store = server.run(checkout, "--store", server.store, "--repository-name", server.repository, "-o", "json")
    of_server = server.gate(checkout, "-o", "json")
    assert (of_server.exit_code, of_server.stdout) == (of_store.exit_code, of_store.stdout) == (0, of_store.stdout)
    server.approve(checkout, "bob", "DELETE")
    assert server.gate(checkout).exit_code == 6
    server.approve(checkout, "bob")
    checkout.commit({"jobs/clean.py": "# yet another\n"})
    assert server.gate(checkout, "--record").exit_code == 6
    assert [one["verdict"] for one in server.verdicts()] == ["approval needed", "note"]


def test_who_wrote_the_head_neither_approves_nor_waives_it(server: Server, checkout: Checkout) -> None:
    rules(checkout, RULES.replace("key:bob", "key:ann"))
    checkout.commit({"jobs/clean.py": "# other\n"})
    found = json.loads(server.gate(checkout, "--record", "-o", "json").stdout)
    server.approve(checkout, "ann")
    assert server.gate(checkout).exit_code == 0
    assert server.gate(checkout, "--author", "key:ann").exit_code == 6
    server.approve(checkout, "ann", "DELETE")
    (change,) = found["changes"]
    body = {"reason": "known", "expires": (datetime.now(UTC).date() + timedelta(days=1)).isoformat()}
    server.ask("PUT", f"waivers/{quote(server.repository, safe='')}/{change['id']}", "ann", body)
    assert server.gate(checkout).exit_code == 0
    result = server.gate(checkout, "--author", "key:ann")
    assert result.exit_code == 6
    assert "does not count: they wrote this head" in result.stdout


def test_a_key_without_the_role_gets_its_verdict_and_no_record(server: Server, checkout: Checkout) -> None:
    checkout.commit({"jobs/clean.py": "# other\n"})
    result = server.gate(checkout, "--record", key="plain")
    assert result.exit_code == 7
    assert "the verdict is not recorded" in result.stderr
    assert "/ui/verdict" not in result.stdout
    assert server.verdicts() == []


def act(server: Server, key: str, *arguments: str) -> Result:
    where = ("--url", f"http://127.0.0.1:{server.api.port}", "--repository-name", server.repository)
    environment = {"WHENCE_API_KEY": server.keys[key], "WHENCE_URL": None}
    return CliRunner().invoke(app, ["gate", *arguments, *where], env=environment)


def test_people_approve_and_waive_at_the_terminal(server: Server, checkout: Checkout) -> None:
    rules(checkout, RULES)
    head = checkout.commit({"jobs/clean.py": "# other\n"})
    (change,) = json.loads(server.gate(checkout, "--record", "-o", "json").stdout)["changes"]
    folder = ("--repository", str(checkout.folder))
    approved = act(server, "bob", "approve", "work", *folder)
    assert (approved.exit_code, approved.stdout.splitlines()[0]) == (
        0,
        f"{head[:12]} of {server.repository} is approved by key:bob",
    )
    assert server.gate(checkout).exit_code == 0
    withdrawn = act(server, "bob", "approve", "work", "--withdraw", "-o", "json", *folder)
    assert json.loads(withdrawn.stdout)["approved_by"] == []
    assert server.gate(checkout).exit_code == 6
    until = (datetime.now(UTC).date() + timedelta(days=1)).isoformat()
    wanted = ("waive", change["id"], "--reason", "the report moves", "--until", until)
    assert act(server, "plain", *wanted).exit_code != 0
    assert act(server, "bob", *wanted).exit_code == 0
    listed = act(server, "plain", "waivers")
    assert listed.stdout == f"{change['id']}  until {until}  key:bob  the report moves\n"
    assert server.gate(checkout).exit_code == 0
    assert act(server, "bob", "waive", change["id"], "--end").exit_code == 0
    assert json.loads(act(server, "bob", "waivers", "-o", "json").stdout) == []
    assert server.gate(checkout).exit_code == 6


@pytest.mark.parametrize(
    "arguments",
    [
        ("waive", "C-1"),
        ("waive", "C-1", "--reason", "x"),
        ("waive", "C-1", "--end", "--reason", "x", "--until", "2027-01-31"),
    ],
)
def test_a_waiver_needs_a_reason_and_a_day(server: Server, arguments: tuple[str, ...]) -> None:
    assert act(server, "bob", *arguments).exit_code == 2


def promote(server: Server, key: str, *options: str) -> Result:
    where = options or ("--url", f"http://127.0.0.1:{server.api.port}")
    environment = {"WHENCE_API_KEY": server.keys[key], "WHENCE_URL": None}
    return CliRunner().invoke(app, ["gate", "model", "shop.gold.revenue", "--record", *where], env=environment)


def test_a_verdict_on_a_promotion_is_recorded_once(server: Server) -> None:
    before = len(server.api.records())
    for _ in range(2):
        result = promote(server, "promoter")
        assert (result.exit_code, result.stderr) == (7, "")  # no column of the shop has a schema
    assert len(server.api.records()) == before + 1
    found = server.ask("GET", f"promotions/{quote(str(REVENUE), safe='')}", "plain")
    assert (found["promotion"]["verdict"], found["recorded_by"]) == ("unknown", "key:promoter")
    refused = promote(server, "plain")
    assert (refused.exit_code, "the verdict is not recorded" in refused.stderr) == (7, True)
    assert promote(server, "plain", "--store", server.store).exit_code == 1


def test_a_record_needs_a_server_and_a_name(server: Server, checkout: Checkout) -> None:
    checkout.commit({"jobs/clean.py": "# other\n"})
    of_store = server.run(checkout, "--store", server.store, WHENCE_GATE_RECORD="true")
    assert (of_store.exit_code, "--url" in of_store.stderr) == (1, True)
    checkout.git("remote", "remove", "origin")
    nameless = server.run(checkout, "--url", f"http://127.0.0.1:{server.api.port}", "--record")
    assert (nameless.exit_code, "--repository-name" in nameless.stderr) == (1, True)


@pytest.mark.parametrize("name", [".", "..", "a/../b"])
def test_a_repository_whose_remote_is_a_relative_path_is_judged(server: Server, checkout: Checkout, name: str) -> None:
    where = ("--url", f"http://127.0.0.1:{server.api.port}", "--repository-name", name)
    result = server.run(checkout, *where)
    assert result.exit_code in (0, 5, 6, 7), result.output


def test_a_contract_is_applied_in_the_name_of_the_key(server: Server, tmp_path: Path) -> None:
    contract = tmp_path / "orders.odcs.yaml"
    contract.write_text(CONTRACT)
    environment = {"WHENCE_API_KEY": server.keys["checkout"], "WHENCE_URL": f"http://127.0.0.1:{server.api.port}"}

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["contract", *words], env=environment)

    applied = run("apply", str(contract))
    assert (applied.exit_code, applied.output) == (0, f"applied: calls 1.0.0 for {CALLS}\n")
    event = json.loads(server.api.records()[-1].payload)
    assert (event["producer"], "whence_withheld" in event) == ("urn:whence:person:key%3Acheckout", False)
    assert run("list", CALLS, "--text").stdout == CONTRACT
    before = run("list", CALLS, "--text", "--as-of", "2026-01-01")
    assert (before.exit_code, before.stdout) == (1, "")
    assert f"{CALLS} has no contract with a text at 2026-01-01" in before.stderr
