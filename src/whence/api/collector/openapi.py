"""The request bodies of the collector in the OpenAPI document: what OpenLineage requires, and what is accepted."""

from typing import Any

Json = dict[str, Any]

_TEXT: Json = {"type": "string", "minLength": 1}
_NAMED: Json = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {"namespace": _TEXT, "name": _TEXT, "facets": {"type": "object"}},
}
_EVENT: Json = {
    "type": "object",
    "title": "OpenLineage event",
    "description": "A run, job or dataset event of OpenLineage 1.x or 2.x; whatever else is in it is kept as it is",
    "externalDocs": {"url": "https://openlineage.io/spec/2-0-2/OpenLineage.json"},
    "required": ["eventTime", "producer", "schemaURL"],
    "properties": {
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": {"type": "string", "format": "uri"},
        "schemaURL": {"type": "string", "format": "uri"},
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "run": {
            "type": "object",
            "required": ["runId"],
            "properties": {"runId": {"type": "string", "format": "uuid"}, "facets": {"type": "object"}},
        },
        "job": _NAMED,
        "dataset": _NAMED,
        "inputs": {"type": "array", "items": _NAMED},
        "outputs": {"type": "array", "items": _NAMED},
    },
}


def _body(schema: Json) -> Json:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


EVENT = _body(_EVENT)
"""The body of a route that takes one event."""

BATCH = _body({"type": "array", "items": _EVENT})
"""The body of one that takes many."""
