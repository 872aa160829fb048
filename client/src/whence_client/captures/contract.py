"""What a capture is. It is registered by an entry point of the group `whence.captures`, whose value is the object.

- *attach*: `install` puts hooks into the process that runs the job. The entry point is named as the module whose first
  import installs it (`pandas`).
- *poll*, *read*: `records` yields the source's own records, with the cursor after each.
- *wrap*: a command around the job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Callable, Protocol

from whence_client.events.facets import Event

if TYPE_CHECKING:
    from whence_client.captures.naming import Naming
    from whence_client.captures.session import Session

ATTACH, POLL, READ, WRAP = "attach", "poll", "read", "wrap"

GROUP = "whence.captures"

Undo = Callable[[], None]
"""Takes back what `install` did: every patched object is the same object as before."""

Cursor = Any
"""Where a poll is, as JSON; None at the beginning. Only its capture reads it."""


@dataclass(frozen=True)
class Versions:
    """The oldest and the newest release of the source that the capture was run with."""

    oldest: str
    newest: str


@dataclass(frozen=True)
class Findings:
    """What a check found. `version` of the source, empty if it is not there; `problems`, each a sentence."""

    version: str = ""
    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """What may be incomplete, though it works."""

    @property
    def is_usable(self) -> bool:
        """Whether the capture can run."""
        return not self.problems


class Capture(Protocol):
    """What all captures have. `translate` is pure: no clock, network or files, and no id that the record lacks."""

    name: str
    kind: str
    versions: Versions

    def check(self) -> Findings:
        """Whether the source is there, and of a release that is known. Imports nothing of it."""
        ...

    def translate(self, record: Any, naming: Naming) -> Iterable[Event]:
        """The events of one record."""
        ...


class AttachCapture(Capture, Protocol):
    """A capture in the job's own process.

    It may have `engines`: modules that its library imports to execute with, whose own captures are not missed for that.
    """

    def install(self, session: Session) -> Undo:
        """Put the hooks in place. The session's guard is around every hook body. A second call changes nothing."""
        ...


@dataclass(frozen=True)
class Window:
    """Which records are wanted, by the source's own times; all after the cursor if both are None.

    `overlap`: how far before the cursor a poll reads again, since sources write late and out of order.
    """

    since: datetime | None = None
    until: datetime | None = None
    overlap: timedelta = timedelta(minutes=10)


class RecordCapture(Capture, Protocol):
    """A capture of one source, whose API is polled, or whose files are read."""

    instance: str
    """The source, as a URI without credentials: part of run ids, and the name of the cursor."""

    def records(self, cursor: Cursor, window: Window) -> Iterator[tuple[Any, Cursor]]:
        """The records after the cursor and in the window, in the source's order, each with the cursor behind it."""
        ...


class ConfigurableCapture(Capture, Protocol):
    """What the entry point of a poll or read capture names: from it, the capture of one source is made."""

    options: Mapping[str, str]
    """The names of its options, and what they mean. Secrets come from the environment, not from options."""

    def configure(self, options: Mapping[str, str]) -> RecordCapture:
        """The capture of one source. Raises ValueError with a sentence for an option that is missing or wrong."""
        ...


def check_package(package: str, versions: Versions) -> Findings:
    """Whether an installed distribution is of a release that a capture knows. The package is not imported."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version(package)
    except PackageNotFoundError:
        return Findings(problems=(f"{package} is not installed here",))
    if _number(found) < _number(versions.oldest):
        return Findings(found, (f"{package} {found} is older than {versions.oldest}, the oldest release tried",))
    if _number(found)[:2] > _number(versions.newest)[:2]:
        newer = f"{package} {found} is newer than {versions.newest}, the newest release tried"
        return Findings(found, doubts=(f"{newer}; lineage may be incomplete",))
    return Findings(found)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])
