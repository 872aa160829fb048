"""Destinations: a folder of unsent events for each collector, and how it is asked to take them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whence_client.outbox.http_post import HttpPost
from whence_client.outbox.spool import Spool, new_path
from whence_client.process.settings import Settings
from whence_client.redaction.credentials import strip_credentials

ENDPOINT, LARGE = "endpoint", "large"


@dataclass(frozen=True)
class Destination:
    """A collector, and the folder of what it has not taken yet."""

    folder: str
    settings: Settings

    def make_folder(self) -> str:
        """The folder, which is made, with the collector's address in it. Raises OSError."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        place = os.path.join(self.folder, ENDPOINT)
        if not os.path.exists(place):
            with open(place, "w", encoding="utf-8") as file:
                file.write(self.settings.url)
        return self.folder

    def post(self) -> HttpPost:
        """A connection to the collector."""
        return HttpPost(self.settings)

    @property
    def large_folder(self) -> str:
        """Where events are that were too large: only `whence capture flush` tries them again."""
        return os.path.join(self.folder, LARGE)


def keep_large(destination: Destination, lines: Sequence[bytes]) -> None:
    """Keep events apart that were too large for the collector. Raises OSError."""
    if not lines:
        return
    spool = Spool(new_path(Destination(destination.large_folder, destination.settings).make_folder()))
    for line in lines:
        spool.append(line.rstrip(b"\n"))
    spool.sync()
    spool.close()


def destination_of(settings: Settings) -> Destination:
    """The collector of the settings."""
    return Destination(destination_folder(settings), settings)


def destination_folder(settings: Settings) -> str:
    """The folder of a collector's unsent events. If the outbox cannot be written, one in the temporary directory."""
    key = hashlib.sha256(strip_credentials(settings.endpoint).encode()).hexdigest()[:16]
    for outbox in (settings.outbox, os.path.join(tempfile.gettempdir(), f"whence-outbox-{_user()}")):
        if outbox and _can_write(outbox):
            return os.path.join(outbox, key)
    return os.path.join(settings.outbox, key)


def destinations(settings: Settings) -> Iterator[Destination]:
    """All collectors for which events wait in the outbox, with the key and timeout of the settings."""
    try:
        names = sorted(os.listdir(settings.outbox))
    except OSError:
        return
    for name in names:
        folder = os.path.join(settings.outbox, name)
        place = os.path.join(folder, ENDPOINT)
        if os.path.isfile(place):
            with open(place, encoding="utf-8") as file:
                yield Destination(folder, replace(settings, url=file.read().strip()))


def _can_write(folder: str) -> bool:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
