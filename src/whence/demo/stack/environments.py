"""Python environments of the stack's programs, whose pins Whence cannot share: made once, and kept in the cache."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

import whence_client
from whence.errors import WhenceError

Say = Callable[[str], None]

_HERE = Path(__file__).parent
_PYTHONS = ((3, 11), (3, 12))
"""Superset needs a pandas that has no wheels for later ones."""
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Requirement:
    """The packages of one environment: a lock file beside this module, and what they take of the disk."""

    name: str
    shown: str
    installed_mb: int

    @property
    def lock(self) -> Path:
        """The lock file, with hashes."""
        return _HERE / f"{self.name}.lock"

    @property
    def place(self) -> Path:
        """Where the environment is, or will be."""
        digest = sha256(self.lock.read_bytes()).hexdigest()[:12]
        return user_cache_path("whence", appauthor=False) / f"demo-{self.name}-{digest}"

    @property
    def is_complete(self) -> bool:
        """Whether it has been made."""
        return (self.place / "complete").exists()


PIPELINE = Requirement("stack", "Airflow, pandas, dbt-duckdb, MLflow, scikit-learn", 880)
SUPERSET = Requirement("superset", "Superset", 720)


def make_environments(say: Say) -> tuple[Path, Path]:
    """The environments of the pipeline and of Superset. Raises WhenceError with what to do.

    What is missing is downloaded from PyPI, after a line about what and how large.
    """
    missing = [one for one in (PIPELINE, SUPERSET) if not one.is_complete]
    if missing:
        _announce(missing, say)
    for one in missing:
        _make(one, say)
    _install_client(PIPELINE.place)
    return PIPELINE.place, SUPERSET.place


def _announce(missing: Sequence[Requirement], say: Say) -> None:
    cache = PIPELINE.place.parent
    cache.mkdir(parents=True, exist_ok=True)
    needed = sum(one.installed_mb for one in missing)
    say(f"Downloading from PyPI, once: {'; '.join(one.shown for one in missing)}.")
    say(f"They take {needed / 1000:.1f} GB in {cache}. Your own Python environment stays as it is.")
    free = shutil.disk_usage(cache).free // _MEGABYTE
    if free < 1.5 * needed:
        raise WhenceError(
            f"{cache} has {free} MB free, and {1.5 * needed:.0f} MB are needed: free some, or set XDG_CACHE_HOME"
        )


def _make(one: Requirement, say: Say) -> None:
    with _locked(one.place):
        if one.is_complete:  # by another demo
            return
        say(f"  {one.shown} …")
        for command in _commands(one, _find_python()):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-6:])
                raise WhenceError(
                    f"{one.shown} could not be installed; the last lines of {Path(command[0]).name} are:\n{last}\n"
                    "Run the command to try again. Behind a mirror of PyPI, set PIP_INDEX_URL (of uv: UV_INDEX_URL)."
                )
        (one.place / "complete").touch()


def _commands(one: Requirement, python: str) -> Iterator[list[str]]:
    """With uv if it is here, which takes seconds; else with pip."""
    inside = str(one.place / "bin" / "python")
    if uv := _find_uv():
        yield [*uv, "venv", "--quiet", "--clear", "--python", python, str(one.place)]
        yield [*uv, "pip", "sync", "--quiet", "--require-hashes", "--python", inside, str(one.lock)]
        return
    yield [python, "-m", "venv", "--clear", str(one.place)]
    yield [inside, "-m", "pip", "install", "--quiet", "--no-input", "--require-hashes", "-r", str(one.lock)]


def _find_uv() -> list[str]:
    if find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    found = shutil.which("uv")
    return [found] if found else []


def _find_python() -> str:
    if sys.version_info[:2] in _PYTHONS:
        return sys.executable
    names = [f"python{major}.{minor}" for major, minor in reversed(_PYTHONS)]
    if found := next(filter(None, map(shutil.which, names)), None):
        return found
    raise WhenceError(f"Superset needs {' or '.join(names)}: install one, so that the shell finds it")


def _install_client(place: Path) -> None:
    """Copy the whence-client that this Whence has, with its entry points: it is pure Python, of the same version."""
    (site,) = (place / "lib").glob("python3.*/site-packages")
    source = Path(whence_client.__file__).parent
    shutil.rmtree(site / source.name, ignore_errors=True)
    shutil.copytree(source, site / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    found = distribution("whence-client")
    described = site / f"whence_client-{found.version}.dist-info"
    for old in site.glob("whence_client-*.dist-info"):
        shutil.rmtree(old)
    described.mkdir()
    for name in ("METADATA", "entry_points.txt"):
        (described / name).write_text(found.read_text(name) or "", "utf-8")


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
