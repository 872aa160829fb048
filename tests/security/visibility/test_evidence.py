"""Evidence packs behind keys: whoever may see a part gets a pack of it, without a hidden name, and it verifies."""

from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI

from fixtures.random_estates import SPACES, Estate, forbidden
from govern.evidence.packs import texts_in, write
from security.conftest import House
from whence.govern.evidence.archive import unzip_files
from whence.govern.evidence.signing.key_files import create_key
from whence.govern.evidence.signing.keys import Algorithm, PublicKey
from whence.govern.evidence.verify import verify_files
from whence.model.access import Role
from whence.store.connection.engine import open_store

PATH, LATER = "/api/v2/evidence", "2026-11-22T06:00"


@pytest.fixture(params=range(3))
def estate(request: pytest.FixtureRequest) -> Estate:
    """Estates whose datasets are in several namespaces."""
    return Estate(request.param)


@pytest.fixture
def guarded(house: Callable[..., House], estate: Estate) -> House:
    """A server over an estate and its log, behind keys, whose packs are signed."""
    made = house()
    engine = open_store(made.settings.store_url)
    write(estate, engine, made.settings.data / "log")
    engine.dispose()
    create_key(made.settings.evidence_keys, Algorithm.P256, "2026-11-20T06:00:00Z")
    return made


def test_a_pack_has_no_name_that_its_reader_may_not_see(guarded: House, estate: Estate) -> None:
    readers = {space: guarded.key(f"reader-{space}", Role.READER, space) for space in SPACES}
    admin = guarded.key("ada", Role.ADMIN)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        (key,) = (await client.get(f"{PATH}/keys")).json()["data"]
        trusted = [PublicKey.read(key["pem"].encode())]
        for name in estate.datasets:
            asked = {"node": str(name), "as_of": LATER}
            assert (await client.get(PATH, params=asked)).status_code == 401
            whole = unzip_files((await client.get(PATH, params=asked, headers=admin)).content)
            assert verify_files(whole, trusted).problems == ()
            assert b'"shown":true' in whole["audit.json"]
            for space, reader in readers.items():
                answer = await client.get(PATH, params=asked, headers=reader)
                if space != name.namespace:
                    assert answer.status_code == 404
                    continue
                files = unzip_files(answer.content)
                assert texts_in(files, forbidden(estate, frozenset({space}), [])) == []
                assert verify_files(files, trusted).problems == ()
                assert b'"shown":false' in files["audit.json"]

    guarded.run(work)
    exports = [one for one in guarded.audited() if one.action == "export"]
    assert len(exports) == 2 * len(estate.datasets)
