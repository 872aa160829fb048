"""Variables of a script: what they were set to, where a statement says so. They flow on into the statements behind it.

`SET @a = (SELECT …)`, `DECLARE a DATE DEFAULT (SELECT …)`, `SELECT @a = …` (T-SQL), `SELECT @a := …` (MySQL),
`a := (SELECT …)` (Oracle, PostgreSQL, Snowflake).
"""

import re

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.expressions import flow_of, value_of
from whence.capture.sql.flows import NOTHING, Flow, joined
from whence.capture.sql.lineage import Budget
from whence.capture.sql.moves import Moved
from whence.capture.sql.names import cased, column_name
from whence.capture.sql.parsing import parse
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import Output, Relation
from whence.capture.sql.scopes import Scope

QUERIED = re.compile(
    r"(?:LET\s+)?(?P<name>\w+)(?:\s+[A-Za-z]\w*(?:\([^)]*\))?)?\s*(?::=|\bDEFAULT\b)\s*\(?\s*(?P<query>(?:SELECT|WITH)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""An assignment of a query in a procedure: the parser has no statement for it."""


_EXPRESSION = re.compile(
    r"(?:LET\s+)?(?P<name>\w+(?:\.\w+)?)(?:\s+(?:CONSTANT\s+)?[A-Za-z][\w.%]*(?:\s*\([^)]*\))?)?(?:\s+NOT\s+NULL)?\s*"
    r"(?::=|\bDEFAULT\b)\s*(?P<value>.+)$",
    re.IGNORECASE | re.DOTALL,
)
"""An assignment of anything else."""


def set_expression(reading: Reading, text: str) -> Moved | None:
    """`a := b + 1`, `r.x := c.y`: what a variable is made of. None if the text is no assignment."""
    found = _EXPRESSION.match(text)
    if found is None or text[:7].upper() == "DECLARE":
        return None
    name, _, part = found["name"].lower().partition(".")
    value = Output(name, NOTHING)
    for node in parse(f"SELECT {found['value']}", reading.dialect, Budget()).nodes:
        if isinstance(node, c.Select) and tree.items(node):
            value = value_of(Scope(reading), tree.items(node)[0])
    set_variable(reading, [name, part] if part else [name], value)
    _pass_on_loops(reading, name)
    return Moved("set", opaque=True)


def set_variable(reading: Reading, names: list[str], value: Output) -> None:
    """Keep the value of a variable, `a`, or of a field of a record, `r.a`."""
    name, *path = names
    if not path:
        reading.variables[name] = Output(name, value.flow, value.fields)
        return
    before = reading.variables.get(name)
    known = before.fields if before is not None and before.fields is not None else {}
    part = cased(reading.dialect.columns, path[0], False)
    reading.variables[name] = Output(name, NOTHING, {**known, part: value.called(part)})


def _pass_on_loops(reading: Reading, name: str) -> None:
    """A variable that is made of a loop's record carries on what chose the rows of the loop."""
    if reading.looped:
        reading.loops[name] = joined(reading.loops.get(name, NOTHING), reading.looped)


def query_text(found: re.Match[str]) -> str:
    """The query of an assignment, without the bracket that stood before it."""
    text = found.group("query").rstrip()
    return text[:-1] if text.endswith(")") and text.count(")") > text.count("(") else text


def variable_name(node: tree.Node) -> str:
    """What a variable is kept under: `@a` with its sign, others without; in lower case."""
    inside = tree.this(node) if isinstance(node, c.Parameter) else node
    text = tree.text_of(inside)[0].lower()
    return text if not isinstance(node, c.Parameter) or text[:1] in "@$" else f"@{text}"


def keep(reading: Reading, name: str, relation: Relation) -> None:
    """One value out of a query: its first column, and what chose the row."""
    first = relation.outputs[0].flow if relation.outputs else {}
    reading.variables[name] = Output(name, joined(first, relation.rows))


def assigned_columns(node: tree.Node) -> list[tree.Node]:
    """The variables that a select list sets, if all its items do; the list keeps their values. Else nothing."""
    items = tree.items(node) if isinstance(node, c.Select) else []
    if not items or not all(
        isinstance(one, c.EQ | c.PropertyEQ) and isinstance(tree.this(one), c.Parameter) for one in items
    ):
        return []
    names = [tree.this(one) for one in items]
    node.set(tree.EXPRESSIONS, [tree.arg(one, tree.EXPRESSION) for one in items])
    return names


def assign_columns(reading: Reading, names: list[tree.Node], relation: Relation) -> Moved:
    """SELECT @a = x, @b = y FROM t: it gives no rows."""
    for one, output in zip(names, relation.outputs, strict=False):
        name = variable_name(one)
        reading.variables[name] = Output(name, joined(output.flow, relation.rows))
    return Moved("select", reads=set(relation.reads))


def assign(reading: Reading, node: tree.Node) -> Moved | None:
    """SET and DECLARE with a query as the value; None if there is none."""
    scope = Scope(reading)
    done: Moved | None = None
    for item in tree.items(node):
        names, value = _assignment(item)
        if value is None or (value.find(c.Query) is None and not _has_variable(reading, value)):
            continue
        flows = _values(scope, value, len(names))
        for one, flow in zip(names, flows, strict=False):
            name = variable_name(one) if isinstance(one, c.Parameter) else column_name(reading.dialect, one).lower()
            reading.variables[name] = Output(name, flow)
            _pass_on_loops(reading, name)
        done = done or Moved(node.key)
    if done is not None:
        done.reads = set(scope.extra_reads)
    return done


def _values(scope: Scope, value: tree.Node, count: int) -> list[Flow]:
    """What flows into each of several variables: the columns of a query, or the fields of its struct, by position."""
    inside = tree.query_in(value)
    if count == 1 or inside is None:
        return [flow_of(scope, value)] * count
    relation = scope.query(inside)
    outputs = relation.outputs
    if len(outputs) == 1 and outputs[0].fields:
        outputs = list(outputs[0].fields.values())
    return [joined(one.flow, relation.rows) for one in outputs]


def _has_variable(reading: Reading, value: tree.Node) -> bool:
    """Whether an expression names a variable that is set."""
    return any(
        variable_name(one if isinstance(one, c.Parameter) else tree.column_parts(one)[0]) in reading.variables
        for one in value.find_all(c.Parameter, c.Column)
    )


def _assignment(item: tree.Node) -> tuple[list[tree.Node], tree.Node | None]:
    if isinstance(item, c.DeclareItem):
        return list(tree.listed(item, tree.THIS)), tree.arg(item, "default")
    inside = tree.this(item)
    if not isinstance(inside, c.EQ):
        return [], None
    left = tree.this(inside)
    return tree.items(left) if isinstance(left, c.Tuple) else [left], tree.arg(inside, tree.EXPRESSION)
