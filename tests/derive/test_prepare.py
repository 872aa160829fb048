"""Quick starts of the pipeline's JVM: prepared once, used by the next, and never in the way."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from whence.capture.java import java_home
from whence.derive.spark.prepared_jvm import find_prepared, preparing

START = """
import json
from whence.derive.spark.session import close_session, open_session

session = open_session()
gateway = session.sparkContext._gateway
beans = gateway.jvm.java.lang.management.ManagementFactory
said = {
    "arguments": list(beans.getRuntimeMXBean().getInputArguments()),
    "heap": gateway.jvm.java.lang.Runtime.getRuntime().maxMemory(),
    "seed": gateway.jvm.java.lang.System.getenv("PYTHONHASHSEED"),
    "home": gateway.jvm.java.lang.System.getenv("SPARK_HOME"),
    "sum": session.range(10).selectExpr("sum(id)").first()[0],
}
close_session(session)
print(json.dumps(said))
"""
OF_ONE_START = re.compile(
    r"-Djava\.io\.tmpdir=.*|-Xmx.*|-XX:SharedArchiveFile=.*|-Xshare:auto|-Xlog:cds.*"
    r"|-XX:\+IgnoreUnrecognizedVMOptions|-XX:\+UnlockDiagnosticVMOptions|-XX:ArchiveRelocationMode=0"
)


def run(cache: Path, *words: str) -> str:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "JAVA_HOME": str(java_home())}
    return subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A user's cache, prepared: as `make .venv/prepared` left it, if it did; with `--long`, always prepared again."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(java_home()))
        made = None if pytestconfig.getoption("long") else find_prepared()
    if made is None:
        run(cache, "-m", "whence.derive.prepare")
    else:
        place = Path(made.options[0].partition("=")[2]).parent
        shutil.copytree(place, cache / "whence" / place.name)
    return cache


def test_what_another_spark_left_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is prepared; a preparation that is given up leaves nothing either."""
    monkeypatch.setenv("JAVA_HOME", str(java_home()))
    useless = tmp_path / "jvm-0000"
    useless.mkdir()
    (useless / "command.json").write_text(json.dumps(["/nowhere/java", "-cp", "/nowhere/spark.jar"]))

    def prepare_halfway() -> None:
        with preparing(tmp_path) as jvm:
            assert jvm is not None
            assert not useless.exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_halfway()
    assert [one for one in tmp_path.iterdir() if one.is_dir()] == []


def test_a_prepared_jvm_is_started_as_sparks_launcher_would(cache: Path) -> None:
    """As it is where what is prepared is broken: that is as if it were not there."""
    prepared = json.loads(run(cache, "-c", START).splitlines()[-1])
    (command_file,) = cache.rglob("command.json")
    kept = command_file.read_bytes()
    command_file.write_bytes(kept[:100])
    try:
        plain = json.loads(run(cache, "-c", START).splitlines()[-1])
    finally:
        command_file.write_bytes(kept)
    assert plain["sum"] == 45
    (archive,) = (one for one in prepared["arguments"] if one.startswith("-XX:SharedArchiveFile="))
    assert archive.startswith(f"-XX:SharedArchiveFile={cache}")
    assert not any(one.startswith("-XX:SharedArchiveFile=") for one in plain["arguments"])
    mine, theirs = (
        [one for one in command.pop("arguments") if not OF_ONE_START.match(one)] for command in (prepared, plain)
    )
    assert sorted(mine) == sorted(theirs)
    assert prepared == plain


def test_what_is_prepared_is_not_prepared_again(cache: Path) -> None:
    before = {one: one.stat().st_mtime_ns for one in cache.rglob("*.json")}
    assert len(before) == 1
    run(cache, "-m", "whence.derive.prepare")
    assert {one: one.stat().st_mtime_ns for one in cache.rglob("*.json")} == before
