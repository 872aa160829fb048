"""Regular expressions that are compiled when they are first used.

A job that is captured sends few events, and most hold nothing that looks like a secret: to compile all patterns takes
longer than all else that is done for an event.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import AnyStr, Generic


@dataclass(frozen=True)
class Pattern(Generic[AnyStr]):
    """A regular expression and its flags."""

    text: AnyStr
    flags: int = 0

    @property
    def compiled(self) -> re.Pattern[AnyStr]:
        """The expression, ready for use."""
        return _compile(self.text, self.flags)


# Without a lock: a process that forks while another thread holds one would hang.
_compile = functools.cache(re.compile)
