"""Captures that poll a server: each with the recorded answers of a real one, and the lineage that its jobs declare."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain

import pytest

from capture.airflow.replay import replaying
from capture.bi.metabase.replay import replaying as replaying_metabase
from capture.bi.superset.replay import replaying as replaying_superset
from capture.dagster.replay import replaying as replaying_dagster
from capture.prefect.replay import replaying as replaying_prefect
from capture.warehouses.emulators import TOKEN, emulating_databricks, emulating_snowflake
from capture.warehouses.replay_bigquery import replaying as replaying_bigquery


@dataclass(frozen=True)
class ServerCase:
    """A capture, and a server of its system. `serve` gives the address while it is open.

    `edges` are between datasets, by the last parts of their names. `failed` is a part of the message of a failure,
    `killed` the job of a run whose process was killed, or that somebody canceled; both are empty of a tool that runs
    nothing. `table` is a dataset named as other captures name it. `options` are those of the capture beside `url`.
    """

    capture: str
    serve: Callable[[], AbstractContextManager[str]]
    edges: frozenset[str]
    failed: str
    killed: str
    table: tuple[str, str]
    lost: str
    release: str
    options: tuple[str, ...] = ()
    has_stack: bool = True
    """Whether a failure has the stack of an exception."""

    def words(self, url: str) -> tuple[str, ...]:
        """The words of `whence capture` that poll the server."""
        return ("run", self.capture, *chain.from_iterable(("--set", one) for one in (f"url={url}", *self.options)))


@contextmanager
def serve_airflow() -> Iterator[str]:
    """An Airflow with the runs of tests/nightly/orchestrators/airflow_dags."""
    with replaying() as replay:
        yield replay.url


def _airflow_edges() -> Iterator[str]:
    for stage in ("prod", "staging"):
        yield f"{stage}/raw.csv -> {stage}/clean; drop 1"
        yield f"{stage}/clean; drop 1 -> shop.{stage}.orders"
        yield f"{stage}/raw.csv -> {stage}/late.csv"
    yield "shop.prod.orders -> assets/prod report"


@contextmanager
def serve_dagster() -> Iterator[str]:
    """A Dagster with the runs of tests/nightly/orchestrators/dagster_shop.py."""
    with replaying_dagster() as replay:
        yield replay.url


def _dagster_edges() -> Iterator[str]:
    for stage in ("prod", "staging"):
        yield f"{stage}.feed -> {stage}/raw ü.csv"
        yield f"{stage}/raw ü.csv -> shop.sales.orders"
        yield f"shop.sales.orders -> {stage}/top; drop 1"
        yield f"{stage}/raw ü.csv -> shop.{stage}.flop"
        yield f"{stage}/top; drop 1 -> {stage}/report"
        yield f"shop.sales.orders -> {stage}/retried.csv"
    yield "shop.sales.orders -> prod/days"


@contextmanager
def serve_prefect() -> Iterator[str]:
    """A Prefect with the runs of tests/nightly/orchestrators/prefect_shop.py."""
    with replaying_prefect() as replay:
        yield replay.url


def _prefect_edges() -> Iterator[str]:
    for stage in ("prod", "staging"):
        yield f"{stage}.feed -> {stage}/raw-ü+1.csv"
        yield f"{stage}/raw-ü+1.csv -> shop.{stage}.orders"
        yield f"shop.{stage}.orders -> {stage}/top"


@contextmanager
def serve_superset() -> Iterator[str]:
    """A Superset with the charts of tests/capture/bi/superset."""
    with replaying_superset() as replay:
        yield replay.url


SUPERSET_EDGES = frozenset(
    (
        'shop.sales.orders -> 1 Revenue "by" country / ü',
        "shop.sales.orders -> charts/2 Per day",
        "shop.sales.orders -> charts/3 Raw",
        "shop.sales.orders -> charts/4 Best customers",
        "shop.crm.users -> charts/4 Best customers",
        "STAGE.RAW.EVENTS -> charts/6 Kinds",
        "acme-dev.lab.trips -> charts/7 Old",
        "shop.sales.orders -> charts/10 Unknown",
        '1 Revenue "by" country / ü -> dashboards/1 Overview ü',
        "charts/4 Best customers -> dashboards/1 Overview ü",
    )
)


@contextmanager
def serve_metabase() -> Iterator[str]:
    """A Metabase with the cards of tests/capture/bi/metabase."""
    with replaying_metabase() as replay:
        yield replay.url


METABASE_EDGES = frozenset(
    (
        'shop.sales.orders -> 1 Revenue by country / "ü"',
        'shop.crm.users -> 1 Revenue by country / "ü"',
        "shop.sales.orders -> cards/2 Model of orders",
        "cards/2 Model of orders -> cards/3 On the model",
        "shop.sales.orders -> cards/4 Nested",
        "shop.crm.users -> cards/4 Nested",
        "shop.sales.orders -> cards/5 Native",
        "shop.crm.users -> cards/5 Native",
        "cards/2 Model of orders -> cards/6 Native on card",
        "STAGE.RAW.EVENTS -> cards/7 New spelling",
        "shop.crm.users -> cards/8 Everything",
        "shop.sales.orders -> cards/10 Segment",
        "shop.sales.orders -> cards/15 Lost field",
        '1 Revenue by country / "ü" -> dashboards/1 Overview ü',
        "cards/3 On the model -> dashboards/1 Overview ü",
        "cards/5 Native -> dashboards/2 Old",
    )
)


@contextmanager
def serve_snowflake() -> Iterator[str]:
    """A Snowflake with the histories of tests/capture/warehouses."""
    with emulating_snowflake() as emulator, pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_SNOWFLAKE_TOKEN", TOKEN)
        yield emulator.url


def _snowflake_edges() -> Iterator[str]:
    for database in ("PROD", "STAGING"):
        yield f"{database}.RAW.ORDERS -> {database}.MART.TOTALS"
        yield f"{database}.MART.TOTALS -> {database}.MART.V_TOTALS"
        yield f"{database}.MART.V_TOTALS -> {database}.MART.COPIES"
        yield f'{database}.RAW.Input ü -> {database}.MART.Weird; drop "x" ü'
        yield f"{database}.RAW.ORDERS -> {database}.MART.LATE"
        yield f"{database}.RAW.@landing/orders.csv -> {database}.RAW.ORDERS"
    yield "DEV.MART.TOTALS -> DEV.MART.V_TOTALS"
    yield "DEV.RAW.ORDERS -> DEV.temp-7.scratch"
    yield "DEV.temp-7.scratch -> DEV.MART.KEPT"


@contextmanager
def serve_databricks() -> Iterator[str]:
    """A Databricks with the system tables of tests/capture/warehouses."""
    with emulating_databricks() as emulator, pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_DATABRICKS_TOKEN", TOKEN)
        yield emulator.url


def _databricks_edges() -> Iterator[str]:
    for catalog in ("prod", "staging"):
        yield f"{catalog}.raw.orders -> {catalog}.mart.totals"
        yield f"{catalog}.mart.totals -> {catalog}.mart.v_totals"
        yield f"{catalog}.mart.v_totals -> {catalog}.mart.copies"
        yield f"{catalog}.raw.input ü -> {catalog}.mart.weird; drop ü"
        yield f"{catalog}.raw.orders -> {catalog}.mart.late"
        yield f"{catalog}.mart.copies -> {catalog}.mart.features"
        yield f"{catalog}/orders ü.csv -> {catalog}.raw.orders"


@contextmanager
def serve_bigquery() -> Iterator[str]:
    """A BigQuery with the jobs of tests/capture/warehouses."""
    with replaying_bigquery() as replay, pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_BIGQUERY_TOKEN", TOKEN)
        yield replay.url


def _bigquery_edges() -> Iterator[str]:
    for stage, script in (("prod", "job_0010"), ("staging", "job_0022")):
        yield f"acme.{stage}_raw.orders -> acme.{stage}_mart.totals"
        yield f"acme.{stage}_mart.totals -> acme.{stage}_mart.v_totals"
        yield f"acme.{stage}_mart.v_totals -> acme.{stage}_mart.copies"
        yield f"acme.{stage}_raw.input ü -> acme.{stage}_mart.weird; drop ü"
        yield f"{stage}/orders ü.csv -> acme.{stage}_raw.orders"
        yield f"acme.{stage}_mart.totals -> acme.{stage}_mart.totals_copy"
        yield f"acme.{stage}_mart.totals -> {stage}/totals-*.csv"
        yield f"acme.{stage}_raw.orders -> acme.temp-{script}.scratch"
        yield f"acme.temp-{script}.scratch -> acme.{stage}_mart.kept"


SERVER_CASES = (
    ServerCase(
        "airflow",
        serve_airflow,
        frozenset(_airflow_edges()),
        "ValueError: kaput",
        "prod.orders.killed",
        ("postgres://db:5432", "shop.prod.orders"),
        "columns, datasets that are no assets, what the API's user may not read (named)",
        "Airflow 3.3.2",
    ),
    ServerCase(
        "dagster",
        serve_dagster,
        frozenset(_dagster_edges()),
        "ValueError: kaput",
        "shop.prod_broken.prod__killed",
        ("duckdb:///lake/prod/shop.duckdb", "shop.sales.orders"),
        "what ops read and write beside assets, the place of assets that name none (named)",
        "Dagster 1.13.27",
    ),
    ServerCase(
        "prefect",
        serve_prefect,
        frozenset(_prefect_edges()),
        "ValueError: kaput",
        "dev-endless.waits",
        ("postgres://db:5432", "shop.prod.orders"),
        "columns, what tasks read and write beside assets, runs older than Prefect's events (named)",
        "Prefect 3.9.1",
    ),
)

SLOW_SERVER_CASES = (
    ServerCase(
        "superset",
        serve_superset,
        SUPERSET_EDGES,
        "",
        "",
        ("postgres://db:5432", "shop.sales.orders"),
        "Jinja that a viewer decides, what the API's user may not see (named)",
        "answers of the documented API",
    ),
    ServerCase(
        "metabase",
        serve_metabase,
        METABASE_EDGES,
        "",
        "",
        ("postgres://db:5432", "shop.sales.orders"),
        "segments, snippets, what the API's user may not see (named)",
        "answers of the documented API",
    ),
    ServerCase(
        "snowflake",
        serve_snowflake,
        frozenset(_snowflake_edges()),
        "invalid identifier 'MISSING'",
        "write.CANCELLED",
        ("snowflake://acme-prod", "PROD.MART.TOTALS"),
        "the last three hours, the buckets behind stages",
        "the documented views, by an emulator",
        ("namespace=snowflake://acme-prod",),
        has_stack=False,
    ),
    ServerCase(
        "bigquery",
        serve_bigquery,
        frozenset(_bigquery_edges()),
        "Unrecognized name: missing",
        "write.cancelled",
        ("bigquery", "acme.prod_mart.totals"),
        "columns of copies, what functions in JavaScript do",
        "answers of the documented API",
        ("project=acme",),
        has_stack=False,
    ),
    ServerCase(
        "databricks",
        serve_databricks,
        frozenset(_databricks_edges()),
        "[UNRESOLVED_COLUMN] missing",
        "write.cancelled",
        ("databricks://acme", "prod.mart.totals"),
        "writes to paths alone, how a column is computed where there is no text",
        "the documented system tables, by an emulator",
        ("namespace=databricks://acme", "warehouse=w1"),
        has_stack=False,
    ),
)
"""Captures that differ from others in `records` and `translate` alone: `--long`. Their own tests always run."""
