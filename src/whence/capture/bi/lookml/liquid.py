"""Text of LookML that is made when a query runs: constants and constant Liquid are rendered, the rest is announced."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from whence.errors import ArtifactError

if TYPE_CHECKING:
    from liquid import Environment

_CONSTANT = re.compile(r"@\{(\w+)\}")
_CONDITION = re.compile(r"\{%-?\s*condition\s+[\w.]+\s*-?%\}(.*?)\{%-?\s*endcondition\s*-?%\}", re.DOTALL)
_LIQUID = re.compile(r"\{[{%]")
_CLOCKS = ("date",)
"""Filters that read the clock: what they give is not constant."""


def render(text: str, constants: Mapping[str, str]) -> str:
    """The text as each query has it. Raises ArtifactError if it depends on a user, a filter or the time.

    A templated filter stays a condition on what it filters.

    >>> render("{% condition day %} ${TABLE}.day {% endcondition %} and '@{env}' = 'x'", {"env": "prod"})
    "(( ${TABLE}.day ) IS NOT NULL) and 'prod' = 'x'"
    """
    text = _constants(text, constants)
    text = _CONDITION.sub(r"((\1) IS NOT NULL)", text)
    return _rendered(text) if _LIQUID.search(text) else text


def _constants(text: str, constants: Mapping[str, str]) -> str:
    for _ in range(len(constants) + 1):  # a constant may have others in it
        missing = [name for name in _CONSTANT.findall(text) if name not in constants]
        if missing:
            raise ArtifactError(text, f"the manifest has no constant {missing[0]}")
        replaced = _CONSTANT.sub(lambda found: constants[found[1]], text)
        if replaced == text:
            return text
        text = replaced
    raise ArtifactError(text, "its constants are made of each other")


def _rendered(text: str) -> str:
    from liquid.exceptions import LiquidError

    try:
        return _environment().from_string(text).render()
    except (LiquidError, RecursionError, ArithmeticError) as error:
        reason = " ".join(str(error).split("\n")[0].split())
        raise ArtifactError(text, f"Liquid decides it when the query runs, not captured: {reason}") from None


@cache
def _environment() -> "Environment":
    from liquid import Environment, StrictUndefined

    class Bounded(Environment):
        loop_iteration_limit = 1000
        output_stream_limit = 1_000_000

    made = Bounded(undefined=StrictUndefined)
    for name in _CLOCKS:
        made.filters.pop(name, None)
    return made
