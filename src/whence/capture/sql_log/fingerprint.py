"""Fingerprints of queries: those that differ only in literals, comments and spaces are one job.

>>> fingerprint("SELECT a FROM t WHERE k IN (1, 2) -- ada") == fingerprint("select a from t\\nwhere k in (7)")
True
"""

import re
from collections.abc import Iterable
from hashlib import blake2b

_NOISE = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_LITERAL = re.compile(r"'(?:[^']|'')*'|(?<![\w$])\d+(?:\.\d+)?(?:e[+-]?\d+)?\b|\$\d+", re.IGNORECASE)
_LIST = re.compile(r"\?(?:\s*,\s*\?)+")


def fingerprint(text: str, tables: Iterable[str] = ()) -> str:
    """Twelve hex digits that are equal for queries of one shape, and of the same tables: one text may run in many
    databases.
    """
    without_literals = _LIST.sub("?", _LITERAL.sub("?", _NOISE.sub(" ", text)))
    shape = " ".join(without_literals.lower().split()).rstrip("; ")
    return blake2b("\0".join((shape, *tables)).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
