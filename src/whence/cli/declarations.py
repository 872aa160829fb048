"""Sending what people declare (contracts, objectives, rules) to a server, as events in the name of a key."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from whence.cli.client import Client
from whence.errors import ApiError

_WAIT_SECONDS = 5


def send_declarations(url: str, events: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Send events, each with the name of what it declares, and wait a little until the answers have them. Raises
    ApiError with that name, also if the key lacks the role.
    """
    position = ""
    collector = Client(url)
    try:
        for name, event in events:
            reply = collector.post("/api/v1/lineage", json.dumps(event).encode())
            if reply.status != 201:
                raise ApiError(url, f"{name}: {reply.json.get('reason') or reply.json.get('detail')}")
            if reply.json.get("restricted"):
                raise ApiError(url, f"{name}: {reply.json['warnings'][0]} (`whence access grant`)")
            position = str(reply.json.get("position") or position)
        if position:
            collector.get(f"/api/v2/progress?wait_for={position}&timeout={_WAIT_SECONDS}")
    finally:
        collector.close()
