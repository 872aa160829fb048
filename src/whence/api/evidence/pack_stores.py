"""Where packs are stored on a schedule: a directory, or a bucket of an object store, as the archive is."""

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from whence.errors import EvidenceError
from whence.govern.evidence.archive import write_directory
from whence.govern.evidence.statement import ENVELOPE, Files
from whence.govern.evidence.stored_packs import PackStore

_MARKS = re.compile(r"\x1b\[[0-9;]*m|↳")


def open_pack_store(address: str) -> PackStore:
    """The store at a path or a URL (`s3://bucket/path`, `gs://…`, `abfss://…`)."""
    if address.startswith("file://"):
        return DirectoryOfPacks(Path(address.removeprefix("file://")))
    return BucketOfPacks(address) if "://" in address else DirectoryOfPacks(Path(address))


@dataclass(frozen=True, slots=True)
class DirectoryOfPacks:
    """Packs as directories. A pack appears once it is whole."""

    root: Path

    def has(self, place: str) -> bool:
        """Whether the pack is there."""
        return (self.root / place).is_dir()

    def write(self, place: str, files: Files) -> None:
        """Write a pack beside its place, and move it there."""
        final = self.root / place
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=final.parent))
            try:
                write_directory(files, partial)
                os.rename(partial, final)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
        except OSError as error:
            raise EvidenceError(str(final), f"it cannot be written: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class BucketOfPacks:
    """Packs as objects. The envelope is the last one that is written: without it a pack is not whole.

    deltalake is imported only where it is used: it costs memory.
    """

    address: str

    def has(self, place: str) -> bool:
        """Whether the envelope is there."""
        os.environ.setdefault("RUST_LOG", "error")  # its warnings say at length what the error says, too
        from deltalake.fs import DeltaStorageHandler
        from pyarrow import fs

        try:
            (found,) = DeltaStorageHandler(self.address).get_file_info([f"{place}/{ENVELOPE}"])
        except (OSError, ValueError) as error:
            raise EvidenceError(self.address, f"it cannot be read: {_reason(error)}") from None
        return bool(found.type is fs.FileType.File)

    def write(self, place: str, files: Files) -> None:
        """Write the objects of a pack."""
        # Around this one, `deltalake.fs` has a stream of pyarrow, which gives it buffers; it takes only bytes.
        from deltalake._internal import DeltaFileSystemHandler

        try:
            target = DeltaFileSystemHandler(self.address)
            for name in sorted(files, key=lambda name: (name == ENVELOPE, name)):
                stream = target.open_output_stream(f"{place}/{name}", None)
                stream.write(files[name])
                stream.close()  # type: ignore[attr-defined]  # deltalake's stub lacks it
        except (OSError, ValueError) as error:
            raise EvidenceError(self.address, f"it cannot be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """What an object store says, which is a coloured tree of causes: the first and the last of them, on one line."""
    causes = [line.strip() for line in _MARKS.sub("", str(error)).splitlines() if line.strip()]
    return ": ".join(dict.fromkeys([*causes[:1], *causes[-1:]]))
