"""JSON responses, and the descriptions of error statuses in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

import msgspec
from fastapi import Response

MISSING: dict[int | str, dict[str, Any]] = {
    400: {"description": "the body is not JSON"},
    404: {"description": "there is no such thing"},
    413: {"description": "the body is too large"},
    422: {"description": "a parameter cannot be read"},
    503: {"description": "the store cannot be read now"},
}
"""The statuses of every route of the catalog."""

REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"description": "the body is not JSON, or not sound gzip"},
    408: {"description": "the body did not arrive in time"},
    413: {"description": "the body is too large"},
    415: {"description": "another content encoding than gzip"},
    422: {"description": "JSON, but no event"},
    503: {"description": "the log cannot take it now; send it again"},
}
"""The statuses of every route of the collector."""


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "the body is not JSON"},
    401: {"description": "it is not known who asks"},
    403: {"description": "who asks may not do this"},
    409: {"description": "Whence runs open: there are no keys, roles or sessions"},
    422: {"description": "a parameter or a member of the body is not as it must be"},
    503: {"description": "the security database does not answer"},
}
"""The statuses of every route for keys, roles and sessions."""


def answer(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Build a JSON response."""
    return Response(msgspec.json.encode(document), status, headers, "application/json")
