"""A real Feast in an environment of its own: a copy of the shop's repository, applied to a file registry."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments import environment

HERE = Path(__file__).parent
LOCK = HERE / "feast.lock"
RELEASE = "0.67.0"
WRITE_REGISTRY = """import sys
from feast import FeatureStore
from google.protobuf.json_format import MessageToJson
print(MessageToJson(FeatureStore(".").registry.proto()))
"""
"""What the guide says how a registry is written."""
_SECONDS = 300
Json = dict[str, Any]


@dataclass(frozen=True)
class Store:
    """A repository of Feast."""

    folder: Path

    def apply(self) -> None:
        """Write the definitions into the registry."""
        self._run("feast", "apply", "--skip-source-validation")

    def write_registry(self, path: Path) -> None:
        """Write the registry as JSON."""
        path.write_text(self._run("python", "-c", WRITE_REGISTRY), "utf-8")

    def edit(self, old: str, new: str) -> None:
        """Change the definitions."""
        file = self.folder / "features.py"
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")

    def _run(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [str(environment("feast", LOCK) / "bin" / program), *words],
            cwd=self.folder,
            env={**os.environ, "FEAST_USAGE": "False", "FEAST_TELEMETRY": "False"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout


def open_store(folder: Path) -> Store:
    """A copy of the shop's repository in a folder, applied."""
    shutil.copytree(HERE / "shop", folder, ignore=shutil.ignore_patterns("__pycache__"))
    store = Store(folder)
    store.apply()
    return store


def without_code(registry: Json) -> Json:
    """The registry without pickled functions and the history of versions, which repeats it in binary."""
    kept = {key: value for key, value in registry.items() if key not in ("featureViewVersionHistory", "infra")}
    found: Json = json.loads(json.dumps(kept), object_hook=_drop_body)
    return found


def _drop_body(found: Json) -> Json:
    return {key: value for key, value in found.items() if key != "body" or "bodyText" not in found}
