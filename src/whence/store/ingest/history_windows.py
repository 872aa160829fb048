"""Windows: the parts of owners' histories that are folded again, and the changes that a fold finds in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from whence.store.ingest.statements import Held, Owner


@dataclass(frozen=True, slots=True)
class Window:
    """The part of one owner's history to fold: all statements from `since` to `until`, times inclusive, and the next
    after.
    """

    owner: Owner
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Folded:
    """One owner's history folded from `since` to `end`: its changes as (at, statement id, held)."""

    owner: Owner
    since: int
    end: int
    changes: tuple[tuple[int, int, Held], ...]
    converged: bool


WINDOW = ("owner", "aspect", "since", "until")
"""The columns of `window_rows`."""


def window_rows(windows: Sequence[Window | Folded]) -> list[tuple[int, int, int, int]]:
    """Windows as rows of a query."""
    return [
        (window.owner.id, window.owner.aspect, window.since, window.until if isinstance(window, Window) else window.end)
        for window in windows
    ]
