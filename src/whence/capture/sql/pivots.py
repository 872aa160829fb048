"""PIVOT and UNPIVOT: rows to columns and back."""

from collections.abc import Iterator

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.conditions import remember
from whence.capture.sql.expressions import flow_of, gather
from whence.capture.sql.flows import CONDITIONAL, GROUP_BY, IDENTITY, Flow, absorb, joined
from whence.capture.sql.names import cased, column_name
from whence.capture.sql.relations import STAR, Output, Relation
from whence.capture.sql.scopes import Scope, Source


def pivoted(outer: Scope, relation: Relation, pivot: tree.Node) -> Relation:
    """A relation, turned. PIVOT groups by all columns that it does not name."""
    scope = Scope(outer.reading, outer)
    scope.add(Source("", relation))
    if tree.arg(pivot, tree.UNPIVOT):
        return _unpivot(scope, relation, pivot)
    return _pivot(scope, relation, pivot)


def _pivot(scope: Scope, relation: Relation, pivot: tree.Node) -> Relation:
    dialect = scope.reading.dialect
    simple = bool(tree.listed(pivot, tree.USING)) or not tree.listed(pivot, tree.FIELDS)
    aggregates = tree.listed(pivot, tree.USING) if simple else tree.items(pivot)
    fields = [_field(one) for one in (tree.items(pivot) if simple else tree.listed(pivot, tree.FIELDS))]
    used = {name for one in aggregates + fields for name in _columns(scope, one)}
    group = tree.arg(pivot, tree.GROUP)
    rows = dict(relation.rows)
    if group is not None:
        kept = [Output(column_name(dialect, tree.this(one)), flow_of(scope, one)) for one in tree.items(group)]
    else:
        kept = [
            one if one.name != STAR else Output(STAR, one.flow, hidden=one.hidden | used)
            for one in relation.outputs
            if one.name not in used
        ]
    for one in kept:
        if one.name != STAR:
            absorb(rows, one.flow, GROUP_BY)
            remember(one.flow, GROUP_BY, one.name)
    chooses: Flow = {}
    for chooser in fields:
        gather(scope, chooser, CONDITIONAL, chooses)
    flows = [joined(flow_of(scope, one), chooses) for one in aggregates]
    names = [column_name(dialect, one) for one in tree.listed(pivot, tree.COLUMNS)]
    if not names and simple:
        names = _values(tree.items(pivot), aggregates)
    if not names:
        return Relation([*kept, Output(STAR, joined(*flows))], rows, relation.reads)
    made = [Output(_unquoted(dialect.name, name), flows[place % len(flows)]) for place, name in enumerate(names)]
    return Relation([*kept, *made], rows, relation.reads)


def _unquoted(dialect: str, name: str) -> str:
    """Snowflake keeps the quotes of a pivoted string in the column's name: `'jan'`."""
    return name if dialect == "snowflake" else cased("keep", name, True)


def _values(fields: list[tree.Node], aggregates: list[tree.Node]) -> list[str]:
    """DuckDB: PIVOT … ON q IN ('a', 'b') makes columns a and b; of named or several aggregates, a_total."""
    if len(fields) != 1 or not isinstance(fields[0], c.In):
        return []
    ends = [tree.text_of(tree.alias_of(one))[0] if isinstance(one, c.Alias) else "" for one in aggregates]
    if len(aggregates) > 1 and not all(ends):
        return []
    values = [tree.text_of(one)[0] for one in tree.items(fields[0])]
    return [f"{value}_{end}" if end else value for value in values for end in ends]


def _field(node: tree.Node) -> tree.Node:
    """`k` of `k IN (…)`."""
    return tree.this(node) if isinstance(node, c.In) else node


def _columns(scope: Scope, node: tree.Node) -> Iterator[str]:
    for one in node.find_all(c.Column):
        yield column_name(scope.reading.dialect, tree.this(one))


def _unpivot(scope: Scope, relation: Relation, pivot: tree.Node) -> Relation:
    """The value column comes from all columns listed; the name column from none."""
    dialect = scope.reading.dialect
    values, name, groups = _parts(pivot)
    flows: list[Flow] = [{} for _ in values]
    used: set[str] = set()
    for group in groups:
        inside = tree.this(group) if isinstance(group, c.PivotAlias) else group
        members = tree.items(inside) if isinstance(inside, c.Tuple) else [inside]
        for flow, member in zip(flows if len(members) > 1 else flows[:1], members, strict=False):
            used.update(_columns(scope, member))
            gather(scope, member, IDENTITY, flow)
    kept = [
        Output(STAR, one.flow, hidden=one.hidden | used) if one.name == STAR else one
        for one in relation.outputs
        if one.name not in used
    ]
    named = [Output(column_name(dialect, name), {})] if name is not None else []
    made = [Output(column_name(dialect, one), flow) for one, flow in zip(values, flows, strict=True)]
    first = tree.arg(pivot, tree.VALUE_FIRST) or dialect.name in ("bigquery", "tsql", "oracle_")
    return Relation([*kept, *(made + named if first else named + made)], relation.rows, relation.reads)


def _parts(pivot: tree.Node) -> tuple[list[tree.Node], tree.Node | None, list[tree.Node]]:
    """Value columns, the name column, what is listed."""
    into = tree.arg(pivot, tree.INTO)
    if into is not None:
        return tree.items(into), tree.this(into), tree.items(pivot)
    first = tree.items(pivot)[:1]
    values = tree.items(first[0]) if first and isinstance(first[0], c.Tuple) else first
    fields = tree.listed(pivot, tree.FIELDS)
    name = tree.this(fields[0]) if fields else None
    return values, name, tree.items(fields[0]) if fields else []
