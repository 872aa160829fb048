"""Finding a Java for Spark: golden answers of real Javas, and real executables on a made-up machine."""

import subprocess
from pathlib import Path

import pytest

from whence.capture.java import Java, java_home, main, parse_modules, parse_settings, parse_version
from whence.errors import JavaNotFoundError

DEBIAN_17 = """\
Property settings:
    file.encoding = UTF-8
    java.home = /usr/lib/jvm/java-17-openjdk-amd64
    java.vendor = Debian
    java.version = 17.0.15
    java.version.date = 2025-04-15

openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)
"""

EIGHT_WITH_SPACES = """\
Property settings:
    java.home = /Library/Java Runtimes/jdk1.8.0_402/jre
    java.version = 1.8.0_402

java version "1.8.0_402"
"""


@pytest.mark.parametrize(
    ("answer", "java"),
    [
        (DEBIAN_17, Java(17, Path("/usr/lib/jvm/java-17-openjdk-amd64"))),
        (EIGHT_WITH_SPACES, Java(8, Path("/Library/Java Runtimes/jdk1.8.0_402/jre"))),
        ("    java.home = /opt/j\r\n    java.version = 25-ea\r\n", Java(25, Path("/opt/j"))),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("    java.home = /opt/j\n", None),
        ("", None),
    ],
)
def test_the_answer_of_a_java_is_read(answer: str, java: Java | None) -> None:
    assert parse_settings(answer) == java


@pytest.mark.parametrize(
    ("version", "release"),
    [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8), ("11.0.22", 11), ("25-ea", 25), ("unknown", None)],
)
def test_versions_old_and_new(version: str, release: int | None) -> None:
    assert parse_version(version) == release


def test_the_modules_of_a_release_file() -> None:
    text = 'JAVA_VERSION="21.0.8"\nMODULES="java.base java.sql jdk.net"\nOS_NAME="Linux"\n'
    assert parse_modules(text) == {"java.base", "java.sql", "jdk.net"}
    assert parse_modules('JAVA_VERSION="21.0.8"\n') == frozenset()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Java but those that the test puts there."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("whence.capture.java._candidates_of_pypi", lambda: iter(()))
    return tmp_path


def _java(home: Path, version: str, modules: str = "java.base jdk.incubator.vector") -> Path:
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    settings = f'echo "    java.home = {home}"; echo "    java.version = {version}"'
    binary.write_text(f'#!/bin/sh\nif [ "$1" = -XshowSettings:properties ]; then {settings}; exit; fi\necho "$@"\n')
    binary.chmod(0o755)
    (home / "release").write_text(f'MODULES="{modules}"\n')
    return home


def _on_path(machine: Path, home: Path) -> None:
    (machine / "path").mkdir()
    (machine / "path" / "java").symlink_to(home / "bin" / "java")


def test_java_home_comes_before_the_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _on_path(machine, _java(machine / "other", "21.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(_java(machine / "chosen", "17.0.15")))
    assert java_home() == machine / "chosen"


def test_a_java_that_is_too_old_is_passed_over(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _on_path(machine, _java(machine / "new", "25"))
    monkeypatch.setenv("JAVA_HOME", str(_java(machine / "old", "1.8.0_402")))
    assert java_home() == machine / "new"


def test_without_a_java_the_error_says_what_to_install(machine: Path) -> None:
    with pytest.raises(JavaNotFoundError, match=r"Java 17 or newer .*pip install 'whence-lineage\[java\]'"):
        java_home()


def test_a_java_without_the_vector_module_is_spared_the_option_for_it(machine: Path) -> None:
    home = _java(machine / "a 'small' one", "21.0.8", modules="java.base java.sql")
    _on_path(machine, home)
    given = [
        "--add-modules=jdk.incubator.vector",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "-cp",
        "a b:c",
        "Main",
    ]
    shim = java_home()
    assert shim.is_relative_to(machine / "cache")
    assert java_home() == shim
    answer = subprocess.run([shim / "bin" / "java", *given], capture_output=True, text=True, check=True)
    assert answer.stdout == " ".join(given[1:]) + "\n"


def test_the_check_prints_nothing_if_there_is_a_java(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["java", "--check"])
    assert main() == 1
    assert "Spark needs Java 17" in capsys.readouterr().err
    monkeypatch.setenv("JAVA_HOME", str(_java(machine / "new", "25")))
    assert main() == 0
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("sys.argv", ["java"])
    assert main() == 0
    assert capsys.readouterr().out == f"{machine / 'new'}\n"
