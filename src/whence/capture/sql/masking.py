"""What changes in a job's SQL from run to run, taken out: dates, UUIDs and long numbers that stand as literals.

What flows does not depend on them. With them, every day's run would say something new, and be read anew.

>>> masked("select a from t where day = '2026-01-01' and batch = 20260101", "spark")
"select a from t where day = '<time>' and batch = 0"
"""

import re

from whence.capture.sql.dialects import dialect_of

_TIME = r"\d{4}-?\d\d-?\d\d(?:[T ]?\d\d:?\d\d(?::?\d\d)?[\d.,:+Z -]*)?"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_NUMBER = r"(?<![\w.$\"'`\[/-])\d{8,}(?![\w.\"'`\]/-])"
_IN_SINGLE = re.compile(rf"'(?:(?P<time>{_TIME})|(?P<uuid>{_UUID}))'|(?P<number>{_NUMBER})")
_IN_BOTH = re.compile(rf"(?P<quote>['\"])(?:(?P<time>{_TIME})|(?P<uuid>{_UUID}))(?P=quote)|(?P<number>{_NUMBER})")


def masked(text: str, dialect: str) -> str:
    """The text with its literals of these kinds replaced. Raises DialectError."""
    pattern = _IN_BOTH if dialect_of(dialect).double_strings else _IN_SINGLE
    return pattern.sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    if found["number"]:
        return "0"
    return "'<time>'" if found["time"] else "'<uuid>'"
