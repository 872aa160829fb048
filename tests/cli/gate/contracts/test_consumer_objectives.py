"""A contract that promises less than the objectives of its readers: on a server, by keys that see all and a part."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.process import Api
from cli.gate.conftest import WAREHOUSE, Checkout
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.govern.api_keys import create_key
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.access import SCOPES, Grant, Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant

ORDERS, DAILY = DatasetName(WAREHOUSE, "shop.orders"), DatasetName(WAREHOUSE, "shop.daily")
SALARIES = DatasetName("postgres://hr:5432", "payroll.salaries")
NOW = time.time_ns() // 1_000
FILE = "contracts/orders.odcs.yaml"


def run(job: str, source: DatasetName, target: DatasetName, number: int) -> dict[str, Any]:
    owners = facet("OwnershipDatasetFacet", owners=[{"name": f"team of {target.name}"}])
    name = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("prod", job))
    output = dataset(target, facets={"ownership": owners})
    return run_event(NOW, RunState.COMPLETE, name, inputs=[dataset(source)], outputs=[output])


def declared(service: str, target: DatasetName, limit: str) -> dict[str, Any]:
    slo = {"name": f"{service} fresh", "dataset": str(target), "objective": {"target": "90%"}, "alerting": []}
    document = {"version": 1, "service": service, "slos": [{**slo, "indicator": {"freshness": {"limit": limit}}}]}
    (objective,) = read_slos(json.dumps(document)).objectives
    return declaration_event(declaration_of(objective), target.namespace, NOW, person_uri("ada"))


EVENTS = [
    run("sum", ORDERS, DAILY, 1),
    run("pay", DAILY, SALARIES, 2),
    declared("sales", DAILY, "6h"),
    declared("board", DAILY, "2d"),
    declared("payroll", SALARIES, "5h"),
]


def contract(version: str, latency: str) -> str:
    return (
        f"apiVersion: v3.1.0\nkind: DataContract\nid: orders\nversion: {version}\nstatus: active\n"
        f"team: {{members: [{{username: ada, role: Owner}}]}}\nschema: [{{name: {ORDERS.name}}}]\n"
        f"slaProperties: [{{property: latency, {latency}}}]\n"
    )


BEFORE, AFTER = contract("1.0.0", "value: 4, unit: h"), contract("1.1.0", "value: 1, unit: d")


@dataclass(frozen=True)
class Asked:
    """A server and its store, and a key of everything and one of the warehouse and its jobs alone."""

    url: str
    store: str
    keys: dict[str, str]

    def ask(self, key: str, *words: str) -> Result:
        environment = {"WHENCE_API_KEY": self.keys[key], "WHENCE_URL": None, "NO_COLOR": "1"}
        return CliRunner().invoke(app, [*words, "--url", self.url], env=environment)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    base = tmp_path_factory.mktemp("server")
    store, url = sqlite_url(base / "store.db"), sqlite_url(base / "security.db")
    engine, security = open_store(store), open_security(url)
    migrate(engine)
    apply_bodies(engine, [json.dumps(one).encode() for one in EVENTS])
    engine.dispose()
    grants = {"everything": ["*"], "warehouse": [WAREHOUSE, "prod"]}
    with write_security(security) as connection:
        keys = {name: create_key(connection, name, SCOPES, NOW).text for name in grants}
        for name, namespaces in grants.items():
            for one in namespaces:
                add_grant(connection, f"key:{name}", Grant(Role.READER, one))
    security.dispose()
    api = Api(base / "data", store, {"open": False, "security_url": url}).up()
    try:
        yield Asked(f"http://127.0.0.1:{api.port}", store, keys)
    finally:
        api.down()
        api.listening.close()


@pytest.fixture
def versions(tmp_path: Path) -> list[str]:
    files = {tmp_path / "old.odcs.yaml": BEFORE, tmp_path / "new.odcs.yaml": AFTER}
    for path, text in files.items():
        path.write_text(text, "utf-8")
    return [*map(str, files), "--namespace", WAREHOUSE]


def test_the_objectives_that_are_no_longer_covered_are_named(asked: Asked, versions: list[str]) -> None:
    result = asked.ask("everything", "contract", "diff", *versions)
    assert (result.exit_code, result.stdout.splitlines()) == (
        6,
        [
            "approval needed: orders 1.0.0 -> 1.1.0",
            f"  breaking for consumers: latency: service loosened: 4 h -> 1 d  ({versions[1]}:8)",
            f"    read by job:prod:sum, into {DAILY}, of team of shop.daily",
            f"    stricter: payroll/payroll fresh of {SALARIES}, at most 5 h old (kept until now), "
            "of team of payroll.salaries",
            f"    stricter: sales/sales fresh of {DAILY}, at most 6 h old (kept until now), of team of shop.daily",
            "  approval needed of: team of payroll.salaries, team of shop.daily",
            "  to be notified: team of payroll.salaries, team of shop.daily",
        ],
    )
    local = CliRunner().invoke(app, ["contract", "diff", *versions, "--store", asked.store], env={"WHENCE_URL": None})
    assert local.stdout == result.stdout


def test_hidden_objectives_are_not_named_and_may_be_stricter(asked: Asked, versions: list[str]) -> None:
    result = asked.ask("warehouse", "contract", "diff", *versions)
    assert result.exit_code == 6
    assert "there may be stricter objectives: this key may not see all objectives" in result.stdout
    assert "payroll" not in result.stdout


def test_nobody_is_asked_about_what_no_objective_demands(asked: Asked, versions: list[str]) -> None:
    for path in versions[:2]:
        Path(path).write_text(Path(path).read_text("utf-8").replace("latency", "retention"), "utf-8")
    texts = Path(versions[0]).read_text("utf-8"), Path(versions[1]).read_text("utf-8")
    Path(versions[0]).write_text(texts[0].replace("4, unit: h", "4, unit: d"), "utf-8")
    result = asked.ask("everything", "contract", "diff", *versions, "-o", "json")
    (change,) = json.loads(result.stdout)["changes"]
    assert (result.exit_code, change["class"], change["objectives"]) == (0, "promises less", [])


@pytest.mark.parametrize("key", ["everything", "warehouse"])
def test_the_gate_asks_their_owners(asked: Asked, checkout: Checkout, key: str) -> None:
    checkout.git("switch", "-q", "main")
    checkout.commit({FILE: BEFORE, "sql/daily.sql": "create view shop.daily as select 1 as a\n"})
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")
    checkout.commit({FILE: AFTER})
    where = ["--repository", str(checkout.folder), "--base", "main", "--head", "work"]
    read = ["--sql", "sql", "--dialect", "postgres", "--namespace", WAREHOUSE]
    result = asked.ask(key, "gate", *where, *read, "-o", "json")
    found = json.loads(result.stdout)
    (change,) = found["changes"]
    (why,) = change["why"]
    demands = {
        "everything": "objectives of consumers are stricter: at most 5 h old; at most 6 h old",
        "warehouse": "there may be stricter objectives of consumers",
    }
    owners = {"everything": ["team of payroll.salaries", "team of shop.daily"], "warehouse": ["ada"]}
    assert (result.exit_code, change["kind"]) == (6, "contract")
    assert why["text"] == f"breaking for consumers: service loosened; {demands[key]}"
    assert sorted(one["owner"] for one in found["required_approvals"]) == owners[key]
    assert ("payroll" in result.stdout) == (key == "everything")
