"""Completion of the OpenAPI document: summaries, examples, the guard's statuses, and the shape of errors."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, FastAPI
from pydantic import TypeAdapter

from whence.api.auth.credentials import COOKIE
from whence.api.auth.permissions import RoutePermission, needed_by
from whence.api.http.problems import MEDIA_TYPE
from whence.api.http.response_types import Problem
from whence.api.server.openapi_examples import example_of
from whence.model.access import Action

Json = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_GUARDED = {
    "401": "the caller is unknown: send a key, a token or a session's cookie (docs/explanation/security.md)",
    "403": "the caller has no grant to do this",
    "503": "the store, the log or the security database does not answer now; with Retry-After",
}
_SCHEMES: Json = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "an API key, or a token of your provider"},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "of who signed in at /login"},
}
_RAISES = re.compile(r"\s*Raises [^.]*\.\s*$")
"""The part of a docstring that addresses Python callers."""
_NOT_SERVED = ("HTTPValidationError", "ValidationError")
"""FastAPI's own schemas of errors; no route answers with them."""


class Described(FastAPI):
    """An application whose OpenAPI document describes every status and body that a route may answer."""

    def include_router(self, router: APIRouter, **options: Any) -> None:
        """Add the routes of a router as they are, unless something is to be added to each of them.

        FastAPI builds included routes anew at the first request, with all response models: half a second
        of CPU time.
        """
        if options:
            super().include_router(router, **options)
        else:
            self.router.routes.extend(router.routes)

    def openapi(self) -> Json:
        """The document, built once."""
        if not self.openapi_schema:
            permissions = {(method, one.path): one for one in needed_by(self.routes) for method in one.methods}
            _complete(super().openapi(), permissions)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _complete(document: Json, permissions: Mapping[tuple[str, str], RoutePermission]) -> None:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _NOT_SERVED:
        schemas.pop(name, None)
    schemas["Problem"] = TypeAdapter(Problem).json_schema()
    components["securitySchemes"] = _SCHEMES
    operations = list(_operations(document))
    for path, method, operation in operations:
        operation["description"] = _RAISES.sub("", operation["description"]).strip()
        operation["summary"] = _summary(operation["description"])
        _guard(operation, permissions[method, path].action)
        _describe_errors(operation)
    _close([one["responses"] for _, _, one in operations], schemas)
    for _, _, operation in operations:
        _add_examples(operation, schemas)


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def _summary(description: str) -> str:
    """The first sentence of a route's docstring, on one line."""
    first = " ".join(description.partition("\n\n")[0].split())
    return first.partition(". ")[0].rstrip(".")


def _guard(operation: Json, action: Action | None) -> None:
    if action is Action.PUBLIC:
        return
    operation["security"] = [{scheme: []} for scheme in _SCHEMES]
    for status, description in _GUARDED.items():
        operation["responses"].setdefault(status, {"description": description})


def _describe_errors(operation: Json) -> None:
    for status, response in operation["responses"].items():
        if status >= "400" and not _has_schema(response):
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": f"{_REFERENCE}Problem"}}}


def _has_schema(response: Json) -> bool:
    """Whether a route declares the schema of this answer; FastAPI declares one for 422 that no route answers with."""
    references = [one.get("schema", {}).get("$ref", "") for one in response.get("content", {}).values()]
    return any(one and one != f"{_REFERENCE}HTTPValidationError" for one in references)


def _close(responses: object, schemas: Json) -> None:
    """Forbid members that a schema does not list, in every schema that an answer may contain.

    Answers are built by functions that return exactly these types, so an unlisted member is a defect.
    """
    pending, reached = list(_references(responses)), set[str]()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += _references(schemas[name])
    for name in reached:
        if "properties" in schemas[name]:
            schemas[name]["additionalProperties"] = False


def _references(value: object) -> Iterator[str]:
    match value:
        case {"$ref": str() as reference}:
            yield reference.removeprefix(_REFERENCE)
        case dict():
            for one in value.values():
                yield from _references(one)
        case list():
            for one in value:
                yield from _references(one)


def _add_examples(operation: Json, schemas: Json) -> None:
    for status, response in operation["responses"].items():
        body = response.get("content", {}).get("application/json", {})
        if status < "300" and "schema" in body:
            body["example"] = example_of(body["schema"], schemas)
