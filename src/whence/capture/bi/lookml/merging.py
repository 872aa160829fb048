"""Extends and refinements: how one view, explore or dashboard is made of several texts."""

from collections.abc import Mapping
from typing import Any

from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_FIELD_KINDS = ("dimensions", "dimension_groups", "measures", "filters", "parameters")
_SOURCES = frozenset(("sql_table_name", "derived_table"))
EXTENDS = "extends__all"


def merge(base: Json, over: Json) -> Json:
    """`base` with what `over` says of it: named parts are merged one by one, the rest of `over` wins."""
    merged = _without_replaced(base, over)
    for key, value in over.items():
        if key == EXTENDS:
            merged[key] = [*merged.get(key, ()), *value]
        elif _is_named(value) and _is_named(merged.get(key, [])):
            merged[key] = _merge_named(merged.get(key, []), value)
        else:
            merged[key] = value
    return merged


def apply_extends(name: str, known: Mapping[str, Json], passed: tuple[str, ...] = ()) -> Json:
    """What `name` is with all that it extends. Raises ArtifactError for a base that is missing, or a circle."""
    if name in passed:
        raise ArtifactError(name, f"it extends itself: {' -> '.join((*passed, name))}")
    if name not in known:
        raise ArtifactError(name, f"{passed[-1] if passed else name} extends {name}, which is not in the files")
    own, merged = known[name], Json()
    for base in _bases(own):
        inherited = {
            key: value for key, value in apply_extends(base, known, (*passed, name)).items() if key != "extension"
        }
        merged = merge(merged, inherited)
    return {**merge(merged, {key: value for key, value in own.items() if key != EXTENDS}), "name": name}


def _bases(spec: Json) -> list[str]:
    listed: Any = spec.get(EXTENDS) or spec.get("extends") or ()
    flat = (
        [listed]
        if isinstance(listed, str)
        else [one for part in listed for one in ([part] if isinstance(part, str) else part)]
    )
    return [str(one) for one in flat]


def _without_replaced(base: Json, over: Json) -> Json:
    """The base without what `over` says in another way: a table instead of a query, a field of another kind."""
    merged = dict(base)
    if given := _SOURCES & over.keys():
        for key in _SOURCES - given:
            merged.pop(key, None)
    for kind in _FIELD_KINDS:
        names = {one["name"] for one in over.get(kind) or () if _is_part(one)}
        for other in _FIELD_KINDS:
            if names and other != kind and _is_named(merged.get(other, [])):
                merged[other] = [one for one in merged.get(other, []) if one["name"] not in names]
    return merged


def _merge_named(base: list[Json], over: list[Json]) -> list[Json]:
    parts = {one["name"]: one for one in base}
    for one in over:
        parts[one["name"]] = merge(parts[one["name"]], one) if one["name"] in parts else one
    return list(parts.values())


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _is_named(value: Any) -> bool:
    return isinstance(value, list) and all(_is_part(one) for one in value)
