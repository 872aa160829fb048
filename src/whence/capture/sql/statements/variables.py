"""Variables of a script: their values, which flow into later statements.

`SET @a = (SELECT …)`, `DECLARE a DATE DEFAULT (SELECT …)`, `SELECT @a = …` (T-SQL), `SELECT @a := …` (MySQL), `a :=
(SELECT …)` (Oracle, PostgreSQL, Snowflake).
"""

import re

from whence.capture.sql.lineage import Budget
from whence.capture.sql.names.names import column_name, normalize_case
from whence.capture.sql.provenance.flows import NOTHING, Flow, merge_flows
from whence.capture.sql.provenance.relations import Output, Relation
from whence.capture.sql.queries.expressions import flow_of, value_of
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.statements.moves import Effects
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree
from whence.capture.sql.syntax.parsing import parse

QUERY_ASSIGNMENT = re.compile(
    r"(?:LET\s+)?(?P<name>\w+)(?:\s+[A-Za-z]\w*(?:\([^)]*\))?)?\s*(?::=|\bDEFAULT\b)\s*\(?\s*(?P<query>(?:SELECT|WITH)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""An assignment of a query in a procedure: the parser has no statement for it."""


_EXPRESSION = re.compile(
    r"(?:LET\s+)?(?P<name>\w+(?:\.\w+)?)(?:\s+(?:CONSTANT\s+)?[A-Za-z][\w.%]*(?:\s*\([^)]*\))?)?(?:\s+NOT\s+NULL)?\s*"
    r"(?::=|\bDEFAULT\b)\s*(?P<value>.+)$",
    re.IGNORECASE | re.DOTALL,
)
"""An assignment of any other expression."""


def set_expression(reading: Reading, text: str) -> Effects | None:
    """Read `a := b + 1` or `r.x := c.y` into a variable. Returns None if the text is no assignment."""
    assignment = _EXPRESSION.match(text)
    if assignment is None or text[:7].upper() == "DECLARE":
        return None
    name, _, part = assignment["name"].lower().partition(".")
    value = Output(name, NOTHING)
    for node in parse(f"SELECT {assignment['value']}", reading.dialect, Budget()).nodes:
        if isinstance(node, c.Select) and tree.items(node):
            value = value_of(Scope(reading), tree.items(node)[0])
    set_variable(reading, [name, part] if part else [name], value)
    _inherit_loops(reading, name)
    return Effects("set", opaque=True)


def set_variable(reading: Reading, names: list[str], value: Output) -> None:
    """Store the value of a variable, `a`, or of a field of a record, `r.a`."""
    name, *path = names
    if not path:
        reading.variables[name] = Output(name, value.flow, value.fields)
        return
    before = reading.variables.get(name)
    known_fields = before.fields if before is not None and before.fields is not None else {}
    field_name = normalize_case(reading.dialect.columns, path[0], False)
    reading.variables[name] = Output(name, NOTHING, {**known_fields, field_name: value.with_name(field_name)})


def _inherit_loops(reading: Reading, name: str) -> None:
    """A variable that is set from a loop's record inherits the influences on the loop's rows."""
    if reading.used_loops:
        reading.loops[name] = merge_flows(reading.loops.get(name, NOTHING), reading.used_loops)


def query_text(assignment: re.Match[str]) -> str:
    """The query of an assignment, without an unmatched closing bracket."""
    text = assignment.group("query").rstrip()
    return text[:-1] if text.endswith(")") and text.count(")") > text.count("(") else text


def variable_name(node: tree.Node) -> str:
    """The key of a variable: `@a` with its sign, others without; in lower case."""
    inside = tree.this(node) if isinstance(node, c.Parameter) else node
    text = tree.text_of(inside)[0].lower()
    return text if not isinstance(node, c.Parameter) or text[:1] in "@$" else f"@{text}"


def store_query_value(reading: Reading, name: str, relation: Relation) -> None:
    """Store the value of a query: its first column, and the influences on its row."""
    first = relation.outputs[0].flow if relation.outputs else {}
    reading.variables[name] = Output(name, merge_flows(first, relation.rows))


def assigned_columns(node: tree.Node) -> list[tree.Node]:
    """The variables that a select list sets, if all its items do; the list keeps their values. Else empty."""
    items = tree.items(node) if isinstance(node, c.Select) else []
    if not items or not all(
        isinstance(item, c.EQ | c.PropertyEQ) and isinstance(tree.this(item), c.Parameter) for item in items
    ):
        return []
    names = [tree.this(item) for item in items]
    node.set(tree.EXPRESSIONS, [tree.arg(item, tree.EXPRESSION) for item in items])
    return names


def assign_columns(reading: Reading, names: list[tree.Node], relation: Relation) -> Effects:
    """SELECT @a = x, @b = y FROM t sets variables and returns no rows."""
    for variable, output in zip(names, relation.outputs, strict=False):
        name = variable_name(variable)
        reading.variables[name] = Output(name, merge_flows(output.flow, relation.rows))
    return Effects("select", reads=set(relation.reads))


def assign(reading: Reading, node: tree.Node) -> Effects | None:
    """Read SET and DECLARE with a query or a variable in the value. Returns None for others."""
    scope = Scope(reading)
    effects: Effects | None = None
    for item in tree.items(node):
        names, value = _assignment(item)
        if value is None or (value.find(c.Query) is None and not _has_variable(reading, value)):
            continue
        flows = _assigned_flows(scope, value, len(names))
        for variable, flow in zip(names, flows, strict=False):
            name = (
                variable_name(variable)
                if isinstance(variable, c.Parameter)
                else column_name(reading.dialect, variable).lower()
            )
            reading.variables[name] = Output(name, flow)
            _inherit_loops(reading, name)
        effects = effects or Effects(node.key)
    if effects is not None:
        effects.reads = set(scope.extra_reads)
    return effects


def _assigned_flows(scope: Scope, value: tree.Node, count: int) -> list[Flow]:
    """The flow of each variable: the columns of a query, or the fields of its struct, by position."""
    inside = tree.query_in(value)
    if count == 1 or inside is None:
        return [flow_of(scope, value)] * count
    relation = scope.query(inside)
    outputs = relation.outputs
    if len(outputs) == 1 and outputs[0].fields:
        outputs = list(outputs[0].fields.values())
    return [merge_flows(output.flow, relation.rows) for output in outputs]


def _has_variable(reading: Reading, value: tree.Node) -> bool:
    """Whether an expression uses a variable that is set."""
    return any(
        variable_name(node if isinstance(node, c.Parameter) else tree.column_parts(node)[0]) in reading.variables
        for node in value.find_all(c.Parameter, c.Column)
    )


def _assignment(item: tree.Node) -> tuple[list[tree.Node], tree.Node | None]:
    if isinstance(item, c.DeclareItem):
        return list(tree.list_arg(item, tree.THIS)), tree.arg(item, "default")
    inside = tree.this(item)
    if not isinstance(inside, c.EQ):
        return [], None
    left = tree.this(inside)
    return tree.items(left) if isinstance(left, c.Tuple) else [left], tree.arg(inside, tree.EXPRESSION)
