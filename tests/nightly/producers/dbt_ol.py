"""dbt with dbt-duckdb: dbt-ol alone, `whence capture dbt` alone, both, and dev beside prod; each builds twice.

The lineage that is expected was written from reading the project in `dbt_shop`.
"""

import json
from dataclasses import dataclass

import pytest

from nightly.producers.dbt_user import Project, project
from nightly.producers.served import Flow, Lineage, Served, User, column_id

DIRECT = {
    "stg_orders": """
        order_id = IDENTITY raw_orders.id
        customer_id = IDENTITY raw_orders.customer_id
        cents = TRANSFORMATION raw_orders.amount
        day = TRANSFORMATION raw_orders.day
        status = IDENTITY raw_orders.status""",
    "paid": """
        order_id = IDENTITY stg_orders.order_id
        customer_id = IDENTITY stg_orders.customer_id
        cents = IDENTITY stg_orders.cents
        day = IDENTITY stg_orders.day""",
    "revenue": """
        country = IDENTITY raw_customers.country
        total = AGGREGATION paid.cents""",
    "daily": """
        day = IDENTITY paid.day
        largest = AGGREGATION paid.cents""",
    "größe; drop: 1": "preis € = IDENTITY raw_customers.name",
    "customers_snapshot": """
        id = IDENTITY raw_customers.id
        name = IDENTITY raw_customers.name
        country = IDENTITY raw_customers.country""",
}
INFLUENCES = {
    "stg_orders": set[str](),
    "paid": {"stg_orders.status"},
    "revenue": {"paid.customer_id", "raw_customers.id", "raw_customers.country"},
    "daily": {"paid.day", "daily.day"},
    "größe; drop: 1": set[str](),
}
SENDERS = {"both": ("dbt-ol", "capture"), "ol": ("dbt-ol",), "captured": ("dbt", "capture")}
BUILDS = 2
MESSAGE = "Could not convert string 'xDE' to INT32"


@dataclass(frozen=True, slots=True)
class Built:
    """A project that was built, and how its datasets are named."""

    project: Project

    @property
    def namespace(self) -> str:
        return f"duckdb://{self.project.database}"

    @property
    def jobs(self) -> str:
        return self.project.job_namespace

    def name(self, table: str) -> str:
        return f"{self.project.target}.main.{table}"

    def short(self, name: str) -> str:
        return name.removeprefix(f"{self.project.target}.main.")


