"""The normal form of an expression: what it computes, without the aliases of its query and the names of its columns."""

import re
from collections.abc import Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_LONGEST = 4_000
"""The longest text that is read, in characters."""
_MARK = "\0"
"""Is in no text that is read: around the number of a column."""
_MARKED = re.compile(f'"{_MARK}(\\d+){_MARK}"')


def normalize_formula(text: str, names: Mapping[str, str]) -> str:
    """The normal form. `names`: what stands for each column, by its name in lower case; others keep their name. A text
    that is no expression stays as it is.
    """
    form = _read_form(text)
    if form is None:
        return text
    parts = [_quote(names.get(part, part)) if number % 2 else part for number, part in enumerate(form)]
    return "".join(parts)


@lru_cache(maxsize=16_384)
def _read_form(text: str) -> tuple[str, ...] | None:
    """The normal form in parts, every second one the name of a column in lower case. None for another text."""
    if not text or len(text) > _LONGEST or _MARK in text:
        return None
    try:
        tree = sqlglot.parse_one(text)
    except (SqlglotError, RecursionError, ValueError):
        return None
    columns = list[str]()
    for column in tree.find_all(exp.Column):
        columns.append(column.name.casefold())
        column.args.clear()
        column.set("this", exp.to_identifier(f"{_MARK}{len(columns) - 1}{_MARK}", quoted=True))
    found = _MARKED.split(tree.sql(normalize_functions="upper", comments=False))
    return tuple(columns[int(part)] if number % 2 else part for number, part in enumerate(found))


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
