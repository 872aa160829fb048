"""The shop's DAG, run by Airflow in the foreground: no scheduler, and a database of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whence.death_signal import with_parent
from whence.demo.stack.servers import QUIET
from whence.errors import WhenceError

NAMESPACE = "shop"
DAG = "shop"
_ENDED, _OUTPUT, _ERROR = "end task task_id=", "SubprocessHook]", "[error "
"""Parts of lines in Airflow's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orchestration:
    """Where the DAG runs, and where what it does is reported. `mlflow`: the tracking server of its tasks."""

    environment: Path
    folder: Path
    url: str
    mlflow: str

    def run(self, say: Callable[[str], None]) -> None:
        """Run the DAG once, with a line for each task that ends. Raises WhenceError if one fails."""
        (self.folder / "airflow").mkdir()
        for _ in self._airflow("db", "migrate"):
            pass
        for line in self._airflow("dags", "test", DAG):
            if _ENDED in line:
                say(f"  {line.partition(_ENDED)[2].split()[0]}: done")

    def _airflow(self, *words: str) -> Iterator[str]:
        with (self.folder / "airflow.log").open("a") as log, self._started(words) as process:
            assert process.stdout is not None
            for line in process.stdout:
                log.write(line)
                yield line
        if process.returncode:
            log_file = self.folder / "airflow.log"
            failure = f"`airflow {' '.join(words)}` failed ({process.returncode}). From {log_file}:"
            raise WhenceError("\n".join([failure, *_reasons(log_file.read_text(errors="replace"))]))

    @contextmanager
    def _started(self, words: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [f"{self.environment}/bin/airflow", *words],
            env={**_outer_environment(), **QUIET, **self._settings()},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=with_parent(signal.SIGKILL),
        ) as process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise

    def _settings(self) -> Mapping[str, str]:
        transport = {"type": "http", "url": self.url, "endpoint": "api/v1/lineage"}
        return {
            "PATH": os.pathsep.join((f"{self.environment}/bin", os.environ["PATH"])),
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.folder / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__OPENLINEAGE__NAMESPACE": NAMESPACE,
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "MLFLOW_TRACKING_URI": self.mlflow,
            "OPENLINEAGE_NAMESPACE": NAMESPACE,
            "SHOP": str(self.folder),
            "WHENCE_PYTHON": sys.executable,
            "WHENCE_URL": self.url,
        }


def _reasons(log: str) -> list[str]:
    """The last lines of what a task printed, or of Airflow's errors; else the last lines of all."""
    lines = log.strip().splitlines()
    found = [
        one.partition("]")[2].rpartition(" [airflow")[0] or one for one in lines if _OUTPUT in one or _ERROR in one
    ]
    return (found or lines)[-8:]


def _outer_environment() -> dict[str, str]:
    """The user's variables, without those that would mix another Python or another Airflow into this one."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW", "PYTHON", "VIRTUAL_ENV", "OPENLINEAGE", "DBT_", "MLFLOW_"))
    }
