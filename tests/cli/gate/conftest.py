"""A shop whose jobs are in a Git repository, and a store that knows what they wrote in production."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Engine

from query.worlds.random_worlds import Statement, World, load
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName

WAREHOUSE = "postgres://prod:5432"
ORDERS, REVENUE, NOTES = (
    DatasetName(WAREHOUSE, f"shop.{name}") for name in ("silver.orders", "gold.revenue", "silver.notes")
)
BOARD = DatasetName("bi://prod", "Revenue board")
CLEAN, SUM, PUBLISH, NOTE = (JobName("airflow", name) for name in ("clean", "sum", "publish", "note"))
REMOTE = "git@github.example:shop/pipeline.git"
NOW = 1_795_154_400_000_000


def statement(owner: JobName, *edges: tuple[DatasetName, str, DatasetName, str]) -> Statement:
    made = [
        (Edge(source=FieldName(source, a), target=FieldName(target, b), type="DIRECT"), Origin.COLUMN)
        for source, a, target, b in edges
    ]
    made += [
        (Edge(source=source, target=target, type="DIRECT"), Origin.COLUMN)
        for source, target in dict.fromkeys((source, target) for source, _, target, _ in edges)
    ]
    made += [(Edge(source=owner, target=target), Origin.BOUNDARY) for target in {edge[2] for edge in edges}]
    run = f"0b5ba1e0-0000-4000-8000-0000000000{len(owner.name):02}"
    return Statement(owner=owner, edges=tuple(made), start=NOW, run_id=run)


def _code(job: JobName, path: str) -> tuple[JobName, str, str]:
    url = f"https://github.example/shop/pipeline/blob/main/{path}"
    location = {"type": "git", "url": url, "repoUrl": "https://github.example/shop/pipeline", "path": path}
    return job, "sourceCodeLocation", json.dumps(location)


RAW = DatasetName(WAREHOUSE, "shop.public.orders")
SHOP = World(
    statements=(
        statement(CLEAN, (RAW, "amount", ORDERS, "amount"), (RAW, "id", ORDERS, "id")),
        statement(SUM, (ORDERS, "amount", REVENUE, "total")),
        statement(PUBLISH, (REVENUE, "total", BOARD, "bars")),
        statement(NOTE, (RAW, "note", NOTES, "note")),
    ),
    facets=(
        _code(CLEAN, "jobs/clean.py"),
        _code(SUM, "jobs/sum.py"),
        _code(NOTE, "jobs/note.py"),
        (REVENUE, "tags", json.dumps({"tags": [{"key": "certified", "value": "true"}]})),
        (REVENUE, "whence_tier", json.dumps({"tier": 1})),
        (REVENUE, "ownership", json.dumps({"owners": [{"name": "finance"}]})),
        (ORDERS, "ownership", json.dumps({"owners": [{"name": "shop-team"}]})),
        (BOARD, "datasetType", json.dumps({"datasetType": "DASHBOARD"})),
    ),
)


@dataclass(frozen=True)
class Checkout:
    """A Git repository that a test writes to."""

    folder: Path

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, files: Mapping[str, str | None], author: str = "Ann <ann@shop.example>") -> str:
        """Write, delete (None) and commit files; the new commit."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text, "utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change", f"--author={author}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def shop_store(sqlite_store: Engine) -> str:
    """The URL of a store that knows the shop."""
    load(sqlite_store, SHOP)
    return str(sqlite_store.url)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The shop's repository: a branch `main`, and a branch `work` on it that is checked out."""
    for name, value in {"NAME": "Ann", "EMAIL": "ann@shop.example"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    made = Checkout(tmp_path / "pipeline")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    made.git("remote", "add", "origin", REMOTE)
    made.commit(
        {f"jobs/{name}.py": f"# {name}\n" for name in ("clean", "sum", "note", "other")} | {"README.md": "shop"}
    )
    made.git("switch", "-q", "-c", "work")
    return made
