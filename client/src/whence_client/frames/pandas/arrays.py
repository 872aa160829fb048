"""Functions of numpy that choose between values: `where` and `select`. Their results are arrays without labels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from whence_client.frames.arrays import is_array
from whence_client.frames.frames import FrameLineage, join_inputs, join_rows
from whence_client.frames.pandas.calls import is_constant, value_of
from whence_client.lineage.columns import CONDITIONAL, LEFT_THE_ENGINE, Column, add_reason, decide, transform

Find = Callable[[Any], "FrameLineage | None"]


def watch_function(original: Any, observe: Callable[[tuple[Any, ...], dict[str, Any], Any], None]) -> Any:
    """A function of numpy that tells `observe` its arguments and its result, of the class that the original has.

    Arrays of other libraries answer for the functions that they know, which may be this one or the original.
    """

    def hooked(*args: Any, **named: Any) -> Any:
        try:
            result = original(*args, **named)
        except TypeError:
            result = _ask_arrays(replacement, args, named)
            if result is NotImplemented:
                raise
        observe(args, named, result)
        return result

    kind = type(original)
    replacement = kind(_no_arrays, hooked) if kind.__name__ == "_ArrayFunctionDispatcher" else hooked
    return functools.update_wrapper(replacement, original)


def _no_arrays(*args: Any, **named: Any) -> tuple[()]:
    """The arrays that numpy itself would ask; the original asks them."""
    return ()


def _ask_arrays(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What the first array of another library that knows the function gives."""
    others = [one for one in (*args, *named.values()) if hasattr(type(one), "__array_function__") and not is_array(one)]
    types = tuple(dict.fromkeys(map(type, others)))
    answers = (one.__array_function__(function, types, args, named) for one in others)
    return next((one for one in answers if one is not NotImplemented), NotImplemented)


def choose_values(name: str, args: tuple[Any, ...], named: dict[str, Any], find: Find) -> FrameLineage | None:
    """The lineage of an array of one dimension that `numpy.where` or `numpy.select` made; None if nobody knows it."""
    given = dict(zip(_PARAMETERS[name], args), **named)
    conditions, values = (_several(given.get(one)) for one in _PARTS[name])
    if name == "where":
        values = [*values, given.get("y")]
    elif "default" in given:
        values = [*values, given["default"]]
    known = [one for one in map(find, (*conditions, *values)) if one is not None]
    if not known or ("x" in _PARAMETERS[name] and "x" not in given):
        return None
    made = decide(transform(_columns(values, find)), _columns(conditions, find), CONDITIONAL)
    if any(find(one) is None and not is_constant(one) for one in (*conditions, *values)):
        made = add_reason(made, LEFT_THE_ENGINE)
    return FrameLineage({None: made}, join_rows(known), join_inputs(known))


_PARAMETERS = {"where": ("condition", "x", "y"), "select": ("condlist", "choicelist", "default")}
_PARTS = {"where": ("condition", "x"), "select": ("condlist", "choicelist")}


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _columns(values: Iterable[Any], find: Find) -> list[Column]:
    return [value_of(found) for found in map(find, values) if found is not None]
