"""Receivers and routes: who is notified of which incidents."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from whence.errors import DeliveryError
from whence.govern.notifications.notice import Notice
from whence.govern.notifications.report_schedules import ReportSchedule
from whence.govern.retraining.triggers import RetrainRoute
from whence.model.access import OPEN, Grant, Role, Viewer, matches_pattern

EVERYTHING = ("*",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where a secret is: in an environment variable, or in a file. The secret itself is never here."""

    env: str = ""
    file: str = ""

    def read(self) -> str:
        """The secret. Raises DeliveryError if there is none."""
        place = f"the environment variable {self.env}" if self.env else f"the file {self.file}"
        try:
            found = os.environ.get(self.env, "") if self.env else Path(self.file).read_text("utf-8")
        except (OSError, UnicodeDecodeError, ValueError):
            found = ""
        if not found.strip():
            raise DeliveryError(place, "there is no secret; set it where this process runs")
        return found.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertmanagerReceiver:
    """The replicas of one Alertmanager; each gets every alert."""

    urls: tuple[str, ...]
    token: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDutyReceiver:
    """A service of PagerDuty with an integration of the Events API v2."""

    routing_key: Secret
    url: str = "https://events.pagerduty.com/v2/enqueue"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackReceiver:
    """A channel (its id), written to by an app with the scopes `chat:write` and `channels:history`."""

    channel: str
    token: Secret
    url: str = "https://slack.com/api"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReceiver:
    """Any server that verifies Standard Webhooks. `secret`: as that writes it, `whsec_` and base64."""

    url: str
    secret: Secret


class Security(StrEnum):
    """How a connection to a mail server is encrypted."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailReceiver:
    """People with an e-mail address, by way of an SMTP server."""

    host: str
    port: int
    sender: str
    to: tuple[str, ...]
    security: Security = Security.STARTTLS
    username: str = ""
    password: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubReceiver:
    """The issues of a repository (`owner/name`)."""

    repository: str
    token: Secret
    labels: tuple[str, ...] = ("incident",)
    url: str = "https://api.github.com"


Target = AlertmanagerReceiver | PagerDutyReceiver | SlackReceiver | WebhookReceiver | EmailReceiver | GitHubReceiver


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """A named target. `namespaces`: patterns of what it may see; other nodes are counted and not named. `reader`: the
    subject of grants as which it reads instead; empty: it is a reader of its namespaces.

    `policy_viewer`: who that is by the access policy (`viewers.py`); None: Whence runs open, so no policy limits it.
    """

    name: str
    target: Target
    namespaces: tuple[str, ...] = EVERYTHING
    reader: str = ""
    policy_viewer: Viewer | None = None

    @property
    def viewer(self) -> Viewer:
        """Who reads what it gets."""
        if self.policy_viewer is not None:
            return self.policy_viewer
        if self.namespaces == EVERYTHING:
            return OPEN
        return Viewer(name="receiver", grants=tuple(Grant(Role.READER, one) for one in self.namespaces))


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A node of the tree of routes. `match`: for each property, the patterns of which one must match.

    The first of `routes` that matches decides, unless it goes on. `receivers`: those of the parent if empty.
    """

    receivers: tuple[str, ...] = ()
    match: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    routes: tuple["Route", ...] = ()
    goes_on: bool = False

    def matches(self, notice: Notice) -> bool:
        """Whether an incident is for this route. A route without `match` is for all."""
        return all(_matches(patterns, _values(notice, name)) for name, patterns in self.match.items())

    def receivers_of(self, notice: Notice, inherited: Sequence[str] = ()) -> Iterator[str]:
        """The receivers of an incident that is for this route; one may be there twice."""
        own, is_taken = self.receivers or tuple(inherited), False
        for route in self.routes:
            if route.matches(notice):
                is_taken = True
                yield from route.receivers_of(notice, own)
                if not route.goes_on:
                    return
        if not is_taken:
            yield from own


@dataclass(frozen=True, slots=True, kw_only=True)
class Receivers:
    """What a file states. `url`: where browsers find Whence; empty: messages have no links."""

    receivers: tuple[Receiver, ...]
    route: Route
    url: str = ""
    reports: tuple[ReportSchedule, ...] = ()
    retrain: tuple[RetrainRoute, ...] = ()

    def of(self, notice: Notice) -> tuple[Receiver, ...]:
        """Who is notified of an incident, each once, in the order of the file."""
        names = frozenset(self.route.receivers_of(notice))
        return tuple(one for one in self.receivers if one.name in names)


MATCHED = ("owner", "tier", "severity", "domain", "namespace")
"""The properties of an incident that routes can ask for."""


def _values(notice: Notice, name: str) -> tuple[str, ...]:
    match name:
        case "owner":
            return notice.owners or ("",)
        case "tier":
            return (notice.tier,)
        case "severity":
            return (notice.severity,)
        case "domain":
            return (notice.domain,)
        case _:
            return (notice.environment,)


def _matches(patterns: Sequence[str], values: Sequence[str]) -> bool:
    return any(matches_pattern(pattern, value) for pattern in patterns for value in values)
