"""Python environments of their own, for programs whose pins Whence cannot share: made from a lock file, and kept."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path


def environment(name: str, lock: Path) -> Path:
    """The directory of the environment that a lock file with hashes describes; made if it is not there."""
    place = user_cache_path("whence", appauthor=False) / f"{name}-{sha256(lock.read_bytes()).hexdigest()[:12]}"
    if (place / "complete").exists():
        return place
    uv = [sys.executable, "-m", "uv", "--quiet"]
    python = str(place / "bin" / "python")
    subprocess.run([*uv, "venv", "--clear", str(place)], check=True)
    subprocess.run([*uv, "pip", "sync", "--require-hashes", "--python", python, str(lock)], check=True)
    (place / "complete").touch()
    return place


def packages(name: str, lock: Path) -> Path:
    """A folder for PYTHONPATH with the packages of a lock file, which come before those of the environment."""
    place = user_cache_path("whence", appauthor=False) / f"{name}-{sha256(lock.read_bytes()).hexdigest()[:12]}"
    if not (place / "complete").exists():
        options = ["--require-hashes", "--no-deps", "--python", sys.executable, "--target", str(place)]
        subprocess.run([sys.executable, "-m", "uv", "--quiet", "pip", "install", *options, "-r", str(lock)], check=True)
        (place / "complete").touch()
    return place
