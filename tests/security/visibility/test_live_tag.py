"""A page on the screen learns within one poll that its user may see less: the tag of the position changes."""

from collections.abc import Callable

import httpx
from fastapi import FastAPI

from security.conftest import House
from whence.model.access import Role

PROD = "postgres://prod*"


def test_the_tag_of_the_position_changes_with_what_the_caller_may_see(house: Callable[..., House]) -> None:
    made = house()
    reader, other = (made.key(name, Role.READER, PROD) for name in ("reader", "other"))
    admin = made.key("admin", Role.ADMIN)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        async def tag(headers: dict[str, str]) -> str:
            answer = await client.get("/api/v2/progress", headers=headers)
            assert answer.status_code == 200
            found: str = answer.headers["etag"]
            return found

        before = await tag(reader)
        assert await tag(reader) == before
        assert len({before, await tag(other), await tag(admin)}) == 3
        given = {"subject": "key:reader", "role": "reader", "namespaces": "postgres://dev*"}
        assert (await client.put("/api/v2/grants", json=given, headers=admin)).status_code == 200
        more = await tag(reader)
        taken = {"subject": "key:reader", "namespaces": PROD}
        assert (await client.delete("/api/v2/grants", params=taken, headers=admin)).status_code == 204
        assert len({before, more, await tag(reader)}) == 3

    made.run(work)
