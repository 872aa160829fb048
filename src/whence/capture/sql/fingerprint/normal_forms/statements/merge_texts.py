"""A MERGE that is compared as text: the same text for all spellings that differ in names and order alone."""

from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def merge_text(node: tree.Node, grammar: str) -> str:
    """The same text for all spellings of a MERGE that differ in names of its sides and in the order of their parts.

    The order of WHEN clauses counts among those of one kind: the first one whose condition is true acts.
    """
    merge = node.copy()
    on, whens = tree.arg(merge, tree.ON), tree.arg(merge, "whens")
    sides = [side for side in (tree.this(merge), tree.arg(merge, tree.USING)) if isinstance(side, tree.Node)]
    if on is None or whens is None or len(sides) != 2 or any(part.find(c.Query) for part in (on, whens)):
        return tree.source_text(node, grammar)
    _rename_sides(sides, [on, whens])
    kinds: dict[str, list[str]] = {}
    for when in tree.items(whens):
        kind = f"{when.args.get('matched')} {when.args.get('source')}"
        kinds.setdefault(kind, []).append(_when_text(when, grammar))
    parts = [*(tree.source_text(side, grammar) for side in sides), *_conjuncts(on, grammar)]
    parts += [f"{kind}: {text}" for kind, texts in sorted(kinds.items()) for text in texts]
    rest = [name for name, value in merge.args.items() if value and name not in ("this", "using", "on", "whens")]
    return "\n".join(("MERGE", *parts, *(f"{name} {merge.args[name]}" for name in sorted(rest))))


def _rename_sides(sides: list[tree.Node], parts: list[tree.Node]) -> None:
    names = [side.alias_or_name for side in sides]
    if not all(names) or names[0] == names[1]:
        return
    renamed = dict(zip(names, ("target", "source"), strict=True))
    for column in (column for part in parts for column in part.find_all(c.Column)):
        table = tree.arg(column, tree.TABLE)
        if table is not None and table.name in renamed:
            table.set("this", renamed[table.name])
    for side in sides:
        side.set(tree.ALIAS, None)


def _conjuncts(condition: tree.Node, grammar: str) -> list[str]:
    """The texts of an AND, sorted; the sides of an equality have no order."""
    parts = list(condition.flatten()) if isinstance(condition, c.And) else [condition]
    return sorted({_condition_text(part, grammar) for part in parts})


def _condition_text(condition: tree.Node, grammar: str) -> str:
    operation, inside = condition.key, condition.unnest()
    if isinstance(inside, c.Not) and isinstance(tree.this(inside).unnest(), c.EQ | c.NEQ):
        inside = tree.this(inside).unnest()
        operation = "neq" if inside.key == "eq" else "eq"
    if not isinstance(inside, c.EQ | c.NEQ):
        return tree.source_text(condition, grammar)
    sides = sorted(tree.source_text(inside.args[name], grammar) for name in (tree.THIS, tree.EXPRESSION))
    return f"{operation} {sides}"


def _when_text(when: tree.Node, grammar: str) -> str:
    condition, then = tree.arg(when, "condition"), when.args.get("then")
    conditions = _conjuncts(condition, grammar) if condition is not None else []
    return f"{conditions} {_action_text(then, grammar) if isinstance(then, tree.Node) else then}"


def _action_text(then: tree.Node, grammar: str) -> str:
    names, values = tree.this(then), tree.arg(then, tree.EXPRESSION)
    if isinstance(then, c.Update) and set(_given(then)) == {tree.EXPRESSIONS}:
        return f"update {sorted(tree.source_text(item, grammar) for item in tree.items(then))}"
    if isinstance(then, c.Insert) and isinstance(names, c.Tuple) and isinstance(values, c.Tuple):
        pairs = zip(tree.items(names), tree.items(values), strict=False)
        if len(tree.items(names)) == len(tree.items(values)) and set(_given(then)) == {tree.THIS, tree.EXPRESSION}:
            return f"insert {sorted([tree.source_text(one, grammar) for one in pair] for pair in pairs)}"
    return tree.source_text(then, grammar)


def _given(node: tree.Node) -> list[str]:
    return [name for name, value in node.args.items() if value]
