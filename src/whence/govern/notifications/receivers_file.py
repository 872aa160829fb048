"""Reading `receivers.yaml`: a closed schema, so a misspelt key is an error with its line, never a lost page.

Its shape is that of Alertmanager's configuration: named receivers, and a tree of routes whose root is the fallback.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from whence.govern.notifications.notice import Severity
from whence.govern.notifications.receivers import (
    MATCHED,
    AlertmanagerReceiver,
    EmailReceiver,
    GitHubReceiver,
    PagerDutyReceiver,
    Receiver,
    Receivers,
    Route,
    Secret,
    Security,
    SlackReceiver,
    Target,
    WebhookReceiver,
)
from whence.govern.notifications.report_schedules_file import read_schedules
from whence.govern.notifications.retrain_file import read_retrain_routes
from whence.govern.yaml_nodes import Node, Reader, parse, read_each, read_members, read_subject, read_version

_LONGEST_NAME = 100
_DEEPEST = 20
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")
_ADDRESS = re.compile(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{5,}")


def read_receivers(text: str, file: str = "receivers.yaml") -> Receivers:
    """Read receivers and routes. Raises RulesFileError with file and line."""
    root = parse(text, file)
    if root is None:
        root = parse("{}", file)
        assert root is not None
    stated = read_members(root, _TOP, ("version", "receivers", "route"))
    receivers = tuple(one for one, _ in stated["receivers"])
    names = set[str]()
    for one, node in stated["receivers"]:
        if one.name in names:
            raise node.mistake(f"the receiver {one.name!r} is here twice")
        names.add(one.name)
    route = _read_route(stated["route"], names, 0)
    if not route.receivers:
        raise stated["route"].mistake("the first route is the fallback: write its `receiver`")
    if route.match:
        raise stated["route"].mistake("the first route is the fallback: write `match` in its `routes`")
    by_name = {one.name: one for one in receivers}
    return Receivers(
        receivers=receivers,
        route=route,
        url=stated.get("url", ""),
        reports=read_schedules(stated["reports"], by_name) if "reports" in stated else (),
        retrain=read_retrain_routes(stated["retrain"], by_name) if "retrain" in stated else (),
    )


def _read_route(node: Node, names: set[str], depth: int) -> Route:
    if depth > _DEEPEST:
        raise node.mistake(f"routes are nested {_DEEPEST} deep at most")
    readers: Mapping[str, Reader] = {
        "receiver": lambda one: _known(one, names),
        "match": _match,
        "continue": Node.boolean,
        "routes": lambda one: read_each(one.list(), lambda route: _read_route(route, names, depth + 1)),
    }
    stated = read_members(node, readers)
    if depth and not stated.get("match"):
        raise node.mistake("a route below the first one needs a `match`, or it would be for all incidents")
    return Route(
        receivers=stated.get("receiver", ()),
        match=stated.get("match", {}),
        routes=stated.get("routes", ()),
        goes_on=stated.get("continue", False),
    )


def _known(node: Node, names: set[str]) -> tuple[str, ...]:
    items = node.list() if node.is_list() else (node,)
    for item in items:
        if item.filled() not in names:
            known = ", ".join(sorted(names)) or "none"
            raise item.mistake(f"no receiver is named {item.filled()!r}; the file has {known}")
    return tuple(item.filled() for item in items)


def _match(node: Node) -> Mapping[str, tuple[str, ...]]:
    return read_members(node, {name: _severities if name == "severity" else _patterns for name in MATCHED})


def _patterns(node: Node) -> tuple[str, ...]:
    items = node.list() if node.is_list() else (node,)
    if not items:
        raise node.mistake("write at least one value")
    return tuple(item.string() for item in items)


def _severities(node: Node) -> tuple[str, ...]:
    items = node.list() if node.is_list() else (node,)
    for item in items:
        if item.string() not in tuple(Severity):
            raise item.mistake("write page or ticket")
    return _patterns(node)


def _receiver(node: Node) -> tuple[Receiver, Node]:
    stated = read_members(node, {"name": _name, "namespaces": _patterns, "reader": read_subject, **_KINDS}, ("name",))
    kinds = [kind for kind in _KINDS if kind in stated]
    if len(kinds) != 1:
        raise node.mistake(f"a receiver has exactly one of {', '.join(_KINDS)}")
    target: Target = stated[kinds[0]]
    made = Receiver(name=stated["name"], target=target)
    if "namespaces" in stated and "reader" in stated:
        raise node.mistake("write namespaces or reader: the grants of a reader say which namespaces it may see")
    limits = {name: stated[name] for name in ("namespaces", "reader") if name in stated}
    return replace(made, **limits), node


def _name(node: Node) -> str:
    if len(text := node.filled()) > _LONGEST_NAME or not text.isprintable():
        raise node.mistake(f"a name has at most {_LONGEST_NAME} characters, all of them printable")
    return text


def _secret(node: Node) -> Secret:
    if not node.text and not node.is_list() and not node.is_null():
        stated = read_members(node, {"env": _variable, "file": Node.filled})
        if len(stated) == 1:
            return Secret(**stated)
    raise node.mistake("no secret belongs here: write {env: NAME} or {file: /path}, where it is")


def _variable(node: Node) -> str:
    if not _VARIABLE.fullmatch(text := node.filled()):
        raise node.mistake("write the name of an environment variable, not a secret")
    return text


def _url(node: Node) -> str:
    text = node.filled()
    try:
        parts = urlsplit(text)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_url, parts = False, urlsplit("")
    if not is_url or not text.isprintable() or " " in text:
        raise node.mistake("write an address that begins with https:// or http://")
    if parts.username or parts.password:
        raise node.mistake("no secret belongs into an address: use the receiver's own key for it")
    return text.rstrip("/")


def _urls(node: Node) -> tuple[str, ...]:
    if not (found := tuple(map(_url, node.list()))):
        raise node.mistake("write at least one address")
    return found


def _form(pattern: re.Pattern[str], reason: str) -> Callable[[Node], str]:
    def read(node: Node) -> str:
        if not pattern.fullmatch(text := node.filled()):
            raise node.mistake(reason)
        return text

    return read


_email_address = _form(_ADDRESS, "write an e-mail address")


def _recipients(node: Node) -> tuple[str, ...]:
    if not (found := tuple(map(_email_address, node.list()))):
        raise node.mistake("write at least one e-mail address")
    return found


def _server(node: Node) -> tuple[str, int]:
    host, colon, port = node.filled().rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise node.mistake("write host and port: smtp.example.com:587")
    return host.strip("[]"), int(port)


def _security(node: Node) -> Security:
    if node.string() not in tuple(Security):
        raise node.mistake("write starttls, tls or none")
    return Security(node.string())


def _email(node: Node) -> EmailReceiver:
    stated = read_members(
        node,
        {
            "server": _server,
            "from": _email_address,
            "to": _recipients,
            "security": _security,
            "username": Node.filled,
            "password": _secret,
        },
        ("server", "from", "to"),
    )
    host, port = stated.pop("server")
    if ("username" in stated) != ("password" in stated):
        raise node.mistake("username and password belong together")
    if "password" in stated and stated.get("security") is Security.NONE:
        raise node.mistake("a password is only sent with starttls or tls")
    return EmailReceiver(host=host, port=port, sender=stated.pop("from"), **stated)


def _target(made: Callable[..., Target], readers: Mapping[str, Reader], required: tuple[str, ...]) -> Reader:
    def read(node: Node) -> Target:
        return made(**read_members(node, readers, required))

    return read


_KINDS: Mapping[str, Reader] = {
    "alertmanager": _target(AlertmanagerReceiver, {"urls": _urls, "token": _secret}, ("urls",)),
    "pagerduty": _target(PagerDutyReceiver, {"routing_key": _secret, "url": _url}, ("routing_key",)),
    "slack": _target(
        SlackReceiver,
        {"channel": _form(_CHANNEL, "write the id of a channel, such as C024BE91L"), "token": _secret, "url": _url},
        ("channel", "token"),
    ),
    "webhook": _target(WebhookReceiver, {"url": _url, "secret": _secret}, ("url", "secret")),
    "email": _email,
    "github": _target(
        GitHubReceiver,
        {
            "repository": _form(_REPOSITORY, "write owner/name"),
            "token": _secret,
            "labels": _patterns,
            "url": _url,
        },
        ("repository", "token"),
    ),
}
_TOP: Mapping[str, Any] = {
    "version": read_version,
    "url": _url,
    "receivers": lambda node: read_each(node.list(), _receiver),
    "route": lambda node: node,
    "reports": lambda node: node,
    "retrain": lambda node: node,
}
