"""Captures that poll a server: each with the recorded answers of a real one, and the lineage that its jobs declare."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from capture.airflow.replay import replaying
from capture.dagster.replay import replaying as replaying_dagster
from capture.prefect.replay import replaying as replaying_prefect


@dataclass(frozen=True)
class ServerCase:
    """A capture, and a server of its system. `serve` gives the address while it is open.

    `edges` are between datasets, by the last parts of their names. `failed` is a part of the message of a failure,
    `killed` the job of a run whose process was killed, `table` a dataset named as other captures name it.
    """

    capture: str
    serve: Callable[[], AbstractContextManager[str]]
    edges: frozenset[str]
    failed: str
    killed: str
    table: tuple[str, str]
    lost: str
    release: str


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
