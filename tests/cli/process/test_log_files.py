"""Rotation of logs while a process appends to them."""

from pathlib import Path

from whence.cli.process.log_files import KEPT_FILES, rotate_log


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_a_process_goes_on_appending_to_an_emptied_log(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    with log.open("ab", buffering=0) as process:
        for round_ in range(KEPT_FILES + 2):
            process.write(f"round {round_}\n".encode())
            assert not rotate_log(log, max_bytes=8)
            process.write(b"more\n")
            assert rotate_log(log, max_bytes=8)
        process.write(b"now\n")
    assert files(tmp_path) == {
        "api.log": b"now\n",
        "api.log.1": b"round 4\nmore\n",
        "api.log.2": b"round 3\nmore\n",
        "api.log.3": b"round 2\nmore\n",
    }


def test_without_a_log_there_is_nothing_to_rotate(tmp_path: Path) -> None:
    assert not rotate_log(tmp_path / "api.log")
    assert files(tmp_path) == {}


def test_a_copy_that_fails_does_not_keep_the_log_growing(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_bytes(b"much\n")
    (tmp_path / "api.log.1").mkdir()
    (tmp_path / "api.log.1" / "kept").touch()
    (tmp_path / "api.log.2").mkdir()
    (tmp_path / "api.log.2" / "kept").touch()
    assert rotate_log(log, max_bytes=1)
    assert log.read_bytes() == b""
