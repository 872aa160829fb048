"""The roastery's warehouse, built by a real dbt in an environment of its own (it pins what Whence must not pin)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE / "requirements.lock"
COMMANDS = ("dbt build", "dbt docs generate", "dbt source freshness", "dbt-ol build")
"""The second build is the one that is captured: incremental models read themselves, and the catalog is there.

dbt-ol is dbt with OpenLineage's own capture beside it; what it says is in `dbt-ol.jsonl`.
"""
TRANSPORT = {
    "OPENLINEAGE__TRANSPORT__TYPE": "file",
    "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": "dbt-ol.jsonl",
    "OPENLINEAGE__TRANSPORT__APPEND": "true",
    "OPENLINEAGE_NAMESPACE": "dbt",
}


@pytest.fixture(scope="session")
def dbt() -> Path:
    """The directory of dbt's environment; made from the lock file if it is not there."""
    given = os.environ.get("WHENCE_TEST_DBT")
    return Path(given) if given else environment("dbt", LOCK)


@pytest.fixture(scope="session")
def target(dbt: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`target/` after the warehouse was built twice."""
    project = tmp_path_factory.mktemp("roastery") / "warehouse"
    shutil.copytree(HERE / "warehouse", project, ignore=shutil.ignore_patterns("target", "logs", "*.duckdb"))
    load = "import duckdb, pathlib; duckdb.connect('roastery.duckdb').execute(pathlib.Path('raw.sql').read_text())"
    run(str(dbt / "bin" / "python"), "-c", load, cwd=project)
    for command in COMMANDS:
        program, *words = command.split()
        run(str(dbt / "bin" / program), "--no-version-check", "--quiet", *words, "--project-dir", ".", cwd=project)
    return project / "target"


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a command, and show what it said if it fails."""
    environment = {**os.environ, **TRANSPORT, "DBT_PROFILES_DIR": ".", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    environment["PATH"] = os.pathsep.join((str(Path(command[0]).parent), os.environ["PATH"]))  # dbt-ol calls dbt
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
