"""What makes a JVM start quickly, made once for each Spark and Java: the command that Spark's launcher would give, so
that neither its shell scripts nor its own JVM run, and an archive of the classes that a pipeline loads.
"""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path
from pyspark.find_spark_home import _find_spark_home
from pyspark.version import __version__ as spark_version

from whence.errors import SparkStartError

CACHE = user_cache_path("whence", appauthor=False)

MAIN = "org.apache.spark.deploy.SparkSubmit"

_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_IN_PLACE = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
"""Map the archive where its pointers are right: elsewhere the JVM would change most pages, 80 MiB of its own memory."""
_SHARED = "source: shared objects file (top)"
"""The JVM's log text for a class from the archive."""


@dataclass(frozen=True, slots=True)
class PreparedJvm:
    """The command of a driver's JVM up to its main class, and the options about its class archive."""

    command: tuple[str, ...]
    options: tuple[str, ...]


def find_prepared(cache: Path = CACHE) -> PreparedJvm | None:
    """What was prepared for this Spark and Java; None if nothing was."""
    place = _place(cache)
    try:
        command = json.loads((place / "command.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    archive = f"-XX:SharedArchiveFile={place / 'classes.jsa'}"
    return PreparedJvm(tuple(command), (archive, "-Xshare:auto", *_IN_PLACE, *_QUIET))


def is_preparable() -> bool:
    """Whether the command depends on nothing but Spark and Java: a configuration of the user's is the launcher's."""
    return "SPARK_CONF_DIR" not in os.environ and not (Path(_find_spark_home()) / "conf").exists()


@contextmanager
def preparing(cache: Path) -> Iterator[PreparedJvm | None]:
    """A JVM that writes the class archive at its end, for the time of the context; afterwards it is found.

    None if it was prepared before, or another process is at it. Raises SparkStartError if the JVM left no archive, or
    one that another JVM would not use.
    """
    place = _place(cache)
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{place.name}.lock").open("w") as lock:
        if not _lock(lock.fileno()) or place.exists():
            yield None
            return
        _discard_useless(cache)
        fresh = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=cache))
        try:
            command, classes = _launcher_command(), fresh / "classes.jsa"
            yield PreparedJvm(command, (f"-XX:ArchiveClassesAtExit={classes}", *_QUIET))
            _check(command, classes)
            (fresh / "command.json").write_text(json.dumps(command), "utf-8")
            fresh.replace(place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _place(cache: Path) -> Path:
    java = Path(os.environ["JAVA_HOME"])
    release = java / "release"
    parts = (_find_spark_home(), spark_version, str(java), release.read_text("utf-8") if release.exists() else "")
    return cache / f"jvm-{blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()}"


def _discard_useless(cache: Path) -> None:
    """Delete what was prepared for a Spark or a Java that is not there any more: 160 MB each."""
    for prepared in cache.glob("jvm-*/command.json"):
        command = json.loads(prepared.read_text("utf-8"))
        jars = command[command.index("-cp") + 1].split(os.pathsep)
        if not all(Path(file).exists() for file in (command[0], *jars)):
            shutil.rmtree(prepared.parent, ignore_errors=True)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _launcher_command() -> tuple[str, ...]:
    """What Spark's launcher would run, with the jars one by one in order: an archive is for one class path alone."""
    script = Path(_find_spark_home()) / "bin" / "spark-class"
    made = subprocess.run(
        [str(script), "org.apache.spark.launcher.Main", MAIN, "pyspark-shell"], capture_output=True, check=False
    )
    words = [word.strip() for word in made.stdout.decode().split("\0")]
    if MAIN not in words:
        raise SparkStartError(f"Spark's launcher returned no command: {made.stderr.decode().strip()[-200:]}")
    command = [word for word in words[: words.index(MAIN)] if word and not word.startswith("-Xmx")]
    path = command.index("-cp") + 1
    command[path] = os.pathsep.join(_expand(command[path]))
    return tuple(command)


def _expand(class_path: str) -> Iterator[str]:
    """The entries of a class path, with directories of jars as their jars, by name; each once."""
    seen: set[str] = set()
    for entry in class_path.split(os.pathsep):
        jars = sorted(map(str, Path(entry[:-2]).glob("*.jar"))) if entry.endswith("/*") else [entry]
        for jar in jars:
            if jar not in seen and Path(jar).is_file():
                seen.add(jar)
                yield jar


def _check(command: tuple[str, ...], classes: Path) -> None:
    options = (f"-XX:SharedArchiveFile={classes}", "-Xshare:auto", "-Xlog:class+load")
    done = subprocess.run([*command, *options, MAIN, "--version"], capture_output=True, text=True, check=False)
    if _SHARED not in done.stdout:
        raise SparkStartError("a JVM does not use the class archive that was made for it")
