"""`whence incident acknowledge`, `resolve` and the others: the events by which people act on incidents."""

import getpass
import json
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from rich.text import Text

from whence.cli.client import Client as Collector
from whence.cli.incidents.shown import detail_lines
from whence.cli.output.streams import Exit, Output, print_document, print_lines
from whence.client.questions import connect
from whence.errors import AccessError, ApiError
from whence.govern.incidents.records import act_event
from whence.model.names import DatasetName, parse_node
from whence.model.records.incidents import ActText, IncidentActRecord
from whence.openlineage.authority.restrictions import person_uri

_WAIT_SECONDS = 5


def act(id_: str, kind: ActText, url: str, output: Output, **members: Any) -> Exit:
    """Act on an incident, in the name of the key, and print it as it is then. Raises ApiError, also if the key lacks
    the role; AccessError if it may not see the root.
    """
    with connect(url) as questions:
        found = questions.incident(id_).incident
        root = parse_node(found.root or "")
        if not isinstance(root, DatasetName):
            raise AccessError("this key may not see the root of the incident, so it may not act on it", 403)
        sender = questions.whoami()
        record = IncidentActRecord(incident=found.id, dataset=str(root), act=kind, **members)
        at = time.time_ns() // 1_000
        _send(url, act_event(record, root.namespace, at, person_uri(sender.name if sender else getpass.getuser())))
        after = questions.incident(found.id)
    if output is Output.JSON:
        print_document(msgspec.to_builtins(after))
    else:
        print_lines(map(Text, detail_lines(after, id_)))
    return Exit.OK


def _send(url: str, event: Mapping[str, Any]) -> None:
    """Send an event, and wait a little until the answers have it."""
    collector = Collector(url)
    try:
        reply = collector.post("/api/v1/lineage", json.dumps(event).encode())
        if reply.status != 201:
            raise ApiError(url, str(reply.json.get("reason") or reply.json.get("detail")))
        collector.get(f"/api/v2/progress?wait_for={reply.json.get('position')}&timeout={_WAIT_SECONDS}")
    finally:
        collector.close()
