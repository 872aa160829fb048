"""JSON in the one form that hashes, ties and the dump use (docs/explanation/state.md, "Canonical JSON")."""

import json
import re


def canonical(value: object) -> str:
    """Sorted keys, no spaces, characters as they are, numbers in the shortest form that reads back."""
    match value:
        case dict():
            return "{" + ",".join(f"{_text(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
        case list() | tuple():
            return "[" + ",".join(map(canonical, value)) + "]"
        case float():
            return number(value)
        case str():
            return _text(value)
    return json.dumps(value)


def number(value: float) -> str:
    """Positional from 0.00001 up to 10**16, else with an exponent without plus sign or zeros before it."""
    shortest = repr(value)
    if 1e-5 <= abs(value) < 1e-4:
        digits = re.sub(r"e-05|[-.]", "", shortest)
        return f"{'-' * (value < 0)}0.0000{digits}"
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].replace("+", ""), shortest)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
