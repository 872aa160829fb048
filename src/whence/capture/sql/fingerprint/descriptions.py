"""Formulas and their differences in words, for a person who reviews a change."""

from collections import Counter
from collections.abc import Iterator

from whence.capture.sql.provenance.formulas import Formula

_LONGEST = 160
_OPERATORS = {"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "add": "+", "mul": "*", "and": "AND", "or": "OR"}


def formula_text(formula: Formula, depth: int = 8) -> str:
    """A formula as short text, not as SQL that could run."""
    text = _text(formula, depth)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(formula: Formula, depth: int) -> str:
    if depth == 0:
        return "…"
    args = formula.args
    match formula.op:
        case "name" | "number" | "identifier" | "text" | "type" | "boolean" | "var":
            return str(args[0])
        case "string":
            return f"'{args[0]}'"
        case "of":
            return _text(_formulas(formula)[-1], depth)
        case "exists" | "scalar" | "in_query":
            return f"{formula.op.upper()} (…)" if formula.op != "in_query" else "(…)"
        case "not":
            return f"NOT {_text(_formulas(formula)[0], depth - 1)}"
        case "ordered":
            return " ".join([_text(_formulas(formula)[-1], depth - 1), *(str(arg) for arg in args[:-1])])
        case "null":
            return "NULL"
        case "star":
            return "*"
        case "merged" | "inserted" | "updated":
            return _written_text(formula, depth)
    parts = [_text(part, depth - 1) for part in _formulas(formula)]
    if formula.op in _OPERATORS:
        return f" {_OPERATORS[formula.op]} ".join(parts)
    name = str(args[0]) if formula.op in ("aggregate", "call", "volatile", "window") and args else formula.op
    return f"{name}({', '.join(parts)})"


def _written_text(formula: Formula, depth: int) -> str:
    """What UPDATE or MERGE writes into a column, for which rows."""
    *rows, value = _formulas(formula)
    match formula.op:
        case "merged":
            return "; ".join(sorted(_text(one, depth) for one in _formulas(value)))
        case "inserted":
            return f"inserted: {_text(value, depth - 1)}"
    conditions = [_text(one, depth - 1) for one in _formulas(_formulas(rows[0])[1])] if rows[0].op == "block" else []
    where = f" where {' AND '.join(sorted(conditions))}" if conditions else ""
    return f"updated{where}: {_text(value, depth - 1)}"


def _formulas(formula: Formula) -> list[Formula]:
    return [*formula.parts]


def explain_rows(before: Formula, after: Formula) -> str:
    """Why two sets of rows differ, in words."""
    return "; ".join(dict.fromkeys(_differences(before, after, 6))) or "the rows are made in another way"


def _differences(before: Formula, after: Formula, depth: int) -> Iterator[str]:
    if before is after or depth == 0:
        return
    if before.op != after.op:
        yield from _other_operation(before, after, depth)
        return
    match before.op:
        case "block":
            yield from _block_differences(before, after, depth)
        case "group":
            yield from _part_differences("grouping key", *_parts(before, after, 1))
            yield from _differences(_formulas(before)[0], _formulas(after)[0], depth - 1)
        case "limit":
            yield from _differences(_formulas(before)[0], _formulas(after)[0], depth - 1)
            if before.args[1:] != after.args[1:]:
                yield "LIMIT or its ORDER BY changed"
        case "union_all":
            yield from _part_differences("branch of the UNION", *_parts(before, after, 0), named=False)
        case "table":
            yield f"reads {after.args[0]} instead of {before.args[0]}"
        case "statement":
            yield "the statement changed, which is compared as a whole"


def _other_operation(before: Formula, after: Formula, depth: int) -> Iterator[str]:
    words = {
        "block": "conditions or joins",
        "group": "grouping or DISTINCT",
        "limit": "LIMIT",
        "union_all": "UNION",
        "table": "no clause",
    }
    if {before.op, after.op} == {"table", "block"}:
        block, sign = (after, "added") if after.op == "block" else (before, "removed")
        parts = [formula_text(part) for part in _formulas(_formulas(block)[1])]
        yield from (f"condition {sign}: {part}" for part in parts)
        if not parts:
            yield f"join {sign}"
        return
    kinds = [words.get(one.op, one.op) for one in (before, after)]
    yield f"the rows come from {kinds[1]} instead of {kinds[0]}"


def _block_differences(before: Formula, after: Formula, depth: int) -> Iterator[str]:
    yield from _part_differences("condition", *_parts(before, after, 1))
    sources = [{_label_rows(source) for source in part} for part in _parts(before, after, 0)]
    lost, gained = (list(sources[0] - sources[1]), list(sources[1] - sources[0]))
    if len(lost) == 1 and len(gained) == 1:
        yield from _differences(lost[0], gained[0], depth - 1)
    elif lost or gained or len(_parts(before, after, 0)[0]) != len(_parts(before, after, 0)[1]):
        yield "other tables are joined"
    if _parts(before, after, 2)[0] != _parts(before, after, 2)[1]:
        yield "an outer join changed"


def _label_rows(source: Formula) -> Formula:
    """The rows that a source ranges over, without its number."""
    while source.op in ("src", "label") and _formulas(source):
        source = _formulas(source)[0]
    return source


def _parts(before: Formula, after: Formula, place: int) -> tuple[set[Formula], set[Formula]]:
    sets = []
    for one in (before, after):
        part = one.args[place] if place < len(one.args) else None
        sets.append(set(_formulas(part)) if isinstance(part, Formula) else set())
    return sets[0], sets[1]


def _part_differences(noun: str, before: set[Formula], after: set[Formula], named: bool = True) -> Iterator[str]:
    lost, gained = sorted(map(formula_text, before - after)), sorted(map(formula_text, after - before))
    if not named:
        if lost or gained:
            yield f"{noun} changed"
        return
    for one in (Counter(lost) & Counter(gained)).elements():
        yield f"{noun} {one} is about other rows than before"
        lost.remove(one)
        gained.remove(one)
    if len(lost) == 1 and len(gained) == 1:
        yield f"{noun} changed from {lost[0]} to {gained[0]}"
        return
    yield from (f"{noun} removed: {one}" for one in lost)
    yield from (f"{noun} added: {one}" for one in gained)
