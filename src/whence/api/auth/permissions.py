"""What each route needs: said where the route is, and refused where nothing is said."""

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
    """A route and the action that it is; None: nothing was said, so nobody may."""

    path: str
    methods: frozenset[str]
    """All, if there is none."""
    action: Action | None
    pattern: re.Pattern[str]


def needs(action: Action) -> Callable[[_F], _F]:
    """Say what a route's function does: `@router.get(...)`, and under it `@needs(Action.READ)`."""

    def mark(function: _F) -> _F:
        setattr(function, _NEEDED, action)
        return function

    return mark


def needing(action: Action, routes: APIRouter) -> APIRouter:
    """Say it for all routes of a router that do not say it themselves."""
    for route in iter_route_contexts(routes.routes):
        if route.endpoint is not None and not hasattr(route.endpoint, _NEEDED):
            setattr(route.endpoint, _NEEDED, action)
    return routes


def needed_by(routes: Sequence[BaseRoute]) -> tuple[RoutePermission, ...]:
    """What the served routes need, in the order in which they are tried."""
    return tuple(_needed(route) for route in iter_route_contexts(routes) if route.path is not None)


def find(routes: Iterable[RoutePermission], method: str, path: str) -> RoutePermission | None:
    """The route that answers; with another method if none has this one; None: no such path."""
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
