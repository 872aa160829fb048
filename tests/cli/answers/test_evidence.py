"""`whence evidence`: make a pack, and verify it here and with the script that it prints. No flipped byte is missed."""

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from fixtures.random_estates import AT, Estate
from govern.evidence.packs import bodies, fill_from, flips, write, written_dataset
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.govern.evidence.archive import read_directory, zip_files
from whence.openlineage.accept import accept
from whence.openlineage.write import dataset_event, facet

ESTATE = Estate(3)
NODE = str(written_dataset(ESTATE))
FLIPS, FLIPS_LONG = 16, 1_000
OF_SCRIPT = 4
"""One of so many flips is shown to the script, too, which takes most of the time; with --long each."""
AS_OF = ("--as-of", "2026-11-22T06:00")

Whence = Callable[..., Result]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory without keys."""
    return tmp_path / "data"


@pytest.fixture
def whence(sqlite_store: Engine, data: Path) -> Whence:
    """Runs commands over an estate and its log."""
    write(ESTATE, sqlite_store, data / "log")
    environment = {"WHENCE_DATA": str(data), "WHENCE_STORE": str(sqlite_store.url)}
    return lambda *arguments: CliRunner(env=environment).invoke(app, [str(one) for one in arguments])


def created(whence: Whence, path: Path, *arguments: str) -> str:
    """Create or rotate a key, and write its public half; its id."""
    done = whence("evidence", "key", *arguments, "--output", "json")
    assert done.exit_code == Exit.OK, done.output
    path.write_text(json.loads(done.stdout)["pem"])
    return str(json.loads(done.stdout)["id"])


def packed(whence: Whence, into: Path) -> None:
    done = whence("evidence", NODE, *AS_OF, "-o", into)
    assert done.exit_code == Exit.OK, done.output
    assert f"upstream of {NODE}" in done.stdout


@pytest.mark.parametrize("algorithm", ["ed25519", "p256"])
def test_a_flipped_byte_is_found_here_and_by_the_script(
    algorithm: str, whence: Whence, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    key, pack, script = tmp_path / "key.pem", tmp_path / "pack", tmp_path / "verify.sh"
    id_ = created(whence, key, "create", "--algorithm", algorithm)
    packed(whence, pack)
    script.write_text(whence("evidence", "script").stdout)

    def is_found_here() -> bool:
        return whence("evidence", "verify", pack, "--key", key).exit_code == Exit.MISTAKE

    def is_found_there() -> bool:
        return subprocess.run(["sh", script, pack, key], capture_output=True, check=False).returncode == 1

    assert not is_found_here()
    assert not is_found_there()
    assert id_ in whence("evidence", "verify", pack, "--key", key).stdout
    files = read_directory(pack)
    count, of_script = (FLIPS_LONG, 1) if pytestconfig.getoption("--long") else (FLIPS, OF_SCRIPT)
    for number, (name, changed) in enumerate(flips(files, random.Random(f"both {algorithm}"), count)):
        (pack / name).write_bytes(changed)
        assert is_found_here(), (name, changed)
        assert number % of_script or is_found_there(), (name, changed)
        (pack / name).write_bytes(files[name])
    assert not is_found_here()
    assert not is_found_there()


def test_a_pack_is_the_same_again_and_another_key_does_not_verify_it(whence: Whence, tmp_path: Path) -> None:
    created(whence, tmp_path / "old.pem", "create")
    packed(whence, tmp_path / "one")
    packed(whence, tmp_path / "two")
    assert read_directory(tmp_path / "one") == read_directory(tmp_path / "two")
    created(whence, tmp_path / "new.pem", "rotate")
    packed(whence, tmp_path / "three")
    for pack, key, code in (("one", "old", 0), ("one", "new", 1), ("three", "new", 0), ("three", "old", 1)):
        done = whence("evidence", "verify", tmp_path / pack, "--key", tmp_path / f"{key}.pem", "--output", "json")
        assert (done.exit_code, json.loads(done.stdout)["verified"]) == (code, code == 0), (pack, key)
    listed = json.loads(whence("evidence", "key", "list", "--output", "json").stdout)["keys"]
    assert [one["retired_at"] is None for one in listed] == [False, True]
    assert whence("evidence", "key", "create").exit_code == Exit.MISTAKE


def test_a_pack_without_a_key_says_that_it_proves_no_maker(whence: Whence, tmp_path: Path) -> None:
    done = whence("evidence", NODE, "-o", tmp_path / "pack")
    assert (done.exit_code, "is not signed: no key signs here" in done.stdout) == (Exit.OK, True)
    refused = whence("evidence", "verify", tmp_path / "pack")
    assert (refused.exit_code, "not verified" in refused.stdout) == (Exit.MISTAKE, True)
    assert whence("evidence", "verify", tmp_path / "pack", "--unsigned").exit_code == Exit.OK
    again = whence("evidence", NODE, "-o", tmp_path / "pack")
    assert (again.exit_code, "is not empty" in again.stderr) == (Exit.MISTAKE, True)


def test_packs_of_certified_datasets_are_stored_once_and_say_if_nobody_signed_them(
    sqlite_store: Engine, data: Path, whence: Whence, tmp_path: Path
) -> None:
    tag = facet("TagsDatasetFacet", tags=[{"key": "certified", "value": "true", "source": "USER"}])
    certified = dataset_event(AT, written_dataset(ESTATE), facets={"tags": tag})
    shutil.rmtree(data / "log")
    fill_from([*bodies(ESTATE), accept(json.dumps(certified).encode()).payload], sqlite_store, data / "log")
    unsigned = whence("evidence", "store", "--into", tmp_path / "unsigned")
    assert (unsigned.exit_code, "1 stored, 0 already there" in unsigned.stdout) == (Exit.OK, True), unsigned.output
    assert "they are not signed: no key signs here (whence evidence key create)" in unsigned.stdout
    created(whence, tmp_path / "key.pem", "create")
    signed = whence("evidence", "store", "--into", tmp_path / "signed")
    assert (signed.exit_code, "not signed" in signed.stdout) == (Exit.OK, False), signed.output
    (place,) = (one.parent for one in (tmp_path / "signed").rglob("lineage.json"))
    assert whence("evidence", "verify", place, "--key", tmp_path / "key.pem").exit_code == Exit.OK
    again = whence("evidence", "store", "--into", tmp_path / "signed", "--output", "json")
    assert json.loads(again.stdout) == {
        "into": str(tmp_path / "signed"),
        "made": [],
        "present": 1,
        "unwritten": 0,
        "signed": True,
    }


def test_the_zip_file_of_a_server_is_verified_as_it_is(whence: Whence, tmp_path: Path) -> None:
    created(whence, tmp_path / "key.pem", "create")
    packed(whence, tmp_path / "pack")
    files = read_directory(tmp_path / "pack")
    archive = tmp_path / "whence-evidence.zip"
    for changed, code in ((files, Exit.OK), ({**files, "lineage.json": b"{}"}, Exit.MISTAKE)):
        archive.write_bytes(zip_files(changed))
        assert whence("evidence", "verify", archive, "--key", tmp_path / "key.pem").exit_code == code
    archive.write_bytes(archive.read_bytes()[:-30])
    damaged = whence("evidence", "verify", archive, "--key", tmp_path / "key.pem")
    assert (damaged.exit_code, "no whole ZIP file" in damaged.stderr) == (Exit.MISTAKE, True)


def test_mistakes_name_what_to_do(whence: Whence, tmp_path: Path) -> None:
    missing = whence("evidence", "no.such.thing", "-o", tmp_path / "pack")
    assert (missing.exit_code, "whence search" in missing.stderr) == (Exit.MISTAKE, True)
    assert not (tmp_path / "pack").exists()
    (tmp_path / "pack").mkdir()
    (tmp_path / "key.pem").write_text("no key")
    wrong = whence("evidence", "verify", tmp_path / "pack", "--key", tmp_path / "key.pem")
    assert (wrong.exit_code, "key.pem" in wrong.stderr) == (Exit.MISTAKE, True)
    assert "whence evidence key create" in whence("evidence", "key", "rotate").stderr
