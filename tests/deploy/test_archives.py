"""What is published: wheels and source archives of both packages. `make dist` gives those that it built (`DIST`)."""

import email.policy
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT_BYTES = 340_000


def build(source: Path, into: Path, *kinds: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", *kinds, "-d", str(into)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the four."""
    if given := os.environ.get("DIST"):
        return ROOT / given
    into = tmp_path_factory.mktemp("dist")
    for source in (ROOT, ROOT / "client"):
        build(source, into)
    return into


def wheel(archives: Path, name: str) -> zipfile.ZipFile:
    (found,) = archives.glob(f"{name}-*.whl")
    return zipfile.ZipFile(found)


def source_archive(archives: Path, name: str) -> Path:
    (found,) = archives.glob(f"{name}-[0-9]*.tar.gz")
    return found


def metadata(archives: Path, name: str) -> EmailMessage:
    with wheel(archives, name) as opened:
        (path,) = (one for one in opened.namelist() if one.endswith(".dist-info/METADATA"))
        return BytesParser(EmailMessage, policy=email.policy.default).parsebytes(opened.read(path))


def committed(folder: str, package: str) -> set[str]:
    """The files of a package that Git knows."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", f"{folder}{package}"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return {one.removeprefix(folder) for one in listed if (ROOT / one).exists()}


def packed(names: Sequence[str]) -> set[str]:
    return {one for one in names if ".dist-info/" not in one}


def test_the_wheel_has_the_package_and_the_built_ui_and_nothing_else(archives: Path) -> None:
    with wheel(archives, "whence_lineage") as opened:
        names = packed(opened.namelist())
    of_ui = {one for one in names if one.startswith("whence/ui_files/")}
    assert names - of_ui == committed("src/", "whence")
    assert {"whence/ui_files/index.html", "whence/ui_files/docs.html"} <= of_ui
    assert any(re.fullmatch(r"whence/ui_files/assets/[^/]+\.js", one) for one in of_ui)


def test_the_clients_wheel_is_small_pure_python_and_needs_nothing(archives: Path) -> None:
    (path,) = archives.glob("whence_client-*-py3-none-any.whl")
    assert path.stat().st_size < CLIENT_BYTES
    with wheel(archives, "whence_client") as opened:
        assert packed(opened.namelist()) == committed("client/src/", "whence_client")
    found = metadata(archives, "whence_client")
    assert found.get_all("Requires-Dist") is None
    assert found["Requires-Python"] == ">=3.9"


def test_both_have_one_version_a_licence_and_a_description(archives: Path) -> None:
    both = [metadata(archives, name) for name in ("whence_lineage", "whence_client")]
    assert len({one["Version"] for one in both}) == 1
    for one in both:
        assert one["License-Expression"] == "Apache-2.0"
        assert len(one.get_content()) > 500


@pytest.mark.parametrize("name", ["whence_lineage", "whence_client"])
def test_the_source_archive_builds_the_same_wheel_elsewhere(archives: Path, tmp_path: Path, name: str) -> None:
    """Without Git and Node: whoever packages Whence has neither the history nor npm's registry."""
    archive = source_archive(archives, name)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    shutil.rmtree(source / "ui", ignore_errors=True)
    build(source, tmp_path / "again", "-t", "wheel")
    with wheel(archives, name) as first, wheel(tmp_path / "again", name) as second:
        assert second.namelist() == first.namelist()
        assert metadata(archives, name)["Version"] == metadata(tmp_path / "again", name)["Version"]


def test_the_source_archive_has_no_tools_of_ours(archives: Path) -> None:
    with tarfile.open(source_archive(archives, "whence_lineage")) as opened:
        tops = {one.split("/")[1] for one in opened.getnames() if "/" in one}
    assert {"src", "ui", "pyproject.toml", "hatch_build.py", "PKG-INFO"} <= tops
    assert not tops & {"tests", "bench", ".venv", ".git", ".github", "build", "dist"}
