"""Words of names and texts: the search index holds them, and a search is split into them.

A word is a run of letters and digits, split within `camelCase`, in NFKC form and folded case.
"""

import re
from unicodedata import normalize

MAX_WORD_LENGTH = 64
"""Characters of a word that are indexed and compared."""
MAX_WORDS = 64
"""Words of a text that are indexed."""
MAX_TEXT_LENGTH = 4_000
"""Characters of a text that are read."""

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def split_words(text: str) -> tuple[str, ...]:
    """The distinct words of a text, in its order. A text without letters and digits is one word, cut to the maximum.

    `orderId` gives the whole word as well, so that `orderid` finds it.
    """
    read = text[:MAX_TEXT_LENGTH]
    if read.isascii() and read.islower():  # as nearly all names are: nothing to fold, no hump
        words = [run[:MAX_WORD_LENGTH] for run in _RUN.findall(read)]
    else:
        words = [word for run in _RUN.findall(normalize("NFKC", read)) for word in _split_humps(run)]
    return tuple(dict.fromkeys(words or _fold_symbols(text)))[:MAX_WORDS]


def trigrams(word: str) -> frozenset[str]:
    """All trigrams of a word, with a blank added at its start and end."""
    padded = f" {word} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def inner_trigrams(part: str) -> frozenset[str]:
    """The trigrams of a part of a word: every word that contains the part has them."""
    return frozenset(part[at : at + 3] for at in range(len(part) - 2))


def max_edits(word: str) -> int:
    """How many edits a search tolerates in a word: wrong, missing, surplus or swapped letters.

    One edit changes at most four of its trigrams, so every tolerated word shares at least one of them.
    """
    count = len(trigrams(word))
    return 0 if word.isdigit() else (count > 4) + (count > 8)


def _split_humps(run: str) -> list[str]:
    parts = _HUMP.split(run)
    return [_fold(part) for part in (parts if len(parts) == 1 else [*parts, run])]


def _fold_symbols(text: str) -> list[str]:
    return [_fold(text.strip())] if text.strip() else []


def _fold(text: str) -> str:
    return text.casefold()[:MAX_WORD_LENGTH]
