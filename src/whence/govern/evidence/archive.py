"""A pack as one ZIP file of deterministic bytes, and unpacking that trusts nothing in it."""

import io
import os
import re
import zipfile
import zlib
from pathlib import Path

from whence.errors import EvidenceError
from whence.govern.evidence.statement import Files

_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can have."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
MOST_BYTES = 8 << 30
"""The most bytes that are unpacked."""


def is_safe_name(name: str) -> bool:
    """Whether a name is that of a file right in a directory, on every system."""
    return _NAME.fullmatch(name) is not None and not name.endswith(".")


def zip_files(files: Files) -> bytes:
    """The files as a ZIP archive: equal files give equal bytes."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, files[name], compresslevel=6)
    return found.getvalue()


def unzip_files(archive: bytes) -> dict[str, bytes]:
    """The files in a ZIP archive. Raises EvidenceError if it is damaged, too large, or has a name with a path."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entries = opened.infolist()
            if sum(one.file_size for one in entries) > MOST_BYTES:
                raise EvidenceError("the pack", f"it is larger than {MOST_BYTES >> 30} GiB")
            for one in entries:
                if not is_safe_name(one.filename):
                    raise EvidenceError("the pack", f"it has a file with the name {one.filename!r}, which is not safe")
            return {one.filename: opened.read(one) for one in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise EvidenceError("the pack", f"it is no whole ZIP file: {error}") from None


def read_pack(path: Path) -> dict[str, bytes]:
    """The files of a pack, which is a directory or a ZIP file, without writing any. Raises EvidenceError."""
    if path.is_dir():
        return read_directory(path)
    try:
        return unzip_files(path.read_bytes())
    except OSError as error:
        raise EvidenceError(str(path), f"it cannot be read: {error.strerror}") from None


def write_directory(files: Files, directory: Path) -> None:
    """Write the files into a new or empty directory. Raises EvidenceError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise EvidenceError(str(directory), "it is not empty; name a new directory")
        for name, content in sorted(files.items()):
            if not is_safe_name(name):
                raise EvidenceError(str(directory), f"a file with the name {name!r} is not safe")
            with os.fdopen(os.open(directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                file.write(content)
    except OSError as error:
        raise EvidenceError(str(directory), f"it cannot be written: {error.strerror}") from None


def read_directory(directory: Path) -> dict[str, bytes]:
    """The files right in a directory. Raises EvidenceError for links, directories and whatever else is no file."""
    try:
        entries = sorted(os.scandir(directory), key=lambda one: one.name)
        if odd := [one.name for one in entries if not one.is_file(follow_symlinks=False)]:
            raise EvidenceError(str(directory), f"{odd[0]!r} is no plain file, and no pack has such an entry")
        return {one.name: Path(one.path).read_bytes() for one in entries}
    except OSError as error:
        raise EvidenceError(str(directory), f"it cannot be read: {error.strerror}") from None
