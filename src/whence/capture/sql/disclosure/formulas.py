"""The normal form of an expression: what it computes, without the aliases of its query and the names of its columns."""

from collections.abc import Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_LONGEST = 4_000
"""The longest text that is read, in characters."""


def normalize_formula(text: str, names: Mapping[str, str]) -> str:
    """The normal form. `names`: what stands for each column, by its name in lower case; others keep their name. A text
    that is no expression stays as it is.
    """
    return _normalize(text, tuple(sorted(names.items())))


@lru_cache(maxsize=16_384)
def _normalize(text: str, names: tuple[tuple[str, str], ...]) -> str:
    if not text or len(text) > _LONGEST:
        return text
    try:
        tree = sqlglot.parse_one(text)
    except (SqlglotError, RecursionError, ValueError):
        return text
    known = dict(names)
    for column in tree.find_all(exp.Column):
        name = column.name.casefold()
        column.args.clear()
        column.set("this", exp.to_identifier(known.get(name, name), quoted=True))
    return tree.sql(normalize_functions="upper", comments=False)
