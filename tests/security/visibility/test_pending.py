"""What somebody may not see is in no answer to what they write, also while the store does not have it yet."""

from collections.abc import Callable
from urllib.parse import quote

import httpx
from fastapi import FastAPI

from security.conftest import House
from whence.model.access import Role
from whence.store.connection.engine import open_store
from whence.store.ingest.recompute import recompute

SEEN, HIDDEN = "nsseen", "nshidden"
FIELDS = [{"name": "open"}]


def test_answers_hide_pending_things(house: Callable[..., House]) -> None:
    made = house()
    admin, steward = made.key("root", Role.ADMIN), made.key("steward", Role.STEWARD, SEEN)
    engine = open_store(made.settings.store_url)
    recompute(engine, {"log": 0})
    engine.dispose()

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        async def put(path: str, who: dict[str, str], **body: object) -> httpx.Response:
            return await client.put(f"/api/v1/{path}", json=body, headers=who)

        table = {"type": "DB_TABLE", "physicalName": "p", "sourceName": "wh", "fields": FIELDS}
        ends = {"type": "BATCH", "inputs": [{"namespace": HIDDEN, "name": "tblhidden"}], "outputs": []}
        assert (await put("sources/wh", admin, type="X", connectionUrl="x://h")).status_code == 200
        for space, name in ((HIDDEN, "tblhidden"), (SEEN, "tblseen")):
            assert (await put(f"namespaces/{space}/datasets/{name}", admin, **table)).status_code == 200
        ends["outputs"] = [{"namespace": SEEN, "name": "tblseen"}]
        assert (await put(f"namespaces/{SEEN}/jobs/j", admin, **ends)).status_code == 200
        job = f"/api/v1/namespaces/{SEEN}/jobs/j"
        node = quote(f"job:{SEEN}:j", safe="")
        answers = [
            await client.post(f"{job}/tags/a", headers=steward),
            await client.get(job, headers=steward),
            await client.post(f"{job}/runs", json={}, headers=steward),
            await client.post(f"/api/v1/namespaces/{SEEN}/datasets/tblseen/tags/a", headers=steward),
            await client.put(f"/api/v2/nodes/{node}/owners/ann", headers=steward),
            await client.get(f"/api/v2/nodes/{node}/facts", headers=steward),
        ]
        assert [one.status_code for one in answers] == [200, 200, 201, 200, 202, 200]
        assert not [one.text for one in answers if HIDDEN in one.text or "tblhidden" in one.text]
        assert [one["namespace"] for one in answers[0].json()["inputs"]] == ["hidden"]
        assert [one["name"] for one in answers[0].json()["outputs"]] == ["tblseen"]
        for path in (f"namespaces/{HIDDEN}", f"namespaces/{HIDDEN}/datasets/tblhidden"):
            assert (await client.get(f"/api/v1/{path}", headers=steward)).status_code == 404
            assert (await client.get(f"/api/v1/{path}", headers=admin)).status_code == 200
        phantom = await put(f"namespaces/{SEEN}/jobs/j", steward, **ends)
        assert phantom.status_code == 404
        whole = (await client.get(job, headers=admin)).json()
        assert [one["name"] for one in whole["inputs"]] == ["tblhidden"]

    made.run(work)
