"""Examples of answers for the OpenAPI document, composed from the value of each member (`example_values`)."""

from collections.abc import Mapping
from typing import Any

from whence.api.server.certification_examples import CERTIFICATION
from whence.api.server.containment_examples import CONTAINMENT
from whence.api.server.example_values import VALUES as SHOP
from whence.api.server.governance_examples import GOVERNANCE
from whence.api.server.incident_examples import INCIDENTS
from whence.api.server.report_examples import REPORTS

Json = dict[str, Any]

VALUES: Mapping[str, Any] = {**SHOP, **CONTAINMENT, **INCIDENTS, **CERTIFICATION, **GOVERNANCE, **REPORTS}

_PLAIN = {"integer": 1, "number": 0.5, "boolean": False, "null": None}


def example_of(schema: Json, schemas: Mapping[str, Json], member: str = "", of: str = "") -> Any:
    """An example that fits a schema. `member` is its name in the object schema `of`.

    Raises KeyError for a text without an example.
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return example_of(schemas[name], schemas, member, name if "properties" in schemas[name] else of)
    if "properties" in schema:
        return {key: example_of(one, schemas, key, of) for key, one in schema["properties"].items()}
    if f"{of}.{member}" in VALUES:
        return VALUES[f"{of}.{member}"]
    return _by_type(schema, schemas, member, of)


def _by_type(schema: Json, schemas: Mapping[str, Json], member: str, of: str) -> Any:
    match schema:
        case {"const": value} | {"enum": [value, *_]}:
            return value
        case {"anyOf": [first, *_]}:
            return example_of(first, schemas, member, of)
        case {"type": "array", "items": items}:
            return [example_of(items, schemas, member, of)]
        case {"type": "string"} | {"type": "object"}:
            return VALUES[member]
        case {"type": type_} if member not in VALUES or not isinstance(VALUES[member], int | float):
            return _PLAIN[type_]
    return VALUES[member]
