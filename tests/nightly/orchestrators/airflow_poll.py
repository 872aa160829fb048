"""A real Airflow, polled with `whence capture` as users do, beside the events of its OpenLineage provider.

`make nightly-airflow` runs it. The lineage that is expected was written from reading `airflow_dags/shop.py`.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from nightly.orchestrators.airflow_server import NAMESPACE, PASSWORD, VIEWER, Airflow, airflow
from nightly.orchestrators.record_airflow import REPORT, run_dags
from nightly.producers.served import Served, User, dataset_id, serving

SECRET = "hush-4711"
TRIES = {
    "load": 1,
    "second_try": 2,
    "store": 1,
    "part": 3,
    "boom": 1,
    "killed": 1,
    "skips": 1,
    "resumes": 1,
}
"""Runs of the tasks of `orders`, of which `never` has none."""


@dataclass(frozen=True)
class Shop:
    """A Whence that polls an Airflow."""

    served: Served
    server: Airflow
    key: str
    home: Path

    def capture(self, *words: str) -> str:
        """What `whence capture` prints, as a user who may look at everything in Airflow, and change nothing."""
        to = {"WHENCE_URL": self.served.url, "WHENCE_API_KEY": self.key, "WHENCE_OUTBOX": str(self.home / "outbox")}
        source = {"WHENCE_AIRFLOW_USER": VIEWER, "WHENCE_AIRFLOW_PASSWORD": PASSWORD}
        options = ("--set", f"url={self.server.url}", "--job-namespace", NAMESPACE, "--data", str(self.home))
        command = [sys.executable, "-m", "whence.cli", "capture", *words, *options]
        done = subprocess.run(command, env={**os.environ, **to, **source}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def admin(self) -> User:
        """Who sees everything."""
        return self.served.admin


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    home = tmp_path_factory.mktemp("airflow").resolve()
    with serving(tmp_path_factory.mktemp("whence")) as served, airflow(home) as server:
        assets = server.url.replace("http://", "airflow://")
        made = Shop(served, server, served.user("poller", "writer", NAMESPACE, assets).key, home)
        run_dags(server)
        made.capture("run", "airflow")
        server.clear(REPORT)
        printed = made.capture("run", "airflow")
        assert "incomplete" not in printed
        served.admin.await_all()
        yield made


def test_a_report_leads_back_to_the_raw_file(shop: Shop) -> None:
    assets = shop.server.url.replace("http://", "airflow://")
    edges = shop.admin.upstream(dataset_id(assets, "assets/prod report"), depth=9)["data"]["edges"]
    names = {one["source"].rpartition(":")[2] for one in edges if one["source"].startswith("dataset:")}
    assert {"shop.prod.orders", "prod/clean; drop 1", "/lake/prod/raw.csv"} <= names
    assert not [one for one in names if "staging" in one or "never" in one]


def test_what_a_failed_task_was_to_write_is_not_written(shop: Shop) -> None:
    written = shop.admin.names("file")
    assert "/lake/prod/late.csv" in written
    assert not [one for one in written if "never" in one]


def test_each_try_is_one_run_with_its_state(shop: Shop) -> None:
    found = {task: len(shop.admin.runs(NAMESPACE, f"prod.orders.{task}")) for task in TRIES}
    assert found == TRIES
    states = {task: shop.admin.runs(NAMESPACE, f"prod.orders.{task}")[0]["state"] for task in TRIES}
    assert Counter(states.values()) == {"COMPLETE": 6, "FAIL": 2}
    assert shop.admin.runs(NAMESPACE, "dev.endless.deferred")[0]["state"] not in ("COMPLETE", "FAIL", "ABORT")


def test_the_provider_and_the_poller_report_the_same_runs(shop: Shop) -> None:
    before = _runs(shop)
    for event in shop.server.provider_events():
        headers = {"Authorization": f"Bearer {shop.key}"}
        httpx.post(f"{shop.served.url}/api/v1/lineage", json=event, headers=headers).raise_for_status()
    shop.admin.await_all()
    assert _runs(shop) == before
    assert len(before[REPORT]) == 2  # it was cleared


def test_a_backfill_changes_no_run(shop: Shop) -> None:
    before = _runs(shop)
    shop.capture("backfill", "airflow", "--since", "2026-01-01")
    shop.admin.await_all()
    assert _runs(shop) == before


def test_no_secret_of_the_dags_is_in_the_log(shop: Shop) -> None:
    for path in (shop.served.data / "log").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def _runs(shop: Shop) -> dict[str, set[str]]:
    jobs = shop.admin.jobs(NAMESPACE)
    return {job: {run["run"] for run in shop.admin.runs(NAMESPACE, job)} for job in jobs}
