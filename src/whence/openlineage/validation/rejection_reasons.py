"""Classes of reasons for which events are rejected, so that they can be counted.

>>> classify_refusal("/eventTime: an event needs a time: an ISO 8601 text")
'time'
"""

import re

_CLASSES = (
    ("json", r"is not JSON|is not UTF-8|not a JSON object|nests"),
    ("size", r"is larger than|too many parts|the limit is|longer than|cannot hold"),
    ("encoding", r"gzip|content encoding"),
    ("slow", r"did not arrive"),
    ("batch", r"a batch is"),
    ("collision", r"share one id"),
    ("name", r"U\+0000"),
    ("forgotten", r"is forgotten here"),
    ("time", r"^/eventTime"),
    ("run", r"^/run"),
    ("job", r"^/job"),
    ("dataset", r"^/(?:dataset|inputs|outputs)"),
    ("kind", r"an event needs a run"),
)
_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _CLASSES)

REFUSALS = (*(name for name, _ in _CLASSES), "other")
"""All classes."""


def classify_refusal(reason: str) -> str:
    """The class of a reason in the ledger's form: a JSON pointer, a colon, the error."""
    return next((name for name, pattern in _PATTERNS if pattern.search(reason)), "other")
