"""Masking of the literals that change from run to run in a job's SQL: dates, UUIDs and long numbers.

Lineage does not depend on them. Unmasked, every day's run would look new and would be read again.

>>> mask_literals("select a from t where day = '2026-01-01' and batch = 20260101", "spark")
"select a from t where day = '<time>' and batch = 0"
"""

import re

from whence.capture.sql.dialects.dialects import dialect_of

_TIME = r"\d{4}-?\d\d-?\d\d(?:[T ]?\d\d:?\d\d(?::?\d\d)?[\d.,:+Z -]*)?"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_NUMBER = r"(?<![\w.$\"'`\[/-])\d{8,}(?![\w.\"'`\]/-])"
# The quotes come first, because a search for a fixed character is fast; numbers of this length are rare.
_IN_SINGLE = re.compile(rf"'(?:(?P<time>{_TIME})|{_UUID})'")
_IN_DOUBLE = re.compile(rf'"(?:(?P<time>{_TIME})|{_UUID})"')
_LONG_NUMBER = re.compile(_NUMBER)
_DIGITS = str.maketrans("123456789", "000000000")


def mask_literals(text: str, dialect: str) -> str:
    """Replace the literals of these kinds. Raises DialectError."""
    has_double = dialect_of(dialect).double_strings
    text = _IN_SINGLE.sub(_placeholder_of, text)
    if has_double:
        text = _IN_DOUBLE.sub(_placeholder_of, text)
    return _LONG_NUMBER.sub("0", text) if _may_have_long_number(text) else text


def _may_have_long_number(text: str) -> bool:
    """A quick check: the pattern takes ten times as long, and other alphabets have digits of their own."""
    return not text.isascii() or "00000000" in text.translate(_DIGITS)


def _placeholder_of(literal: re.Match[str]) -> str:
    return "'<time>'" if literal["time"] else "'<uuid>'"
