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
_IN_SINGLE = re.compile(rf"'(?:(?P<time>{_TIME})|(?P<uuid>{_UUID}))'|(?P<number>{_NUMBER})")
_IN_BOTH = re.compile(rf"(?P<quote>['\"])(?:(?P<time>{_TIME})|(?P<uuid>{_UUID}))(?P=quote)|(?P<number>{_NUMBER})")


def mask_literals(text: str, dialect: str) -> str:
    """Replace the literals of these kinds. Raises DialectError."""
    pattern = _IN_BOTH if dialect_of(dialect).double_strings else _IN_SINGLE
    return pattern.sub(_placeholder_of, text)


def _placeholder_of(literal: re.Match[str]) -> str:
    if literal["number"]:
        return "0"
    return "'<time>'" if literal["time"] else "'<uuid>'"
