"""The permission that each route requires, declared at the route. A route without a declaration is rejected."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import APIRouter
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, compile_path

from whence.model.access import Action

_NEEDED = "whence_needed"

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class RoutePermission:
    """A route and its required action; None: not declared, so nobody may use it."""

    path: str
    methods: frozenset[str]
    """The route's HTTP methods; empty means all."""
    action: Action | None
    pattern: re.Pattern[str]


def needs(action: Action) -> Callable[[_F], _F]:
    """Declare the action of a route's function: `@router.get(...)`, and under it `@needs(Action.READ)`."""

    def mark(function: _F) -> _F:
        setattr(function, _NEEDED, action)
        return function

    return mark


def needing(action: Action, routes: APIRouter) -> APIRouter:
    """Declare the action of all routes of a router that have no declaration of their own."""
    for route in iter_route_contexts(routes.routes):
        if route.endpoint is not None and not hasattr(route.endpoint, _NEEDED):
            setattr(route.endpoint, _NEEDED, action)
    return routes


def needed_by(routes: Sequence[BaseRoute]) -> tuple[RoutePermission, ...]:
    """The permissions of the served routes, in the order of matching."""
    return tuple(_needed(route) for route in iter_route_contexts(routes) if route.path is not None)


def find(routes: Iterable[RoutePermission], method: str, path: str) -> RoutePermission | None:
    """The matching route; one with another method if none has this one; None if there is no such path."""
    other: RoutePermission | None = None
    for route in routes:
        if route.pattern.match(path):
            if not route.methods or method in route.methods:
                return route
            other = other or route
    return other


def _needed(route: Any) -> RoutePermission:
    inner = route.endpoint or getattr(route, "app", None)  # files are an application of their own
    pattern = getattr(route, "path_regex", None) or compile_path(route.path)[0]
    return RoutePermission(route.path, frozenset(route.methods or ()), getattr(inner, _NEEDED, None), pattern)
