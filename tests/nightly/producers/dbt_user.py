"""What a user of dbt does: `dbt-ol build` or `dbt build`, then perhaps `whence capture dbt`."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE.parent.parent / "capture" / "dbt" / "requirements.lock"
"""The same dbt as for the tests of the capture."""


@dataclass(frozen=True, slots=True)
class Project:
    """A copy of the project in `dbt_shop`, with a database of its own for each target."""

    place: Path
    base: Path
    url: str
    key: str
    job_namespace: str
    target: str

    @property
    def database(self) -> Path:
        return self.base / f"{self.target}.duckdb"

    def build(self, program: str) -> str:
        """Run `dbt build` or `dbt-ol build`: two nodes of the project fail. What it printed."""
        done = self._run(str(self.place / "bin" / program), "build", "--project-dir", ".")
        assert done.returncode == 1, done.stdout + done.stderr
        assert "PASS=9 WARN=1 ERROR=2 SKIP=1" in done.stdout
        return done.stdout

    def capture(self) -> str:
        """Run `whence capture dbt target/`."""
        done = self._run(sys.executable, "-m", "whence.cli", "capture", "dbt", "target", "--strict")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": os.pathsep.join((str(self.place / "bin"), os.environ["PATH"])),  # dbt-ol calls dbt
            "DBT_PROFILES_DIR": ".",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "SHOP_TARGET": self.target,
            "SHOP_PROD": str(self.base / "prod.duckdb"),
            "SHOP_DEV": str(self.base / "dev.duckdb"),
            "OPENLINEAGE_URL": self.url,
            "OPENLINEAGE_API_KEY": self.key,
            "WHENCE_API_KEY": self.key,
            "OPENLINEAGE_NAMESPACE": self.job_namespace,
        }
        return subprocess.run(
            command, cwd=self.base, env=environment, capture_output=True, text=True, check=False, timeout=1800
        )


def project(base: Path, url: str, key: str, job_namespace: str, target: str) -> Project:
    """A project in a new directory."""
    shutil.copytree(HERE / "dbt_shop", base, ignore=shutil.ignore_patterns("target", "logs", "*.duckdb"))
    return Project(environment("dbt", LOCK), base, url, key, job_namespace, target)
