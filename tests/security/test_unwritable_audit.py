"""What must be in the audit log is not done while it cannot be written; questions and events go on."""

from collections.abc import Callable

import httpx
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.stores_of_events import applying
from security.conftest import House
from security.test_access import event, until
from whence.model.access import Role
from whence.store.connection.engine import open_store
from whence.store.security.api_key_rows import read_keys
from whence.store.security.database import read_security, write_security

TAG = "/api/v2/nodes/job%3An%3Ajob/tags/pii"
FACTS = "/api/v2/nodes/job%3An%3Ajob/facts"
READY = "/health/ready?of=security"


def test_no_act_is_done_that_cannot_be_audited_and_all_else_goes_on(house: Callable[..., House]) -> None:
    made = house()
    admin = made.key("admin", Role.ADMIN)

    async def send(client: httpx.AsyncClient) -> int:
        return (await client.post("/api/v1/lineage", headers=admin, json=event("n"))).status_code

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        assert await send(client) == 201
        await until(200, client, FACTS, admin)
        assert (await client.put(TAG, headers=admin)).status_code == 200
        records_before = len(records_of(made.settings.log))
        unwritable(made)
        for act in (
            client.put(TAG, headers=admin, json={"value": "changed"}),
            client.post("/api/v2/keys", headers=admin, json={"name": "made"}),
            client.put("/api/v2/grants", headers=admin, json={"subject": "key:made", "role": "reader"}),
            client.post("/api/v2/session", json={"key": admin["Authorization"].removeprefix("Bearer ")}),
        ):
            refused = await act
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5"), refused.text
            assert "no such table: audit" in refused.json()["reason"]
        assert len(records_of(made.settings.log)) == records_before, "nothing was said"
        await until(503, client, READY, {})
        assert (await client.get(FACTS, headers=admin)).status_code == 200
        assert await send(client) == 201
        writable(made)
        await until(200, client, READY, {})
        assert (await client.put(TAG, headers=admin, json={"value": "changed"})).status_code == 200

    engine = open_store(made.settings.store_url)
    with applying(engine, made.settings.data / "log"):
        made.run(work)
    engine.dispose()
    with read_security(made.engine) as connection:
        assert [one.name for one in read_keys(connection)] == ["admin"]
    tagged = [(one.action, one.nodes, one.status) for one in made.audited() if one.what.startswith("PUT /api/v2/nodes")]
    assert sorted(tagged) == sorted(
        [("begun", ("job:n:job", "pii"), 102), ("steward", ("job:n:job", "pii"), 200)] * 2
        + [("steward", ("job:n:job", "pii"), 503)]
    )
    assert [one.status for one in made.audited() if one.what == f"GET {FACTS.replace('job%3An%3Ajob', '{node}')}"][
        -1
    ] == 200
    assert sum(one.count for one in made.audited() if (one.action, one.status) == ("write", 201)) == 2


def unwritable(made: House) -> None:
    with write_security(made.engine) as connection:
        connection.exec_driver_sql("alter table audit rename to lost")


def writable(made: House) -> None:
    with write_security(made.engine) as connection:
        connection.exec_driver_sql("alter table lost rename to audit")
