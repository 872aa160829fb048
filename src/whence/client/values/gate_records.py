"""Values of what gates and people recorded of commits."""

from typing import Any
from urllib.parse import quote

import msgspec


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A person's approval of one commit."""

    person: str
    commit: str


class ApprovalsPage(msgspec.Struct, frozen=True, kw_only=True):
    """The approvals of a commit."""

    data: tuple[Approval, ...]


class RecordedWaiver(msgspec.Struct, frozen=True, kw_only=True):
    """A change that may pass until the end of a day (ISO 8601, UTC), and who says so."""

    change: str
    owner: str
    reason: str
    expires: str


class WaiversPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of waivers."""

    data: tuple[RecordedWaiver, ...]
    page: dict[str, Any] | None


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a recorded verdict differs from the one before."""

    transition: bool


class WrittenPage(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a verdict that was sent."""

    data: Written


def waiver_path(repository: str, change: str) -> str:
    """The path of the route of a waiver."""
    return f"/api/v2/gate/waivers/{quote(repository, safe='')}/{quote(change, safe='')}"


def verdict_path(repository: str, commit: str) -> str:
    """The path of the route of a verdict."""
    # A segment of dots alone would be resolved as a relative path: `origin` may be `..`, a checkout beside this one.
    name = quote(repository, safe="")
    whole = name if name.strip(".") else name.replace(".", "%2E")
    return f"/api/v2/gate/verdicts/{whole}/{quote(commit, safe='')}"
