"""How much of a column's values an expression shows: the least that a step on the way to its result leaves."""

from collections.abc import Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from whence.capture.sql.dialects.functions import MASKING
from whence.capture.sql.disclosure.functions import (
    CIPHERS,
    CONDITIONS,
    DATE_PARTS,
    HASHES,
    LISTS,
    PART_NAMES,
    PARTS,
    SAME,
    SAME_NAMES,
    STATISTIC_NAMES,
    STATISTICS,
    WHOLE_UNITS,
)
from whence.model.sensitivity import UNKNOWN, Disclosure, Grade

_INFLUENCED, _STATISTIC, _FULL = (Disclosure(grade) for grade in (Grade.INFLUENCED, Grade.STATISTIC, Grade.FULL))
_PARTIAL, _PSEUDONYMOUS = Disclosure(Grade.PARTIAL), Disclosure(Grade.PSEUDONYMOUS)
_LONGEST = 4_000
"""The longest text that is read, in characters."""
_SHORTENED = "…"
"""The end of a text that a producer cut off."""


Declassifiers = frozenset[tuple[str, Grade]]
"""Functions by lower-case name, with what each leaves of its arguments at most."""


@lru_cache(maxsize=65_536)
def disclosure_of(text: str, column: str, declassifiers: Declassifiers = frozenset()) -> Disclosure:
    """What an expression shows of a column's values at most. `declassifiers` count before what is known of functions.

    If the expression does not name the column, it names one that was made of it: then what all its columns show
    at most, assumed. An expression that cannot be read shows everything, assumed.
    """
    tree = _parse(text)
    if tree is None:
        return UNKNOWN
    columns = list(tree.find_all(exp.Column))
    named = [one for one in columns if one.name.casefold() == column.casefold()]
    stated = dict(declassifiers)
    found = [_along(one, stated) for one in named or columns]
    if not found:
        return UNKNOWN
    most = max(one.grade for one in found)
    assumed = all(one.assumed for one in found if one.grade is most)
    return Disclosure(most, assumed or not named)


def _parse(text: str) -> exp.Expr | None:
    if not text or len(text) > _LONGEST or text.endswith(_SHORTENED):
        return None
    try:
        return sqlglot.parse_one(text)
    except (SqlglotError, RecursionError, ValueError):
        return None


def _along(column: exp.Expr, stated: Mapping[str, Grade]) -> Disclosure:
    """From a column up to the whole expression."""
    found, node = _FULL, column
    while (parent := node.parent) is not None:
        grade = stated.get(_name_of(parent)) if stated else None
        found = found.and_then(_step(parent, node) if grade is None else Disclosure(grade))
        node = parent
    return found


def _name_of(function: exp.Expr) -> str:
    """The name of a function in lower case; empty for another operation."""
    if isinstance(function, exp.Anonymous | exp.AnonymousAggFunc):
        return function.name.casefold()
    return function.sql_name().casefold() if isinstance(function, exp.Func) else ""


def _step(parent: exp.Expr, part: exp.Expr) -> Disclosure:
    """What an operation shows of one of its parts."""
    match parent, part.arg_key:
        case exp.Window(), key if key != "this":
            return _INFLUENCED
        case (exp.Case(), "this") | (exp.If(), "this") | (exp.Nullif(), "expression") | (exp.Filter(), "expression"):
            return _INFLUENCED
        case exp.WithinGroup(), key:
            return _within_group(parent, key)
        case exp.Order(), "expressions":
            return _FULL if isinstance(parent.parent, exp.WithinGroup) else _INFLUENCED
        case ((exp.ArgMax() | exp.ArgMin()), "expression"):
            return _INFLUENCED
        case ((exp.Where() | exp.Ordered()), _):
            return _FULL
        case (exp.Substring(), "this") if _is_whole_text(parent):
            return _FULL
        case exp.Extract(), _ if parent.name.casefold() in WHOLE_UNITS:
            return _FULL
        case exp.DecodeCase(), _ if _is_compared(parent, part):
            return _INFLUENCED
        case exp.Anonymous() | exp.AnonymousAggFunc(), _:
            return _FULL if _is_whole_unit(parent) else _named_function(parent.name.casefold())
    return _function(parent)


def _is_whole_text(substring: exp.Expr) -> bool:
    """Whether it begins with the first character and has no end."""
    start = substring.args.get("start")
    return substring.args.get("length") is None and (start is None or start.name in ("0", "1"))


def _is_compared(decode: exp.Expr, part: exp.Expr) -> bool:
    """Whether it is the value, or one of those that are sought, in `DECODE(value, sought, result, …, default)`."""
    at, last = part.index or 0, len(decode.expressions) - 1
    return at == 0 or (at % 2 == 1 and at != last)


def _is_whole_unit(function: exp.Expr) -> bool:
    """`date_part('epoch', time)`."""
    is_part = function.name.casefold() in DATE_PARTS and function.expressions
    return bool(is_part) and function.expressions[0].name.casefold() in WHOLE_UNITS


def _within_group(group: exp.Expr, key: str | None) -> Disclosure:
    """`percentile(…) WITHIN GROUP (ORDER BY value)` is about the values; a list of values is only ordered by others."""
    if key == "this":
        return _FULL
    function = group.this
    is_list = isinstance(function, exp.GroupConcat | exp.ArrayAgg) or function.name.casefold() in LISTS
    if isinstance(function, exp.Mode) or function.name.casefold() == "mode":
        return _FULL
    return _INFLUENCED if is_list else _STATISTIC


def _function(parent: exp.Expr) -> Disclosure:
    for kinds, shown in (
        (HASHES, _PSEUDONYMOUS),
        (PARTS, _PARTIAL),
        (SAME, _FULL),
        (CONDITIONS, _INFLUENCED),
        (STATISTICS, _STATISTIC),
    ):
        if isinstance(parent, kinds):
            return shown
    if isinstance(parent, exp.Func):
        return _named_function(parent.sql_name().casefold())
    return UNKNOWN


def _named_function(name: str) -> Disclosure:
    if name in MASKING or name in CIPHERS:
        return _PSEUDONYMOUS
    if name in SAME_NAMES:
        return _FULL
    if name in STATISTIC_NAMES:
        return _STATISTIC
    return _PARTIAL if name in PART_NAMES else UNKNOWN
