"""Scala's values as Python's, through py4j. Each call is a round trip to the JVM of some tenths of a millisecond."""

from __future__ import annotations

from typing import Any

_SEPARATOR = "\u0001"


def read_option(option: Any) -> Any:
    """The value of an Option, or None."""
    return option.get() if option is not None and option.isDefined() else None


def read_sequence(sequence: Any) -> list[Any]:
    """The members of a Seq."""
    return [sequence.apply(index) for index in range(sequence.size())]


def read_texts(sequence: Any) -> tuple[str, ...]:
    """The members of a Seq of strings, in one call."""
    text = sequence.mkString(_SEPARATOR)
    return tuple(text.split(_SEPARATOR)) if text else ()


def read_map(mapping: Any, *keys: str) -> str:
    """The value of the first key that a Map of strings has, in any case of letters; else empty."""
    for key in keys:
        for spelled in dict.fromkeys((key, key.lower())):
            if (value := read_option(mapping.get(spelled))) is not None:
                return str(value)
    return ""


def class_name(value: Any) -> str:
    """The class of a Java object without its package."""
    return str(value.getClass().getName()).rpartition(".")[2]


def call(value: Any, *methods: str) -> Any:
    """The result of the first of these methods that the object has; None if it has none of them."""
    for method in methods:
        found, result = _try_call(value, method)
        if found:
            return result
    return None


def _try_call(value: Any, method: str) -> tuple[bool, Any]:
    from py4j.protocol import Py4JError

    try:
        return True, getattr(value, method)()
    except Py4JError as error:
        if "does not exist" not in str(error):
            raise
        return False, None
