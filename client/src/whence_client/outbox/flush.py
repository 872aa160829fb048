"""Sending what processes left in the outbox: the work of `whence capture flush`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whence_client.outbox.delivery import Post, deliver
from whence_client.outbox.destinations import Destination, destinations, keep_large
from whence_client.outbox.spool import Spool, abandoned
from whence_client.process.settings import Settings

BATCH_EVENTS, BATCH_BYTES = 500, 4 << 20


@dataclass
class Flushed:
    """What became of the unsent events for one collector. `waiting` is in bytes; `problem`: why they wait."""

    url: str
    sent: int = 0
    refused: int = 0
    large: int = 0
    """Events that are still too large for the collector."""
    waiting: int = 0
    problem: str = ""


def flush_outbox(settings: Settings) -> Iterator[Flushed]:
    """Send the events of all processes that are gone, to the collectors that they were for.

    Events that were too large once are tried again. Files of running processes are theirs. Raises OSError where the
    disk does.
    """
    for destination in destinations(settings):
        yield _flush_destination(destination)


def _flush_destination(destination: Destination) -> Flushed:
    done, post = Flushed(destination.settings.url), destination.post()
    try:
        for folder in (destination.folder, destination.large_folder):
            for spool in abandoned(folder):
                _flush_spool(spool, done, post, destination)
    finally:
        post.close()
    return done


def _flush_spool(spool: Spool, done: Flushed, post: Post, destination: Destination) -> None:
    try:
        while not done.problem and (lines := spool.read(BATCH_BYTES, BATCH_EVENTS)):
            delivery = deliver(lines, post)
            keep_large(destination, delivery.large)
            spool.acknowledge(sum(map(len, lines[: delivery.taken])))
            done.sent += delivery.taken - len(delivery.refused) - len(delivery.large)
            done.refused += len(delivery.refused)
            done.large += len(delivery.large)
            done.problem = delivery.problem
        done.waiting += spool.waiting
    finally:
        spool.close()
