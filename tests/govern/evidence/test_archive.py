"""ZIP files and directories from elsewhere: no name leads out of the directory, and nothing but files is read."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from whence.errors import EvidenceError
from whence.govern.evidence.archive import is_safe_name, read_directory, unzip_files, write_directory, zip_files

HOSTILE = (
    "../evil",
    "..",
    ".",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "C:evil",
    ".hidden",
    "",
    "a\0b",
    "a\nb",
    "-rf",
    "evil.",
    "é",
    "x" * 65,
    "a b",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused(name: str, tmp_path: Path) -> None:
    assert not is_safe_name(name)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = name
        opened.writestr(entry, b"x")
    if "\0" not in name:  # the library cuts such a name
        with pytest.raises(EvidenceError, match="not safe"):
            unzip_files(archive.getvalue())
    with pytest.raises(EvidenceError, match="not safe"):
        write_directory({name: b"x"}, tmp_path / "inner" / "pack")
    assert [*tmp_path.rglob("*")] == [tmp_path / "inner", tmp_path / "inner" / "pack"]


def test_files_come_back_and_equal_files_give_equal_bytes() -> None:
    files = {"b.json": b"{}" * 1000, "a.txt": b"\xff\0"}
    archive = zip_files(files)
    assert archive == zip_files(dict(sorted(files.items())))
    assert unzip_files(archive) == files


@pytest.mark.parametrize("archive", [b"", b"PK", b"nothing", zip_files({"a": b"x" * 100})[:-30]])
def test_a_damaged_archive_is_refused(archive: bytes) -> None:
    with pytest.raises(EvidenceError, match="no whole ZIP file"):
        unzip_files(archive)


def test_an_archive_with_changed_content_is_refused() -> None:
    archive = bytearray(zip_files({"a.txt": b"abc" * 100}))
    archive[40] ^= 1
    with pytest.raises(EvidenceError):
        unzip_files(bytes(archive))


def test_a_directory_with_anything_in_it_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(EvidenceError, match="not empty"):
        write_directory({"a": b"x"}, tmp_path)
    assert (tmp_path / "mine").read_text() == "kept"


def test_links_and_directories_are_not_read(tmp_path: Path) -> None:
    write_directory({"a.txt": b"x"}, tmp_path)
    assert read_directory(tmp_path) == {"a.txt": b"x"}
    os.symlink("a.txt", tmp_path / "link")
    with pytest.raises(EvidenceError, match="'link' is no plain file"):
        read_directory(tmp_path)
    (tmp_path / "link").unlink()
    (tmp_path / "inner").mkdir()
    with pytest.raises(EvidenceError, match="'inner' is no plain file"):
        read_directory(tmp_path)


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EvidenceError, match="cannot be written"):
        write_directory({"a": b"x"}, tmp_path / "file" / "inner")
    with pytest.raises(EvidenceError, match="cannot be read"):
        read_directory(tmp_path / "nothing")