@pytest.fixture(scope="module")
def built(served: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """Every way to send in prod, and both in dev, by two users."""
    base = tmp_path_factory.mktemp("dbt").resolve()
    spaces = {target: [f"{target}*", f"duckdb://{base}/{target}*", "dbt://shop"] for target in ("prod", "dev")}
    keys = {target: served.user(f"dbt-{target}", "writer", *some).key for target, some in spaces.items()}
    made = {}
    for name, steps in {**SENDERS, "dev": SENDERS["both"]}.items():
        target = "dev" if name == "dev" else "prod"
        one = project(base / f"{target}-{name}", served.url, keys[target], f"{target}.dbt.{name}", target)
        for _ in range(BUILDS):
            for step in steps:
                if step == "capture":
                    one.capture()
                else:
                    one.build(step)
        made[name] = Built(one)
    served.admin.await_all()
    return made


@pytest.fixture
def user(served: Served) -> User:
    return served.admin


def lineage_of(user: User, one: Built, table: str) -> Lineage:
    columns = [line.partition(" = ")[0].strip() for line in DIRECT[table].splitlines() if line.strip()]
    return user.lineage(one.namespace, one.name(table), one.short, columns=columns)


def wanted(table: str) -> set[Flow]:
    found = set()
    for line in filter(None, map(str.strip, DIRECT[table].splitlines())):
        column, _, origin = line.partition(" = ")
        subtype, _, source = origin.partition(" ")
        found.add(Flow(source, f"DIRECT {subtype}", f"{table}.{column}"))
    return found


@pytest.mark.parametrize("sender", ["both", "captured", "dev"])
@pytest.mark.parametrize("table", DIRECT)
def test_captured_lineage_is_that_of_the_project(user: User, built: dict[str, Built], sender: str, table: str) -> None:
    found = lineage_of(user, built[sender], table)
    values = {flow for flow in found.flows if flow.how.startswith("DIRECT")}
    assert values == wanted(table)
    assert found.gaps == set()
    if table in INFLUENCES:
        assert {flow.source for flow in found.flows if flow.how.startswith("INDIRECT")} == INFLUENCES[table]


@pytest.mark.parametrize("table", DIRECT)
def test_dbt_ol_alone_invents_nothing_and_says_what_is_lost(user: User, built: dict[str, Built], table: str) -> None:
    """It reports sources without a kind, and what is behind an ephemeral model in place of it."""
    name = "Größe; drop: 1" if table.startswith("größe") else table
    one = built["ol"]
    if table == "paid":
        return  # it has no job of its own there
    columns = {flow.target.rpartition(".")[2] for flow in wanted(table)}
    columns = {"Preis €"} if table.startswith("größe") else columns
    found = user.lineage(one.namespace, one.name(name), one.short, columns=columns)
    through = {f"paid.{column}": f"stg_orders.{column}" for column in ("order_id", "customer_id", "cents", "day")}
    truth = {(flow.source, flow.target.lower()) for flow in wanted(table)}
    truth |= {(through.get(source, source), target) for source, target in truth}
    reported = {(flow.source, flow.target.lower()) for flow in found.flows if not flow.how.startswith("INDIRECT")}
    assert reported <= truth
    lost = {target.rpartition(".")[2] for _, target in truth - reported}
    lost -= {target.rpartition(".")[2] for _, target in reported}
    assert {one.lower() for one in found.gaps} >= lost


@pytest.mark.parametrize("sender", [*SENDERS, "dev"])
def test_no_ghosts(user: User, built: dict[str, Built], sender: str) -> None:
    one = built[sender]
    tables = {*DIRECT, "raw_orders", "raw_customers", "will_fail", "never"}
    assert {one.short(name).lower() for name in user.names(one.namespace)} <= tables
    assert not [name for name in user.names("dbt://shop") if "__dbt__cte__" in name]


def test_what_is_built_in_dev_is_nothing_of_prod(user: User, built: dict[str, Built]) -> None:
    for mine, other in (("both", "dev"), ("dev", "both"), ("captured", "both")):
        node = column_id(built[mine].namespace, built[mine].name("revenue"), "total")
        nodes = user.upstream(node, depth=10)["data"]["nodes"]
        assert len(nodes) > 4
        assert not [one["node"] for one in nodes if str(built[other].project.database) in one["node"]]
        assert not [alias for one in nodes for alias in one["aliases"] if str(built[other].project.database) in alias]


@pytest.mark.parametrize("sender", [*SENDERS, "dev"])
def test_an_invocation_is_one_attempt_with_the_best_message(user: User, built: dict[str, Built], sender: str) -> None:
    failing = user.troubles(built[sender].jobs, "failing")
    prefix = f"{built[sender].project.target}.main.shop."
    assert set(failing) == {"dbt-run-shop", f"{prefix}will_fail.build.run", f"{prefix}revenue.build.test"}
    assert {one["failures"] for one in failing.values()} == {BUILDS}
    message = failing[f"{prefix}will_fail.build.run"]["last"]["error"]
    (run, *_) = user.runs(built[sender].jobs, f"{prefix}will_fail.build.run")
    assert run["state"] == "FAIL"
    if sender == "ol":
        assert message is None  # dbt-ol reports none
    else:
        messages = [one["error"] or "" for one in user.runs(built[sender].jobs, f"{prefix}will_fail.build.run")]
        assert "will_fail" in message
        assert any(MESSAGE in one for one in messages)
    assert user.troubles(built[sender].jobs, "late") == {}


@pytest.mark.parametrize("sender", [*SENDERS, "dev"])
def test_states(user: User, built: dict[str, Built], sender: str) -> None:
    one = built[sender]
    prefix = f"{one.project.target}.main.shop."
    for name in ("stg_orders.build.run", "daily.build.run", "revenue.build.run", "customers_snapshot.build.snapshot"):
        assert {run["state"] for run in user.runs(one.jobs, prefix + name)} == {"COMPLETE"}
        assert {run["parent"]["job"] for run in user.runs(one.jobs, prefix + name)} == {f"job:{one.jobs}:dbt-run-shop"}
    assert {run["state"] for run in user.runs(one.jobs, "dbt-run-shop")} == {"FAIL"}


@pytest.mark.parametrize("sender", [*SENDERS, "dev"])
def test_checks_are_there_once_with_their_severity(user: User, built: dict[str, Built], sender: str) -> None:
    mine = [one for one in user.pages("/api/v2/failed-checks") if one["job"].startswith(f"job:{built[sender].jobs}:")]
    assert len(mine) == BUILDS
    for one in mine:
        assert {(check["assertion"], check["column"], check["severity"]) for check in one["failed"]} == {
            ("accepted_values", "total", "error"),
            ("accepted_values", "country", "warn"),
        }


def test_descriptions_owners_and_tags(user: User, built: dict[str, Built]) -> None:
    for sender in ("both", "captured", "dev"):
        dataset = user.dataset(built[sender].namespace, built[sender].name("stg_orders"))
        assert dataset["description"] == "Orders in cents"
        assert {one["name"] for one in dataset["owners"]} == {"ann"}
        assert ("finance", "true") in {(one["key"], one["value"]) for one in dataset["tags"]}


def test_who_may_see_dev_sees_nothing_of_prod(served: Served, built: dict[str, Built]) -> None:
    analyst = served.user("dbt-analyst", "reader", "dev*")
    assert set(analyst.jobs("dev.dbt.dev")) == set(served.admin.jobs("dev.dbt.dev"))
    assert analyst.jobs("prod.dbt.both") == {}


def test_at_the_terminal(served: Served, built: dict[str, Built]) -> None:
    node = column_id(built["both"].namespace, built["both"].name("revenue"), "total")
    answer = json.loads(served.run("upstream", node, "-o", "json"))
    assert answer["complete"] is True
    assert any(one["node"].endswith("raw_orders:amount") for one in answer["nodes"])
