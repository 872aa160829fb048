"""`whence demo --stack` from nothing to its answer: real Airflow, pandas, dbt, MLflow and Superset.

`make nightly-stack` runs it. The columns were written from reading the files in `whence/demo/stack/shop`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from sqlalchemy import select

from whence.store.connection.engine import open_store, sqlite_url
from whence.store.schema.tables import containment, job
from whence.store.schema.tables import run as run_table

DASHBOARD = "dashboards/1 Retention.average chance to leave"
DIRECT = {
    "raw/payments.csv.cents",
    "raw/payments.csv.paid_on",
    "raw/customers.csv.status",
    "lake/payments.parquet.amount",
    "lake/payments.parquet.paid_on",
    "lake/customers.parquet.churned",
    "shop.main.customer_spend.spend",
    "shop.main.customer_spend.payments",
    "shop.main.customer_spend.churned",
    "shop.main.churn_scores.churn_probability",
    "charts/1 Churn by country.average chance to leave",
    "models/m-*.spend",
    "models/m-*.payments",
    "models/m-*.target",
    DASHBOARD,
}
"""Columns of files, tables, the model, the chart and the dashboard. Frames in memory are steps between them."""
INFLUENCES = {"raw/customers.csv.customer_id", "raw/payments.csv.customer_id", "raw/customers.csv.country"}
"""What decides the rows besides: the join, and the groups of the query and of the chart."""
PARTS = {
    ("shop.clean", "shop"),
    ("shop.clean.payments", "shop.clean"),
    ("dbt-run-shop", "shop.build"),
    ("train", "shop.train"),
    ("score", "shop.score"),
    ("score.main.churn_scores", "score"),
}
"""Jobs whose runs are parts of runs of other jobs."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a demo that ended well."""
    place = tmp_path_factory.mktemp("demo") / "Zoë's shop"
    print(run("demo", "--stack", "--once", "--data", str(place)))  # noqa: T201 # the report of a night has it
    return place


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "whence.cli", *words], capture_output=True, text=True, check=False, timeout=3600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def upstream(data: Path, types: str) -> set[str]:
    found = json.loads(run("upstream", DASHBOARD, "--types", types, "-o", "json", "--data", str(data)))
    nodes = [unquote(one["node"]) for one in found["nodes"] if one["node"].startswith("datasetField:")]
    return {name for one in nodes if (name := short(data, one))}


def short(data: Path, node: str) -> str:
    """A column as above; empty for one of a frame, or of a copy of the model under the name of its version."""
    dataset, _, column = node.rpartition(":")
    name = re.sub(r"m-\w+", "m-*", dataset.rpartition(":")[2].removeprefix(f"{data}/shop/"))
    return "" if "result" in name or "frames" in name or name.startswith("models/churn") else f"{name}.{column}"


def test_a_number_on_a_dashboard_leads_to_the_columns_of_the_raw_files(data: Path) -> None:
    assert upstream(data, "direct") == DIRECT
    everything = upstream(data, "both")
    assert everything >= DIRECT | INFLUENCES
    assert not {one for one in everything if one.endswith((".email", ".payment_id"))}


def test_what_tasks_start_is_a_part_of_their_runs(data: Path) -> None:
    store = open_store(sqlite_url(data / "store.db"))
    outer, outer_job = run_table.alias(), job.alias()
    query = (
        select(job.c.name, outer_job.c.name)
        .join(run_table, run_table.c.job_id == job.c.id)
        .join(containment, containment.c.run_id == run_table.c.id)
        .join(outer, outer.c.id == containment.c.container_id)
        .join(outer_job, outer_job.c.id == outer.c.job_id)
    )
    with store.connect() as connection:
        found = {(inner, around) for inner, around in connection.execute(query)}
    assert found >= PARTS
