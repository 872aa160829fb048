"""A real Dagster, polled with `whence capture` as users do.

`make nightly-dagster` runs it. The lineage that is expected was written from reading `dagster_shop.py`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nightly.orchestrators.dagster_server import NAMESPACE, Dagster, dagster, run_shop
from nightly.producers.served import Served, User, dataset_id, serving

SECRET = "hush-4711"


@dataclass(frozen=True)
class Shop:
    """A Whence that polls a Dagster."""

    served: Served
    server: Dagster
    key: str
    home: Path

    def capture(self, *words: str) -> str:
        """What `whence capture` prints."""
        to = {"WHENCE_URL": self.served.url, "WHENCE_API_KEY": self.key, "WHENCE_OUTBOX": str(self.home / "outbox")}
        options = ("--set", f"url={self.server.url}", "--job-namespace", NAMESPACE, "--data", str(self.home))
        command = [sys.executable, "-m", "whence.cli", "capture", *words, *options]
        done = subprocess.run(command, env={**os.environ, **to}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    @property
    def admin(self) -> User:
        """Who sees everything."""
        return self.served.admin

    @property
    def orders(self) -> str:
        """The table that DuckDB's I/O manager wrote in prod."""
        return dataset_id(f"duckdb://{self.server.lake}/prod/shop.duckdb", "shop.sales.orders")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    home = tmp_path_factory.mktemp("dagster").resolve()
    with serving(tmp_path_factory.mktemp("whence")) as served, dagster(home) as server:
        assets = server.url.replace("http://", "dagster://")
        made = Shop(served, server, served.user("poller", "writer", NAMESPACE, assets).key, home)
        running = run_shop(server)
        printed = made.capture("run", "dagster")
        assert "asset prod/report: neither" in printed
        server.stop(running)
        server.report("staging/feed")
        made.capture("run", "dagster")
        served.admin.await_all()
        yield made


def test_a_report_leads_back_to_the_topic(shop: Shop) -> None:
    assets = shop.server.url.replace("http://", "dagster://")
    edges = shop.admin.upstream(dataset_id(assets, "assets/prod/report"), depth=9)["data"]["edges"]
    names = {one["source"].rpartition(":")[2] for one in edges if one["source"].startswith("dataset:")}
    lake = shop.server.lake
    assert {"prod/top; drop 1", "shop.sales.orders", f"{lake}/prod/raw ü.csv", "prod.feed"} <= names
    assert not [one for one in names if "staging" in one or "flop" in one]


def test_the_columns_of_a_table_lead_to_those_of_a_file(shop: Shop) -> None:
    column = shop.orders.replace("dataset:", "datasetField:") + ":total"
    edges = shop.admin.upstream(column, depth=2)["data"]["edges"]
    assert {one["source"].rpartition(":")[2] for one in edges} >= {"amount", "price"}


def test_what_failed_wrote_nothing_and_what_was_canceled_is_aborted(shop: Shop) -> None:
    assert not [one for one in shop.admin.names("file") if "never" in one]
    job = "shop.prod_broken"
    states = {step: shop.admin.runs(NAMESPACE, f"{job}.prod__{step}")[0]["state"] for step in ("never", "killed")}
    assert set(states.values()) == {"FAIL"}
    assert [one["state"] for one in shop.admin.runs(NAMESPACE, "shop.prod_daily.prod__retried")].count("FAIL") == 1
    for name in ("lab.__ASSET_JOB", "lab.__ASSET_JOB.dev__endless"):
        assert [one["state"] for one in shop.admin.runs(NAMESPACE, name)] == ["ABORT"]


def test_a_backfill_changes_no_run(shop: Shop) -> None:
    before = _runs(shop)
    assert len(before["reported.prod/feed"]) == len(before["reported.staging/feed"]) == 1
    shop.capture("backfill", "dagster", "--since", "2026-01-01")
    shop.admin.await_all()
    assert _runs(shop) == before


def test_no_secret_of_the_assets_is_in_the_log(shop: Shop) -> None:
    for path in (shop.served.data / "log").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def _runs(shop: Shop) -> dict[str, set[str]]:
    jobs = shop.admin.jobs(NAMESPACE)
    return {job: {run["run"] for run in shop.admin.runs(NAMESPACE, job)} for job in jobs}
