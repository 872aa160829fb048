"""PostgreSQL's `log_line_prefix` as a regular expression (PostgreSQL documentation, 19.8.3).

>>> prefix_pattern("%t [%p]: user=%u,db=%d ").match("2026-02-01 10:00:00 UTC [42]: user=ada,db=x LOG:  y")["user"]
'ada'
"""

import re
from functools import lru_cache

_ZONE = r"(?: [A-Za-z/_]+|[+-]\d\d(?::?\d\d)?)?"
_SECOND = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_SEVERITY = r"(?=[A-Z]+[1-5]?:  )"
_ESCAPES = {
    "a": r"(?P<application>.*?)",
    "u": r"(?P<user>.*?)",
    "d": r"(?P<database>.*?)",
    "p": r"(?P<process>\d+)",
    "c": r"(?P<session>[0-9a-f]+\.[0-9a-f]+)",
    "t": rf"(?P<time>{_SECOND}{_ZONE})",
    "m": rf"(?P<time>{_SECOND}\.\d+{_ZONE})",
    "n": r"(?P<epoch>\d+[.]\d+)",
    "Q": r"(?P<query_id>-?\d+)",
    "q": "",
    "%": "%",
}


@lru_cache(maxsize=16)
def prefix_pattern(prefix: str) -> re.Pattern[str]:
    """The pattern of a line's prefix. Server processes stop at `%q`, so everything after it is optional."""
    parts, optional = list[str](), False
    for escape, literal in re.findall(r"%-?\d*([a-zA-Z%])|([^%]+)", prefix):
        optional = optional or escape == "q"
        parts.append(re.escape(literal) if literal else _once(escape, parts))
        if escape == "q":
            parts.append("(?:")
    return re.compile("".join([*parts, ")??" if optional else "", _SEVERITY]))


def _once(escape: str, parts: list[str]) -> str:
    """The expression of an escape; a second escape with the same name matches without a group."""
    expression = _ESCAPES.get(escape, r"\S*")
    name = re.match(r"\(\?P<(\w+)>", expression)
    if name and any(f"(?P<{name[1]}>" in part for part in parts):
        return r"\S*?"
    return rf" *{expression} *" if expression and escape != "%" else expression
