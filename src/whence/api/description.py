"""The API's description of itself, made whole: what the guard before all routes may answer, and how errors look."""

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI

from whence.api.credentials import COOKIE
from whence.api.needs import Needed, needed_by
from whence.api.problems import MEDIA_TYPE
from whence.api.shapes import Problem
from whence.model.access import Action

Json = dict[str, Any]

_PROBLEM = "#/components/schemas/Problem"
_GUARDED = {
    "401": "nobody known asks: send a key, a token or a session's cookie (docs/security.md)",
    "403": "who asks has no grant to do this",
    "503": "the store, the log or the security database does not answer now; with Retry-After",
}
_SCHEMES: Json = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "an API key, or a token of your provider"},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "of who signed in at /login"},
}


class Described(FastAPI):
    """An application whose OpenAPI document has every status that a route may answer, and the one shape of errors."""

    def openapi(self) -> Json:
        """The document, made once."""
        if not self.openapi_schema:
            _complete(
                super().openapi(), {(way, one.path): one for one in needed_by(self.routes) for way in one.methods}
            )
        assert self.openapi_schema is not None
        return self.openapi_schema


def _complete(document: Json, needed: Mapping[tuple[str, str], Needed]) -> None:
    components = document.setdefault("components", {})
    shape = Problem.model_json_schema()
    del shape["additionalProperties"]  # clients of Marquez read members of their own (docs/marquez.md)
    components.setdefault("schemas", {})["Problem"] = shape
    components["securitySchemes"] = _SCHEMES
    for path, method, operation in _operations(document):
        if needed[method, path].action is not Action.PUBLIC:
            operation["security"] = [{scheme: []} for scheme in _SCHEMES]
            for status, description in _GUARDED.items():
                operation["responses"].setdefault(status, {"description": description})
        for status, response in operation["responses"].items():
            if status >= "400" and not _is_shaped(response):
                response["content"] = {MEDIA_TYPE: {"schema": {"$ref": _PROBLEM}}}
    for left_over in ("HTTPValidationError", "ValidationError"):  # FastAPI's own shape of errors, which none has
        components["schemas"].pop(left_over, None)


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def _is_shaped(response: Json) -> bool:
    """Whether a route says itself how this answer looks; what FastAPI says of a 422 is not so."""
    content = response.get("content", {})
    schemas = [one.get("schema", {}).get("$ref", "") for one in content.values()]
    return bool(content) and "#/components/schemas/HTTPValidationError" not in schemas
