"""Captures that read files, each with files of its system and their lineage as the text of the queries says it."""

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture.conformance.cases import SECRET
from environments import environment
from fixtures.captured_lineage import column_edges, dataset_edges

Json = dict[str, Any]
DBT_LOCK = Path(__file__).parents[1] / "dbt/requirements.lock"


@dataclass(frozen=True)
class FileCase:
    """A capture, and files of its system. `prepare` makes them in a folder and returns the words of `whence capture`.

    Its second argument is whether a statement fails. `edges` are DIRECT; `table` is what the statement writes, named as
    other captures name it.
    """

    capture: str
    prepare: Callable[[Path, bool], list[str]]
    edges: frozenset[str]
    table: Callable[[Path], tuple[str, str]]
    lost: str
    release: str
    unknown: frozenset[str] = frozenset()
    failure: str = "no connection"
    """A part of the message of what fails, or of a part that cannot be read."""
    has_columns: bool = True
    """Whether `edges` are between columns, or between datasets that have none."""

    def edges_in(self, lines: Iterable[Json]) -> set[str]:
        """The edges of this kind in a dump of a store."""
        return column_edges(lines) if self.has_columns else dataset_edges(lines)


INSERT = "INSERT INTO totals (who, gross) SELECT customer, sum(amount) * 1.2 FROM orders GROUP BY customer"
LOG = f"""2026-02-01 10:00:00.000 UTC [41] ada@shop 65f.29 LOG:  duration: 250.000 ms  statement: {INSERT}
"""
BROKEN = f"""2026-02-01 11:00:03.000 UTC [42] ada@shop 65f.2a ERROR:  no connection: password={SECRET}
2026-02-01 11:00:03.000 UTC [42] ada@shop 65f.2a STATEMENT:  {INSERT}
"""


def write_log(folder: Path, fails: bool) -> list[str]:
    """A log as PostgreSQL writes it, with a statement that fails."""
    (folder / "postgres ü.log").write_text(LOG + (BROKEN if fails else ""), "utf-8")
    columns = {"orders": ["id", "customer", "amount"], "totals": ["who", "gross"]}
    (folder / "columns.json").write_text(json.dumps(columns))
    where = ["--format", "postgres", "--namespace", "postgres://db:5432", "--database", "shop", "--schema", "public"]
    return ["sql-log", "postgres ü.log", *where, "--prefix", "%m [%p] %u@%d %c ", "--columns", "columns.json"]


def build_project(folder: Path, fails: bool) -> list[str]:
    """A project of a real dbt over DuckDB: its model reads a file, and is built again until it fails."""
    project = folder / "project"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: shop\nversion: 1.0.0\nprofile: shop\n")
    (folder / "orders.csv").write_text("id,customer,amount\n1,7,2.5\n2,8,3.5\n")
    target = {"type": "duckdb", "path": str(folder / "shop.duckdb"), "schema": "main", "threads": 1}
    (project / "profiles.yml").write_text(json.dumps({"shop": {"target": "dev", "outputs": {"dev": target}}}))
    head = "{{ config(materialized='table') }} SELECT customer AS who, sum(amount) * 1.2 AS gross"
    (project / "models/totals.sql").write_text(f"{head} FROM read_csv('{folder}/orders.csv') GROUP BY customer\n")
    _run_dbt(project, "build")
    _run_dbt(project, "docs", "generate")
    if fails:
        (folder / "orders.csv").write_text(f"customer,amount,note\n7,2.5,password={SECRET}\n")
        lost = "error('no connection: ' || any_value(note)) AS lost"
        (project / "models/totals.sql").write_text(
            f"{head}, {lost} FROM read_csv('{folder}/orders.csv') GROUP BY ALL\n"
        )
        _run_dbt(project, "build", code=1)
    return ["dbt", "project/target"]


