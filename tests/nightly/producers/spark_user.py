"""What a Spark user has: an environment with the Spark of a lock file, `whence-client`, and a script."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import whence_client
from environments import environment
from whence.capture.java import java_home

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class SparkUser:
    """`base` has `lib`, where `whence_client` can be imported from: Whence itself is not installed."""

    place: Path
    base: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments."""
        python = str(self.place / "bin" / "python")
        environment = {
            **os.environ,
            "JAVA_HOME": str(java_home()),
            "PYTHONPATH": str(self.base / "lib"),
            "PYSPARK_PYTHON": python,
        }
        environment.pop("SPARK_HOME", None)
        return subprocess.run(
            [python, *words],
            env=environment,
            cwd=self.base,
            capture_output=True,
            text=True,
            check=False,
            timeout=3600,
        )


def spark_user(name: str, base: Path) -> SparkUser:
    """A user of the Spark that `NAME.lock` pins, at work in a directory."""
    copy_client(base / "lib")
    return SparkUser(environment(name, HERE / f"{name}.lock"), base)


def copy_client(into: Path) -> None:
    """Put `whence_client` into a directory."""
    package = Path(whence_client.__file__).parent
    shutil.copytree(package, into / "whence_client", ignore=shutil.ignore_patterns("__pycache__"))
