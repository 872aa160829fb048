"""`whence gate` and `policies.yaml`: a head that brings personal data where it may not be is blocked, with the way."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from api.process import Api
from cli.gate.conftest import WAREHOUSE, Checkout, statement
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from query.worlds.random_worlds import Statement, World, load
from whence.cli.commands.app import app
from whence.govern.declared_rules import find_rule_changes, rule_event
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES as DECLARED
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName
from whence.store.connection.engine import sqlite_url

CRM, USERS, MARKETING = (DatasetName(WAREHOUSE, name) for name in ("shop.crm", "shop.users", "shop.marketing"))
STAGING = DatasetName("postgres://staging:5432", "shop.marketing")
POLICIES = """\
version: 1
policies:
  - name: no addresses in marketing
    reason: the contract with the agency forbids it
    owner: privacy
    forbid: {kind: column, name: "*.marketing", label: pii>=pseudonymous}
"""
COLUMNS = {"shop.crm": ["id", "email", "city"], "shop.unseen": ["mail"]}
USERS_SQL = "create view shop.users as select id, email as contact, city from shop.crm\n"
FILES: dict[str, str | None] = {
    "policies.yaml": POLICIES,
    "sql/users.sql": USERS_SQL,
    "sql/marketing.sql": "create table shop.marketing as select id, city from shop.users\n",
}


def copied(owner: JobName, *edges: tuple[DatasetName, str, DatasetName, str]) -> Statement:
    """The same, as a producer that says what it does."""
    found = statement(owner, *edges)
    return replace(found, edges=tuple((_identity(edge), origin) for edge, origin in found.edges))


def _identity(edge: Edge) -> Edge:
    return replace(edge, subtype="IDENTITY") if isinstance(edge.source, FieldName) else edge


WORLD = World(
    statements=(
        copied(JobName("dbt", "users"), (CRM, "id", USERS, "id"), (CRM, "email", USERS, "contact")),
        copied(JobName("dbt", "marketing"), (USERS, "id", MARKETING, "id"), (USERS, "city", MARKETING, "city")),
        copied(JobName("dbt", "staging"), (CRM, "email", STAGING, "contact")),
    ),
    facets=((CRM, "tags", json.dumps({"tags": [{"key": "pii", "value": "true", "field": "email"}]})),),
)
NEW_COLUMN = "create table shop.marketing as select id, city, {} from shop.users\n"
CONTACT = FieldName(MARKETING, "contact")


@pytest.fixture
def models(checkout: Checkout) -> Checkout:
    """The models and the policies, merged before."""
    merge(checkout, FILES)
    return checkout


def merge(checkout: Checkout, files: dict[str, str | None]) -> None:
    checkout.git("switch", "-q", "main")
    checkout.commit(files)
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")


@pytest.fixture
def production(sqlite_store: Engine) -> str:
    load(sqlite_store, WORLD)
    return str(sqlite_store.url)


def run(models: Checkout, path: Path, files: dict[str, str | None], *more: str) -> Result:
    models.commit(files)
    columns = path / "columns.json"
    columns.write_text(json.dumps(COLUMNS))
    read = ["--sql", "sql", "--dialect", "duckdb", "--namespace", WAREHOUSE, "--columns", str(columns)]
    return CliRunner().invoke(
        app, ["gate", "--repository", str(models.folder), "--base", "main", *read, *more], env={"WHENCE_URL": None}
    )


def judged(models: Checkout, store: str, path: Path, files: dict[str, str | None], code: int) -> dict[str, Any]:
    result = run(models, path, files, "--store", store, "-o", "json")
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def findings(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in found["changes"] if one["kind"] == "policy"]


def test_a_new_column_of_a_forbidden_grade_is_blocked_with_its_way(
    models: Checkout, production: str, tmp_path: Path
) -> None:
    """The finding of staging is older than the head, and no matter of it."""
    found = judged(models, production, tmp_path, {"sql/marketing.sql": NEW_COLUMN.format("contact")}, 5)
    (one,) = findings(found)
    assert (found["verdict"], one["verdict"], one["node"]) == ("blocked", "blocked", str(CONTACT))
    assert (one["after"], one["file"]) == ("no addresses in marketing", "sql/marketing.sql")
    way = [FieldName(CRM, "email"), FieldName(USERS, "contact"), CONTACT]
    assert [(why["rule"], why["nodes"]) for why in one["why"]] == [("policy", list(map(str, way)))]


def test_the_text_names_the_way_the_reason_and_whom_to_ask(models: Checkout, production: str, tmp_path: Path) -> None:
    result = run(models, tmp_path, {"sql/marketing.sql": NEW_COLUMN.format("contact")}, "--store", production)
    assert "blocked  shop.marketing.contact  policy  sql/marketing.sql" in result.stdout
    assert (
        "shop.crm.email → shop.users.contact → shop.marketing.contact: "
        "the contract with the agency forbids it; ask privacy" in result.stdout
    )
    sarif = run(models, tmp_path, {"note.md": "again"}, "--store", production, "-o", "sarif")
    (found,) = json.loads(sarif.stdout)["runs"][0]["results"]
    assert (found["ruleId"], "shop.crm.email → " in found["message"]["text"]) == ("whence/policy", True)


@pytest.mark.parametrize(
    ("column", "code", "verdicts"),
    [
        ("sha2(contact, 256) as contact", 5, ["blocked"]),
        ("left(contact, 3) as contact", 0, []),
        ("my_udf(contact) as contact", 0, ["note"]),
        ("upper(city) as contact", 0, []),
    ],
)
def test_the_function_decides(
    models: Checkout, production: str, tmp_path: Path, column: str, code: int, verdicts: list[str]
) -> None:
    """A hash is still personal data, a part of it is less than is forbidden, an unknown function may be anything."""
    found = judged(models, production, tmp_path, {"sql/marketing.sql": NEW_COLUMN.format(column)}, code)
    assert [one["verdict"] for one in findings(found)] == verdicts


def test_a_change_upstream_reaches_what_nobody_changed(models: Checkout, production: str, tmp_path: Path) -> None:
    text = "create view shop.users as select id, email as contact, email as city from shop.crm\n"
    found = judged(models, production, tmp_path, {"sql/users.sql": text}, 5)
    assert [one["node"] for one in findings(found)] == [str(FieldName(MARKETING, "city"))]


def test_an_old_violation_and_other_changes_are_silent(models: Checkout, production: str, tmp_path: Path) -> None:
    merge(models, {"sql/marketing.sql": NEW_COLUMN.format("contact")})
    found = judged(models, production, tmp_path, {"sql/users.sql": f"-- the users\n{USERS_SQL}"}, 0)
    assert (found["verdict"], found["changes"]) == ("pass", [])


def test_a_source_that_production_does_not_know_is_not_evaluated(
    models: Checkout, production: str, tmp_path: Path
) -> None:
    text = "create table shop.marketing as select u.id, u.city, x.mail from shop.users u, shop.unseen x\n"
    found = judged(models, production, tmp_path, {"sql/marketing.sql": text}, 0)
    assert (str(FieldName(MARKETING, "mail")), "note") in [(one["node"], one["verdict"]) for one in findings(found)]
    assert all("is not known, or may not be seen" in one["reason"] for one in findings(found))


def test_a_head_is_judged_by_the_policies_of_its_base(models: Checkout, production: str, tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "policies.yaml": "version: 1\npolicies: []\n",
        "sql/marketing.sql": NEW_COLUMN.format("contact"),
    }
    found = judged(models, production, tmp_path, files, 5)
    assert "policies.yaml changes: this head is judged by the rules of its base" in found["notices"]


def test_gate_yaml_asks_for_an_approval_or_waives(models: Checkout, production: str, tmp_path: Path) -> None:
    merge(models, {"gate.yaml": "version: 1\non_policy: approval\n"})
    change: dict[str, str | None] = {"sql/marketing.sql": NEW_COLUMN.format("contact")}
    found = judged(models, production, tmp_path, change, 6)
    assert [one["owner"] for one in found["required_approvals"]] == ["privacy"]
    waiver = f"{{change: {findings(found)[0]['id']}, reason: agreed, owner: ann, expires: 2999-01-01}}"
    merge(models, {"gate.yaml": f"version: 1\nwaivers: [{waiver}]\n"})
    result = run(models, tmp_path, {"note.md": "again"}, "--store", production, "-o", "json")
    assert result.exit_code == 0, result.output
    assert [one["verdict"] for one in findings(json.loads(result.stdout))] == ["note"]


def test_a_declared_policy_judges_repositories_without_policies(
    models: Checkout, sqlite_store: Engine, production: str, tmp_path: Path
) -> None:
    """Also those that have the same: it is found once."""
    text = POLICIES.replace("    owner", f'    namespaces: ["{WAREHOUSE}"]\n    owner')
    ((record, namespace),) = find_rule_changes(read_policies(text).policies, (), prune=False)
    event = rule_event(DECLARED, record, namespace, 1, "urn:whence:person:key%3Aada")
    apply_bodies(sqlite_store, [json.dumps(event).encode()])
    found = judged(models, production, tmp_path, {"sql/marketing.sql": NEW_COLUMN.format("contact")}, 5)
    assert len(findings(found)) == 1
    merge(models, {"policies.yaml": None})
    result = run(models, tmp_path, {"note.md": "again"}, "--store", production, "-o", "json")
    (one,) = findings(json.loads(result.stdout))
    assert (result.exit_code, one["node"], one["file"]) == (5, str(CONTACT), "sql/marketing.sql")


def test_a_mistake_in_the_policies_is_no_verdict(models: Checkout, production: str, tmp_path: Path) -> None:
    merge(models, {"policies.yaml": POLICIES.replace("forbid", "forbidd")})
    result = run(models, tmp_path, {"sql/users.sql": f"--\n{USERS_SQL}"}, "--store", production)
    assert result.exit_code == 2
    assert "policies.yaml:6: no key 'forbidd' belongs here" in result.output.replace("\n", "")


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A server that asks for keys, over production."""
    url = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(url)
    load(engine, WORLD)
    engine.dispose()
    made = Api(tmp_path / "data", url, {"open": False})
    yield made
    made.down()
    made.listening.close()


def key_of(api: Api, name: str, namespaces: str) -> str:
    words = ["keys", "create", name, "--role", "reader", "--namespaces", namespaces, "--store", api.store_url]
    return str(json.loads(CliRunner().invoke(app, [*words, "-o", "json"]).stdout)["key"])


def test_a_restricted_key_is_never_told_that_all_is_well(
    models: Checkout, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may not see the source learns neither of it nor that the policy holds."""
    found = {}
    keys = {"all": key_of(api, "all", "*"), "staging": key_of(api, "staging", "postgres://staging*")}
    api.up()
    for name, key in keys.items():
        monkeypatch.setenv("WHENCE_API_KEY", key)
        files: dict[str, str | None] = {"sql/marketing.sql": NEW_COLUMN.format("contact"), "for.md": name}
        result = run(models, tmp_path, files, "--url", f"http://127.0.0.1:{api.port}", "-o", "json")
        assert result.exit_code in (0, 5, 7), result.output
        cases = findings(json.loads(result.stdout))
        found[name] = [(one["node"], one["verdict"], "crm" in json.dumps(one)) for one in cases]
    assert found == {"all": [(str(CONTACT), "blocked", True)], "staging": [(str(CONTACT), "note", False)]}
