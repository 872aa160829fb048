"""docs/reference/http-evidence.md tells the truth, and a server that cannot sign says so without its paths."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from api.asked import Client, asking
from fixtures.random_estates import Estate
from govern.evidence.packs import write, written_dataset
from test_docs import EXAMPLE, page, shape
from whence.govern.evidence.archive import unzip_files
from whence.govern.evidence.signing.key_files import PublishedKey, create_key, list_keys, rotate_key
from whence.govern.evidence.signing.keys import Algorithm, PublicKey
from whence.govern.evidence.verify import verify_files

ESTATE = Estate(3)
NODE = str(written_dataset(ESTATE))
MADE, ROTATED = "2026-11-20T06:00:00Z", "2026-11-21T06:00:00Z"
LATER = "2026-11-22T06:00"


@pytest.fixture
def client(sqlite_store: Engine, tmp_path: Path) -> Iterator[Client]:
    """A server over an estate and its log, whose packs are signed."""
    write(ESTATE, sqlite_store, tmp_path / "log")
    create_key(keys_of(tmp_path), Algorithm.ED25519, MADE)
    with asking(tmp_path, str(sqlite_store.url)) as made:
        yield made


def keys_of(data: Path) -> Path:
    return data / "evidence-keys"


def trusted(one: PublishedKey) -> PublicKey:
    return PublicKey.read(one.pem.encode())


def test_every_example_is_answered_as_it_says(client: Client) -> None:
    examples = EXAMPLE.findall(page("docs/reference/http-evidence.md"))
    assert len(examples) == 2
    for _, target, _, status, documented in examples:
        path, _, query = target.partition("?")
        answer = client.get(path, **dict(one.split("=") for one in query.split("&") if one))
        assert answer.status == int(status), (target, answer)
        assert shape(answer.json) == shape(json.loads(documented)), target


def test_a_pack_is_a_zip_file_of_equal_bytes_that_verifies(client: Client, tmp_path: Path) -> None:
    first, again = (client.get("/api/v2/evidence", node=NODE, as_of=LATER) for _ in range(2))
    assert (first.status, first.headers["content-type"]) == (200, "application/zip")
    assert first.body == again.body
    (key,) = list_keys(keys_of(tmp_path))
    found = verify_files(unzip_files(first.body), [trusted(key)])
    assert (found.problems, found.signed_by) == ((), (key.id,))
    assert found.predicate is not None
    assert found.predicate["question"]["node"] == NODE


@pytest.mark.parametrize("algorithm", Algorithm)
def test_a_rotated_key_verifies_what_it_signed_and_no_more(
    algorithm: Algorithm, client: Client, tmp_path: Path
) -> None:
    before = unzip_files(client.get("/api/v2/evidence", node=NODE, as_of=LATER).body)
    rotate_key(keys_of(tmp_path), algorithm, ROTATED)
    after = unzip_files(client.get("/api/v2/evidence", node=NODE, as_of=LATER).body)
    old, new = client.get("/api/v2/evidence/keys").json["data"]
    assert (old["retired_at"], new["retired_at"], new["algorithm"]) == (ROTATED, None, algorithm)
    for files, signer, other in ((before, old, new), (after, new, old)):
        assert verify_files(files, [PublicKey.read(signer["pem"].encode())]).problems == ()
        assert verify_files(files, [PublicKey.read(other["pem"].encode())]).problems != ()
    assert {name for name in before if before[name] != after[name]} == {"keys.json", "evidence.dsse.json"}
    assert [one.name for one in keys_of(tmp_path).glob("*.private.pem")] == [f"{new['id']}.private.pem"]


def test_a_key_that_cannot_be_read_is_not_named(client: Client, tmp_path: Path) -> None:
    (key,) = list_keys(keys_of(tmp_path))
    (keys_of(tmp_path) / f"{key.id}.private.pem").write_bytes(b"no key")
    answer = client.get("/api/v2/evidence", node=NODE)
    assert answer.status == 503
    assert "the key that signs evidence packs cannot be read" in answer.json["detail"]
    assert str(tmp_path).encode() not in answer.body
    assert key.id.encode() not in answer.body
