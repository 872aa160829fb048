"""All pages of a list of the API."""

from collections.abc import Iterator
from typing import Any

from api.asked import Client


def paged(client: Client, path: str, **asked: Any) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        answer = client.get(path, cursor=cursor, **asked)
        assert answer.status == 200, answer.body
        yield answer.json
        cursor = answer.json["page"]["next"] or ""
        if not cursor:
            return