def _run_dbt(project: Path, *words: str, code: int = 0) -> None:
    dbt = environment("dbt", DBT_LOCK) / "bin/dbt"
    done = subprocess.run(
        [str(dbt), "--no-version-check", "--quiet", *words, "--project-dir", str(project)],
        env={**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr


LOOK = """connection: "shop"
explore: orders {}
view: orders {
  dimension: customer {}
  measure: gross { type: number sql: SUM(${TABLE}.amount) * 1.2 ;; }
}
"""
BOARD = """- dashboard: totals
  elements:
  - {name: gross by customer, model: shop, explore: orders, fields: [orders.customer, orders.gross]}
"""


def write_lookml(folder: Path, fails: bool) -> list[str]:
    """A project with a dashboard, and a view that is broken."""
    (folder / "shop.model.lkml").write_text(LOOK)
    (folder / "totals.dashboard.lookml").write_text(BOARD)
    (folder / "connections.yaml").write_text(f"shop: postgresql://ada:{SECRET}@db:5432/shop/public\n")
    if fails:
        (folder / "users.view.lkml").write_text("view: users {")
    return ["run", "lookml", "--set", f"folder={folder}", "--set", "connections=connections.yaml"]


BOOK = f"""<workbook version='18.1'><datasources><datasource name='shop'>
<connection class='postgres' dbname='shop' server='db' password='{SECRET}'>
<relation name='orders' table='[public].[orders]' type='table' /></connection>
<column caption='Gross' name='[Calculation_1]'><calculation formula='SUM([amount]) * 1.2' /></column>
</datasource></datasources>
<worksheets><worksheet name='gross by customer'><table>
<rows>[shop].[none:customer:nk]</rows><cols>[shop].[usr:Calculation_1:qk]</cols></table></worksheet></worksheets>
<dashboards><dashboard name='totals'><zones><zone name='gross by customer' /></zones></dashboard></dashboards>
</workbook>"""


def write_workbook(folder: Path, fails: bool) -> list[str]:
    """A workbook with a dashboard, and one that is broken."""
    (folder / "shop.twb").write_text(BOOK)
    if fails:
        (folder / "users.twb").write_text(BOOK[:-20])
    return ["run", "tableau", "--set", f"folder={folder}"]


def write_registry(folder: Path, fails: bool) -> list[str]:
    """A registry of Feast with a view, a service of it, and a view of a data source that is not known."""
    table = base64.b64encode(json.dumps({"table": "orders"}).encode()).decode()
    orders = {
        "name": "orders",
        "type": "CUSTOM_SOURCE",
        "dataSourceClassType": "feast.PostgreSQLSource",
        "customOptions": {"configuration": table},
        "fieldMapping": {"amount": "gross"},
    }
    gross = {"name": "gross", "valueType": "DOUBLE"}
    customer = {"name": "customer", "valueType": "INT64"}
    view = {"name": "totals", "features": [gross], "entityColumns": [customer], "batchSource": orders}
    service = {"name": "churn", "features": [{"featureViewName": "totals", "featureColumns": [gross]}]}
    views = [view, {**view, "name": "users", "batchSource": {"type": "CUSTOM_SOURCE", "name": "crm"}}]
    lists: dict[str, list[Any]] = {"featureViews": views[: 1 + fails], "featureServices": [service]}
    registry = {key: [{"spec": {**one, "project": "shop"}} for one in found] for key, found in lists.items()}
    (folder / "registry.json").write_text(json.dumps(registry))
    (folder / "connections.yaml").write_text(f"postgres: postgresql://ada:{SECRET}@db:5432/shop/public\n")
    return ["run", "feast", "--set", "registry=registry.json", "--set", "connections=connections.yaml"]


def write_plans(folder: Path, fails: bool) -> list[str]:
    """The plan of a job of Flink SQL over two files, and one that is broken."""
    plan = (Path(__file__).parents[1] / "flink/plans/aggregate.json").read_text("utf-8")
    (folder / "plans").mkdir()
    (folder / "plans" / "totals.json").write_text(plan.replace("/lake/", f"{folder}/"), "utf-8")
    if fails:
        (folder / "plans" / "users.json").write_text(plan[:-40], "utf-8")
    return ["run", "flink", "--set", "plans=plans"]


PIPELINE = """pipelineInfo: {name: totals}
root: {dag: {tasks: {
  importer: {componentRef: {name: comp-importer}},
  add: {componentRef: {name: comp-add}, dependentTasks: [importer], inputs: {artifacts: {
    orders: {taskOutputArtifact: {producerTask: importer, outputArtifactKey: artifact}}}}}}}}
components:
  comp-importer: {executorLabel: exec-importer}
  comp-add: {executorLabel: exec-add, outputDefinitions: {artifacts: {totals: {artifactType: {
    schemaTitle: system.Dataset}}}}}
deploymentSpec: {executors: {
  exec-importer: {importer: {artifactUri: {constant: "FOLDER/lake/orders ü.csv"}}},
  exec-add: {container: {image: "python:3.11"}}}}
"""


def write_runs(folder: Path, fails: bool) -> list[str]:
    """A pipeline and a run of Kubeflow's local runner, and a run whose task began and ended without outputs."""
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / "totals.yaml").write_text(PIPELINE.replace("FOLDER", str(folder)), "utf-8")
    made = folder / "runs" / "totals-2026-02-01-10-00-00-000000" / "add"
    made.mkdir(parents=True)
    metadata = {"rows": 2, "source": f"https://ada:{SECRET}@lake/orders"}
    artifact = {"name": "totals", "uri": f"{folder}/lake/totals", "metadata": metadata}
    (made / "executor_output.json").write_text(json.dumps({"artifacts": {"totals": {"artifacts": [artifact]}}}))
    if fails:
        (folder / "runs" / "totals-2026-02-01-11-00-00-000000" / "add").mkdir(parents=True)
    return ["run", "kubeflow", "--set", "root=runs", "--set", "pipelines=pipelines", "--set", "quiet=0"]


FILE_CASES = (
    FileCase(
        "sql-log",
        write_log,
        frozenset(("orders.customer -> totals.who", "orders.amount -> totals.gross")),
        lambda folder: ("postgres://db:5432", "shop.public.totals"),
        "statements that the log leaves out, values of parameters",
        "PostgreSQL's stderr format",
    ),
)

SLOW_FILE_CASES = (
    FileCase(
        "dbt",
        build_project,
        frozenset(("orders.customer -> totals.who", "orders.amount -> totals.gross")),
        lambda folder: (f"duckdb://{folder}/shop.duckdb", "shop.main.totals"),
        "Python models, SQL that macros run by themselves",
        "dbt-core 1.11",
    ),
    FileCase(
        "lookml",
        write_lookml,
        frozenset(
            (
                "orders.customer -> gross by customer.orders.customer",
                "orders.amount -> gross by customer.orders.gross",
                "gross by customer.orders.customer -> totals.orders.customer",
                "gross by customer.orders.gross -> totals.orders.gross",
            )
        ),
        lambda folder: ("postgres://db:5432", "shop.public.orders"),
        "dashboards that are in no file, Liquid that a user decides (named), owners",
        "lkml 1.3.7",
        failure="it is no LookML",
    ),
    FileCase(
        "tableau",
        write_workbook,
        frozenset(
            (
                "orders.customer -> gross by customer.customer",
                "orders.amount -> gross by customer.Gross",
                "gross by customer.customer -> totals.customer",
                "gross by customer.Gross -> totals.Gross",
            )
        ),
        lambda folder: ("postgres://db:5432", "shop.public.orders"),
        "blends (named), table calculations as such, owners",
        "workbooks of 9.0 to 2024.2",
        failure="no XML",
    ),
    FileCase(
        "feast",
        write_registry,
        frozenset(
            ("orders.customer -> totals.customer", "orders.amount -> totals.gross", "totals.gross -> churn.gross")
        ),
        lambda folder: ("postgres://db:5432", "shop.public.orders"),
        "which input of a Python function a feature is made of (named), saved datasets, models",
        "Feast 0.67.0",
        failure="is not known",
    ),
    FileCase(
        "flink",
        write_plans,
        frozenset(("orders ü.customer -> totals.who", "orders ü.amount -> totals.gross")),
        lambda folder: ("file", f"{folder}/totals"),
        "runs, jobs of the DataStream API, lookup joins and table functions (named)",
        "Flink 2.3.0",
        failure="no JSON",
    ),
    FileCase(
        "kubeflow",
        write_runs,
        frozenset(("lake/orders ü.csv -> lake/totals",)),
        lambda folder: ("file", f"{folder}/lake/totals"),
        "columns, arguments of pipelines, how a run ended whose last task left no files (named)",
        "kfp 2.17.3",
        failure="no outputs of add",
        has_columns=False,
    ),
)
"""Captures whose system takes long to start, or that differ from others in `translate` alone: `--long`."""
