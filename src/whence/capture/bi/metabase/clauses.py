"""Clauses of MBQL, Metabase's query language, in both spellings: options last, or (since release 57) options first."""

from typing import Any

from whence.openlineage.json.wire import Json

_WITH_OPTIONS = frozenset(("field", "expression", "aggregation", "case", "aggregation-options", "joined-field"))
Clause = tuple[str, Json, tuple[Any, ...]]


def split(clause: Any) -> Clause | None:
    """The operator, options and arguments of a clause; None of a value.

    >>> split(["field", 7, {"join-alias": "Users"}]), split(["field", {}, 7])
    (('field', {'join-alias': 'Users'}, (7,)), ('field', {}, (7,)))
    """
    if not isinstance(clause, list) or not clause or not isinstance(clause[0], str):
        return None
    operator, rest = clause[0].lower(), clause[1:]
    if rest and isinstance(rest[0], dict) and operator != "value":
        return operator, rest[0], tuple(rest[1:])
    if operator in _WITH_OPTIONS and rest and (isinstance(rest[-1], dict) or rest[-1] is None):
        return operator, rest[-1] or {}, tuple(rest[:-1])
    if operator == "field-id":  # before release 39
        return "field", {}, tuple(rest)
    return operator, {}, tuple(rest)


def stages_of(query: Json) -> list[Json]:
    """The stages of a query, the innermost first, in the names of the first spelling."""
    if isinstance(query.get("stages"), list):
        return [_renamed(one) for one in query["stages"]]
    inner = query.get("source-query")
    return [*(stages_of(inner) if isinstance(inner, dict) else []), query]


def _renamed(stage: Json) -> Json:
    renamed = dict(stage)
    if stage.get("source-card"):
        renamed["source-table"] = f"card__{stage['source-card']}"
    if isinstance(stage.get("expressions"), list):
        named = [(split(one), one) for one in stage["expressions"]]
        renamed["expressions"] = {str(found[1].get("lib/expression-name")): one for found, one in named if found}
    if isinstance(stage.get("native"), str):
        renamed["native"] = stage["native"]
    return renamed


def filters_of(stage: Json) -> list[Any]:
    """The conditions of a stage."""
    return [one for one in (stage.get("filter"), *(stage.get("filters") or ())) if one]
