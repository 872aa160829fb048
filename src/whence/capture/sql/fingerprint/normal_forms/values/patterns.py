"""Regular expressions of RE2, DuckDB's: spellings of one pattern, and patterns that are plain tests of texts."""

import re
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.values.text_tests import like
from whence.capture.sql.fingerprint.normal_forms.values.texts import plain_digits
from whence.capture.sql.provenance.formulas import Formula, Formulas

_TOKENS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d{1,2})\}|.", re.DOTALL)
"""An escaped letter, a class, a number of times, or a letter."""
_BY_NAME: Final = re.compile(r"\\[QxpP0-9]")
"""What names letters by their code or their kind, in more than one letter."""
_MOST_TIMES: Final = 12
_PLAIN: Final = re.compile(r"(\^?)(?:\(([\w @/:,;-]+(?:\|[\w @/:,;-]+)*)\)|([\w @/:,;-]+))(\$?)", re.ASCII)
"""Letters that stand for themselves, or a choice of some, perhaps at the beginning or the end of a text."""


def normal_pattern(pattern: str) -> str:
    """A pattern with digits as `[0-9]`, and what stands a number of times written out: `[0-9]{2}` as `[0-9][0-9]`."""
    pattern = plain_digits(pattern)
    if "[:" in pattern or _BY_NAME.search(pattern):
        return pattern
    tokens = list(_TOKENS.finditer(pattern))
    found: list[str] = []
    for place, token in enumerate(tokens):
        following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
        times = int(token[1]) if token[1] else 0
        is_counted = 0 < times <= _MOST_TIMES and following[:1] not in tuple("?+*{") and _is_atom(found)
        found += [found[-1]] * (times - 1) if is_counted else [token[0]]
    return "".join(found)


def _is_atom(before: list[str]) -> bool:
    """Whether what stands before a number of times is one letter, digit or class."""
    return bool(before) and (before[-1][0] == "[" or re.fullmatch(r"\w|\\[^\w]", before[-1], re.ASCII) is not None)


def whole_pattern(pattern: str) -> str | None:
    """The pattern that a whole text has to match, as one that is searched for; None if it has flags or a choice."""
    return None if "(?" in pattern or "|" in pattern or "\\Q" in pattern else f"^{pattern}$"


def plain_test(store: Formulas, dialect: str, value: Formula, pattern: str) -> Formula | None:
    """A search for a pattern of plain letters as tests of the first, the last or any characters."""
    found = _PLAIN.fullmatch(pattern)
    if found is None:
        return None
    texts = (found[2] or found[3]).split("|")
    first, last = ("" if mark else "%" for mark in (found[1], found[4]))
    patterns = [store.make("string", f"{first}{text}{last}") for text in texts if "_" not in text]
    tests = [one for each in patterns if (one := like(store, dialect, value, each)) is not None]
    return connect(store, "or", tests) if len(tests) == len(texts) else None


def matching(store: Formulas, dialect: str, value: Formula, pattern: str) -> Formula:
    """Whether a text has a part that matches a pattern."""
    found = plain_test(store, dialect, value, pattern)
    return found or store.make("regexplike", "expression", store.make("string", pattern), "this", value)
