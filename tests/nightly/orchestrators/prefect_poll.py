"""A real Prefect, polled with `whence capture` as users do.

`make nightly-prefect` runs it. The lineage that is expected was written from reading `prefect_shop.py`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nightly.orchestrators.prefect_server import NAMESPACE, Prefect, prefect, run_shop
from nightly.producers.served import Served, User, dataset_id, serving

SECRET = "hush-4711"


@dataclass(frozen=True)
class Shop:
    """A Whence that polls a Prefect."""

    served: Served
    server: Prefect
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


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    home = tmp_path_factory.mktemp("prefect").resolve()
    with serving(tmp_path_factory.mktemp("whence")) as served, prefect(home) as server:
        assets = server.url.replace("http://", "prefect://")
        made = Shop(served, server, served.user("poller", "writer", NAMESPACE, assets).key, home)
        running = run_shop(server)
        printed = made.capture("run", "prefect")
        assert "asset dashboard://prod/top: its key is no URI" in printed
        served.admin.await_all()
        assert served.admin.runs(NAMESPACE, "dev-endless")[0]["state"] not in ("COMPLETE", "FAIL", "ABORT")
        server.cancel(running)
        made.capture("run", "prefect")
        served.admin.await_all()
        yield made


def test_a_dashboard_leads_back_to_the_topic(shop: Shop) -> None:
    assets = shop.server.url.replace("http://", "prefect://")
    edges = shop.admin.upstream(dataset_id(assets, "assets/dashboard://prod/top"), depth=9)["data"]["edges"]
    names = {one["source"].rpartition(":")[2] for one in edges if one["source"].startswith("dataset:")}
    assert {"shop.prod.orders", "prod/raw-ü+1.csv", "prod.feed"} <= names
    assert not [one for one in names if "staging" in one]


def test_what_failed_or_was_killed_wrote_nothing(shop: Shop) -> None:
    assert not [one for one in shop.admin.names("s3://lake") if "never" in one or "killed" in one]
    assert shop.admin.runs(NAMESPACE, "prod-broken.never")[0]["state"] == "FAIL"
    assert [one["state"] for one in shop.admin.runs(NAMESPACE, "dev-endless")] == ["ABORT"]


def test_a_deployment_is_a_job_of_its_own(shop: Shop) -> None:
    jobs = shop.admin.jobs(NAMESPACE)
    assert {"prod-daily/nightly", "prod-daily/nightly.store", "staging-daily", "prod-report.publish"} <= set(jobs)


def test_a_backfill_changes_no_run(shop: Shop) -> None:
    before = _runs(shop)
    shop.capture("backfill", "prefect", "--since", "2026-01-01")
    shop.admin.await_all()
    assert _runs(shop) == before


def test_no_secret_of_the_flows_is_in_the_log(shop: Shop) -> None:
    for path in (shop.served.data / "log").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def _runs(shop: Shop) -> dict[str, set[str]]:
    jobs = shop.admin.jobs(NAMESPACE)
    return {job: {run["run"] for run in shop.admin.runs(NAMESPACE, job)} for job in jobs}
