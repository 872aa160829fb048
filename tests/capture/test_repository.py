"""Files out of Git objects: real repositories, hostile names, no checkout."""

import os
import subprocess
from pathlib import Path

import pytest

from whence.capture.repository import commit_id, merge_base, read_files
from whence.errors import ArtifactError

HOSTILE = {
    "-rf.sql": "select 1",
    "a b/$(touch owned).sql": "select 2",
    "quote\"'s.sql": "select 3",
    "new\nline.sql": "select 4",
    "tab\there.sql": "select 5",
    "émoji 🌱.sql": "select 'ü'",
    "HEAD.sql": "select 7",
    "empty.sql": "",
}


def git(repository: Path, *arguments: str) -> str:
    identity = {f"GIT_{role}_{key}": "a@example" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    result = subprocess.run(["git", *arguments], cwd=repository, env=environment, capture_output=True, check=True)
    return result.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A branch `change` from `main`, which went on since; nothing of the last commit is checked out."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "one.sql").write_text("select 1 as a", "utf-8")
    (tmp_path / "readme.md").write_text("# no code", "utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "base")
    git(tmp_path, "checkout", "-q", "-b", "change")
    for name, text in HOSTILE.items():
        path = tmp_path / "models" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "models" / "link.sql").symlink_to("/etc/passwd")
    (tmp_path / "models" / "bytes.sql").write_bytes(b"select '\xff'")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "head")
    git(tmp_path, "checkout", "-q", "main")
    (tmp_path / "models" / "one.sql").write_text("select 2 as a", "utf-8")
    git(tmp_path, "commit", "-q", "-a", "-m", "main went on")
    return tmp_path


def test_the_base_is_where_the_branches_parted(repository: Path) -> None:
    base = merge_base(repository, "main", "change")
    assert base == git(repository, "rev-parse", "main~1")
    assert read_files(repository, base) == {"models/one.sql": "select 1 as a"}


def test_hostile_names_are_read_and_nothing_runs(repository: Path) -> None:
    files = read_files(repository, "change")
    assert {name: files[f"models/{name}"] for name in HOSTILE} == HOSTILE
    assert files["models/bytes.sql"] == "select '\ufffd'"
    assert "models/link.sql" not in files
    assert not list(repository.rglob("owned"))
    assert git(repository, "status", "--porcelain") == ""


def test_a_folder_narrows_and_a_name_that_begins_like_it_does_not_count(repository: Path) -> None:
    assert set(read_files(repository, "main", under="models")) == {"models/one.sql"}
    assert read_files(repository, "main", under="mod") == {}


def test_a_file_that_is_too_large_is_no_code(repository: Path) -> None:
    (repository / "dump.sql").write_text("x" * (5 * 1024 * 1024), "utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "dump")
    assert "dump.sql" not in read_files(repository, "main")


@pytest.mark.parametrize("revision", ["nowhere", "--all", "-h", "", "main:models/one.sql", "a\nb"])
def test_what_is_no_commit_is_an_error_with_the_place(repository: Path, revision: str) -> None:
    with pytest.raises(ArtifactError) as refused:
        commit_id(repository, revision)
    assert str(repository) in str(refused.value)


def test_histories_without_a_common_commit_are_an_error(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-q", "-m", "other")
    with pytest.raises(ArtifactError):
        merge_base(repository, "main", "other")


def test_a_folder_without_a_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError):
        read_files(tmp_path, "HEAD")
