"""From a score back to the raw columns, the model version and the commit: a real MLflow, pandas, scikit-learn, Whence.

`make nightly-mlflow` runs it. The jobs are in `jobs`; `whence run` starts them as users do.
"""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from nightly.mlflow.record import write_data
from nightly.mlflow.tracking import ROOT, Tracking, tracking
from nightly.producers.served import Served, column_id, serving
from whence.capture.mlflow.source import capture
from whence.capture.polling.cursors import Cursors
from whence.capture.polling.poll import Polled, Poller
from whence_client.captures import Naming
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings

SECRET = "hush-4711"


@dataclass(frozen=True)
class Shop:
    """A Whence and an MLflow that know of each other by the jobs in a lake."""

    served: Served
    server: Tracking
    key: str
    lake: Path

    def run(self, job: str, *words: str) -> None:
        """Run a job below `whence run`."""
        to = {"WHENCE_URL": self.served.url, "WHENCE_API_KEY": self.key, "WHENCE_OUTBOX": str(self.lake / "outbox")}
        self.server.run(job, *words, OPENLINEAGE_NAMESPACE="prod", **to)

    def poll(self) -> Polled:
        """One poll as `whence capture run mlflow` does it."""
        source: Any = capture.configure({"uri": self.server.uri})
        settings = Settings(url=self.served.url, api_key=self.key, outbox=str(self.lake / "polled"), exit_seconds=30)
        outbox = Outbox(settings)
        cursors = Cursors(self.lake / "cursors")
        naming = Naming("mlflow", source.instance)
        try:
            done = Poller(capture=source, outbox=outbox, cursors=cursors, naming=naming).poll()
            assert outbox.flush(60)
        finally:
            outbox.close()
        self.served.admin.await_all()
        return done

    @property
    def models(self) -> str:
        """The namespace of models."""
        return self.server.uri.replace("http://", "mlflow://")

    def sources(self, name: str, column: str, types: str) -> set[str]:
        """All columns upstream of a column of a file: `customers.age`, `models/churn/1.age`."""
        node = column_id("file", str(self.lake / name), column)
        edges = self.served.admin.upstream(node, types=types, depth=20)["data"]["edges"]
        return {self._short(one["source"]) for one in edges}

    def _short(self, node: str) -> str:
        dataset, _, column = node.rpartition(":")
        name = unquote(dataset.rpartition(":")[2])
        return f"{Path(name).stem if name.startswith('/') else name}.{unquote(column)}"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    lake = tmp_path_factory.mktemp("lake").resolve()
    write_data(lake)
    with serving(tmp_path_factory.mktemp("whence")) as served, tracking(lake) as server:
        models = server.uri.replace("http://", "mlflow://")
        yield Shop(served, server, served.user("ml", "writer", "prod", "mlflow", models).key, lake)


def test_a_score_leads_to_raw_columns_the_model_version_and_the_commit(shop: Shop) -> None:
    shop.run("train", "prod/churn", "churn")
    alias = {"name": "churn", "alias": "champion", "version": "1"}
    httpx.post(f"{shop.server.uri}/api/2.0/mlflow/registered-models/alias", json=alias).raise_for_status()
    shop.run("train", "prod/churn", "churn")
    shop.run("score", "prod/churn", "churn", "champion")
    assert (shop.poll().problem, shop.poll().problem) == ("", "")

    (made,) = {one for one in shop.served.admin.names(shop.models) if _is_source_of_first(shop, one)}
    direct = shop.sources("scores.parquet", "p", "direct")
    assert direct == {"new.age", "new.amount", "customers.age", "customers.amount", "customers.churned"} | {
        f"{made}.{field}" for field in ("age", "spend", "target")
    }
    everything = shop.sources("scores.parquet", "p", "both")
    assert {"models/churn/1.age", "models/churn/1.spend"} <= everything
    assert not [one for one in everything if one.startswith("models/churn/2")]

    job = shop.served.admin.job("mlflow", "prod/churn")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert head.stdout.strip() in json.dumps(job)
    version = shop.served.admin.dataset(shop.models, "models/churn/1")
    assert "mlflow.alias.champion" in json.dumps(version)


def _is_source_of_first(shop: Shop, name: str) -> bool:
    """Whether a logged model is the one that version 1 is a copy of, as MLflow itself says."""
    query = {"name": "churn", "version": "1"}
    reply = httpx.get(f"{shop.server.uri}/api/2.0/mlflow/model-versions/get", params=query).raise_for_status()
    source = str(reply.json()["model_version"]["source"])
    return name == source.replace("models:/", "models/")


def test_undo_leaves_every_object_of_mlflow_as_it_was(shop: Shop) -> None:
    assert shop.server.run("undo", WHENCE_TRANSPORT="off").splitlines()[-1] == "as it was"


def test_no_secret_of_the_jobs_is_in_the_log(shop: Shop) -> None:
    for path in (shop.served.data / "log").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
