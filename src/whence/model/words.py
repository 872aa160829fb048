"""The words that names and texts are made of: what the search index holds, and what a search is cut into.

A word is a run of letters and digits, `camelCase` cut at its humps, in the folded case of NFKC.
"""

import re
from unicodedata import normalize

LONGEST = 64
"""Characters of a word that count."""
MOST = 64
"""Words of a text that count."""
READ = 4_000
"""Characters of a text that are read."""

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in its order; of a text of other characters only, its beginning as one word.

    Of `orderId` also the whole, for who types `orderid`.
    """
    read = text[:READ]
    if read.isascii() and read.islower():  # as nearly all names are: nothing to fold, no hump
        found = [run[:LONGEST] for run in _RUN.findall(read)]
    else:
        found = [word for run in _RUN.findall(normalize("NFKC", read)) for word in _humps(run)]
    return tuple(dict.fromkeys(found or _symbols(text)))[:MOST]


def grams(word: str) -> frozenset[str]:
    """Every three neighbouring characters of a word that begins and ends with a blank."""
    padded = f" {word} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def inner_grams(part: str) -> frozenset[str]:
    """Those of a part of a word: every word that has the part has them."""
    return frozenset(part[at : at + 3] for at in range(len(part) - 2))


def edits(word: str) -> int:
    """How many letters of a word may be wrong, missing, too many or swapped.

    One edit changes four of its grams at most, so a word that is so near has at least one of them.
    """
    several = len(grams(word))
    return 0 if word.isdigit() else (several > 4) + (several > 8)


def _humps(run: str) -> list[str]:
    parts = _HUMP.split(run)
    return [_folded(part) for part in (parts if len(parts) == 1 else [*parts, run])]


def _symbols(text: str) -> list[str]:
    return [_folded(text.strip())] if text.strip() else []


def _folded(text: str) -> str:
    return text.casefold()[:LONGEST]
