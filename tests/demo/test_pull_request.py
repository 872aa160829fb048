"""`whence demo --gate`: a pull request on the demo's call list, in a Git repository, judged by the demo's store."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine

from api.process import Api
from fixtures.stores_of_events import apply_bodies
from whence.demo.call_lists import call_list, publish_scores, report
from whence.demo.pull_request import COLUMN, FILE, RENAMED, REPOSITORY, show_pull_request
from whence.errors import ArtifactError
from whence.govern.gate.policy import Verdict


class Outbox:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def emit(self, event: dict[str, object]) -> bool:
        self.bodies.append(json.dumps(event).encode())
        return True


@pytest.fixture
def published(sqlite_store: Engine, tmp_path: Path) -> str:
    """The URL of a store that knows the call lists and their report."""
    outbox, rows = Outbox(), [{"customer_id": one, "churn_probability": 0.9} for one in (1, 2)]
    for path in ("silver/customers", "gold/predictions"):
        (tmp_path / path).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / path / "part.parquet")
    publish_scores(tmp_path, outbox)
    apply_bodies(sqlite_store, outbox.bodies)
    return str(sqlite_store.url)


def test_a_renamed_contracted_column_is_blocked_with_its_comment(published: str, tmp_path: Path) -> None:
    printed: list[str] = []
    judged = show_pull_request(tmp_path / "pull-request", published, printed.append)
    assert judged.judgement.verdict is Verdict.BLOCKED
    (change,) = judged.judgement.changes
    assert (change.change.kind, change.change.before, change.change.after) == ("renamed", COLUMN, RENAMED)
    assert {"contract", "breaking"} <= {one.rule for one in change.reasons}
    assert [hit.kind for hit in judged.summary.leading] == ["dashboard"]
    assert judged.summary.leading[0].subject == report(tmp_path)
    comment = next(one for one in printed if one.startswith("<!-- whence:gate -->"))
    assert "blocked: 1 change, 1 dashboard affected" in comment
    assert f"`{COLUMN}` → `{RENAMED}`" in comment
    assert printed[-1] == "exit code 5: blocked"


def test_the_pull_request_is_one_commit_on_a_branch_of_another_author(published: str, tmp_path: Path) -> None:
    folder = tmp_path / "pull-request"
    printed: list[str] = []
    show_pull_request(folder, published, printed.append)
    log = subprocess.run(
        ["git", "-C", str(folder), "log", "--format=%an %s", "main..rename", "--", FILE],
        capture_output=True,
        text=True,
        check=True,
    )
    assert log.stdout == "Ben call the probability a score\n"
    assert any(f"+select customer_id, {COLUMN} as {RENAMED}" in one for one in printed)
    assert call_list("crm-prod").namespace in "\n".join(printed)


def test_without_git_the_reason_is_told(published: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArtifactError, match="Git is not installed"):
        show_pull_request(tmp_path / "pull-request", published, lambda text: None)


def test_the_verdict_is_recorded_at_a_server(published: str, tmp_path: Path) -> None:
    api = Api(tmp_path / "server", published, {}).up()
    printed: list[str] = []
    try:
        judged = show_pull_request(tmp_path / "pull", published, printed.append, f"http://127.0.0.1:{api.port}")
        (record,) = [record for record in api.records() if b"whence_gateVerdict" in record.payload]
    finally:
        api.down()
        api.listening.close()
    assert REPOSITORY.encode() in record.payload
    assert f"[open the verdict](<{judged.link}>)" in "\n".join(printed)
    assert f"--record --repository-name {REPOSITORY}" in "\n".join(printed)


def test_the_command_prints_the_same(published: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "whence.demo.pull_request", "--folder", str(tmp_path / "p"), "--store", published]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "exit code 5: blocked"
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, "File exists" in again.stderr) == (1, True)
