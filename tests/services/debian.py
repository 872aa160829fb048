"""Programs of Debian's packages for tests: the machine's own, or unpacked beside the tests' environment.

A package is downloaded and unpacked, not installed: nobody needs to be root for that, and no service is started.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ui.browser.chromium import privilege

_UNPACKED = Path(sys.prefix) / "debian"


def program(name: str, package: str, variable: str) -> str:
    """The path of a program: that of an environment variable, the machine's own, or that of a package."""
    return os.environ.get(variable) or shutil.which(name) or str(_unpacked(package) / "usr" / "bin" / name)


def _unpacked(package: str) -> Path:
    """The folder of an unpacked package. Several processes may ask for it."""
    folder, ready = _UNPACKED / package, _UNPACKED / f"{package}.ready"
    _UNPACKED.mkdir(exist_ok=True)
    with (_UNPACKED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _unpack(package, folder)
            ready.touch()
    return folder


def _unpack(package: str, folder: Path) -> None:
    if not _download(package, folder) and (prefix := privilege()) is not None:
        subprocess.run([*prefix, "apt-get", "update", "-qq"], check=True, capture_output=True)
        _download(package, folder)
    archives = list(folder.glob("*.deb"))
    assert archives, f"{package} of Debian cannot be downloaded; install it, and put its programs into PATH"
    subprocess.run(["dpkg-deb", "-x", str(archives[0]), str(folder)], check=True)
    archives[0].unlink()


def _download(package: str, folder: Path) -> bool:
    command = ["apt-get", "download", "-qq", package]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode == 0
