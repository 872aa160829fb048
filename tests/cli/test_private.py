"""Nothing that Whence keeps or runs with is for everybody on the machine: files, and the arguments of its processes."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import make_url

from chaos.processes import command
from fixtures.migrated_stores import open_migrated
from security.test_access import event
from whence.cli.client import Client
from whence.cli.process.process_group import MARK
from whence.cli.process.serve import Guard, plan, running
from whence.file_modes import restrict_directory
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import sqlite_url
from whence.store.security.database import open_security

PASSWORD = "S3cret-PW"
OTHERS = 0o027


def too_open(directory: Path) -> list[str]:
    """The files below that others may read, or the group may write."""
    found = (directory, *directory.rglob("*"))
    return [f"{stat.filemode(one.lstat().st_mode)} {one}" for one in found if _mode(one) & OTHERS and not _is_link(one)]


def _mode(path: Path) -> int:
    return path.lstat().st_mode if path.is_symlink() or path.exists() else 0


def _is_link(path: Path) -> bool:
    return path.is_symlink() or stat.S_ISSOCK(_mode(path))


def processes_of(data: Path) -> Iterator[int]:
    """All that runs for a data directory but this test."""
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARK}={data}".encode() in environment or str(data) in command(int(process.name)):
            yield int(process.name)


def test_passwords_are_in_no_argument_and_files_are_not_for_everybody(postgres_url: str, tmp_path: Path) -> None:
    url = make_url(postgres_url).set(password=PASSWORD).render_as_string(hide_password=False)
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    kept = data / "store.db"
    kept.write_bytes(b"of an earlier release")
    kept.chmod(0o666)
    guard = Guard(is_open=True, security=url)
    with running(plan(data, url, port=0, guard=guard)) as address:
        client = Client(address)
        assert client.post("/api/v1/lineage", json.dumps(event("n")).encode()).status == 201
        assert client.get("/api/v2/progress?wait_for=head&timeout=120").json["reached"]
        client.close()
        running_now = {pid: command(pid) for pid in processes_of(data)}
        assert sum("SparkSubmit" in one for one in running_now.values()) == 1
        assert len(running_now) >= 4
        assert [one for one in running_now.values() if PASSWORD in one] == []
        assert any(PASSWORD.encode() in Path(f"/proc/{pid}/environ").read_bytes() for pid in running_now)
        assert too_open(data) == []


def test_what_is_open_already_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "below").mkdir(parents=True)
    for name in ("store.db", "store.db-wal", "edges.csr"):
        (data / name).touch()
        (data / name).chmod(0o666)
    (data / "elsewhere").symlink_to("/etc/hostname")
    data.chmod(0o777)
    assert restrict_directory(data) == []
    assert stat.S_IMODE(data.stat().st_mode) == 0o750
    assert {stat.S_IMODE((data / name).stat().st_mode) for name in ("store.db", "store.db-wal", "edges.csr")} == {0o640}


def test_a_backup_and_what_is_restored_from_it_are_private(tmp_path: Path) -> None:
    old, kept, new = tmp_path / "old", tmp_path / "kept", tmp_path / "new"
    SegmentLog(old / "log").open_writer().close()
    engine = open_migrated(sqlite_url(old / "store.db"))
    engine.dispose()
    with open_security(sqlite_url(old / "store.security.db")).connect():
        pass
    for data, arguments in ((old, ["backup", str(kept)]), (new, ["restore", str(kept)])):
        line = [sys.executable, "-m", "whence.cli", *arguments]
        subprocess.run(
            line, env=os.environ | {"WHENCE_DATA": str(data)}, check=True, umask=0, stdout=subprocess.DEVNULL
        )
    assert (new / "store.db").exists()
    assert (new / "store.security.db").exists()
    assert [too_open(one) for one in (kept, new)] == [[], []]
