"""PIVOT and UNPIVOT: rows to columns and back."""

from collections.abc import Iterator

from whence.capture.sql.names.names import column_name, normalize_case
from whence.capture.sql.provenance.flows import CONDITIONAL, GROUP_BY, IDENTITY, Flow, absorb, merge_flows
from whence.capture.sql.provenance.relations import STAR, Output, Relation
from whence.capture.sql.queries.conditions import keep_condition
from whence.capture.sql.queries.expressions import flow_of, gather
from whence.capture.sql.queries.scopes import Scope, Source
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def apply_pivot(outer: Scope, relation: Relation, pivot: tree.Node) -> Relation:
    """Apply one PIVOT or UNPIVOT to a relation. PIVOT groups by all columns that it does not mention."""
    scope = Scope(outer.reading, outer)
    scope.add(Source("", relation))
    pivoted = _unpivot(scope, relation, pivot) if tree.arg(pivot, tree.UNPIVOT) else _pivot(scope, relation, pivot)
    meanings = outer.reading.meanings
    return meanings.pivot(scope, pivot, relation, pivoted) if meanings is not None else pivoted


def _pivot(scope: Scope, relation: Relation, pivot: tree.Node) -> Relation:
    dialect = scope.reading.dialect
    simple = bool(tree.list_arg(pivot, tree.USING)) or not tree.list_arg(pivot, tree.FIELDS)
    aggregates = tree.list_arg(pivot, tree.USING) if simple else tree.items(pivot)
    fields = [_field(item) for item in (tree.items(pivot) if simple else tree.list_arg(pivot, tree.FIELDS))]
    used = {name for aggregate in aggregates + fields for name in _columns(scope, aggregate)}
    group = tree.arg(pivot, tree.GROUP)
    rows = dict(relation.rows)
    if group is not None:
        group_outputs = [
            Output(column_name(dialect, tree.this(item)), flow_of(scope, item)) for item in tree.items(group)
        ]
    else:
        group_outputs = [
            output if output.name != STAR else Output(STAR, output.flow, hidden=output.hidden | used)
            for output in relation.outputs
            if output.name not in used
        ]
    for output in group_outputs:
        if output.name != STAR:
            absorb(rows, output.flow, GROUP_BY)
            keep_condition(output.flow, GROUP_BY, output.name)
    chooses: Flow = {}
    for chooser in fields:
        gather(scope, chooser, CONDITIONAL, chooses)
    flows = [merge_flows(flow_of(scope, aggregate), chooses) for aggregate in aggregates]
    names = [column_name(dialect, column) for column in tree.list_arg(pivot, tree.COLUMNS)]
    if not names and simple:
        names = _values(tree.items(pivot), aggregates)
    if not names:
        return Relation([*group_outputs, Output(STAR, merge_flows(*flows))], rows, relation.reads)
    pivoted = [
        Output(_pivot_column_name(dialect.name, name), flows[place % len(flows)]) for place, name in enumerate(names)
    ]
    return Relation([*group_outputs, *pivoted], rows, relation.reads)


def _pivot_column_name(dialect: str, name: str) -> str:
    """Snowflake keeps the quotes of a pivoted string in the column's name: `'jan'`."""
    return name if dialect == "snowflake" else normalize_case("keep", name, True)


def _values(fields: list[tree.Node], aggregates: list[tree.Node]) -> list[str]:
    """DuckDB: PIVOT … ON q IN ('a', 'b') creates columns a and b; named or several aggregates create a_total."""
    if len(fields) != 1 or not isinstance(fields[0], c.In):
        return []
    suffixes = [
        tree.text_of(tree.alias_of(aggregate))[0] if isinstance(aggregate, c.Alias) else "" for aggregate in aggregates
    ]
    if len(aggregates) > 1 and not all(suffixes):
        return []
    values = [tree.text_of(item)[0] for item in tree.items(fields[0])]
    return [f"{value}_{suffix}" if suffix else value for value in values for suffix in suffixes]


def _field(node: tree.Node) -> tree.Node:
    """The `k` of `k IN (…)`."""
    return tree.this(node) if isinstance(node, c.In) else node


def _columns(scope: Scope, node: tree.Node) -> Iterator[str]:
    for child in node.find_all(c.Column):
        yield column_name(scope.reading.dialect, tree.this(child))


def _unpivot(scope: Scope, relation: Relation, pivot: tree.Node) -> Relation:
    """The value column has all listed columns as sources; the name column has none."""
    dialect = scope.reading.dialect
    values, name, groups = _unpivot_parts(pivot)
    flows: list[Flow] = [{} for _ in values]
    used: set[str] = set()
    for group in groups:
        inside = tree.this(group) if isinstance(group, c.PivotAlias) else group
        members = tree.items(inside) if isinstance(inside, c.Tuple) else [inside]
        for flow, member in zip(flows if len(members) > 1 else flows[:1], members, strict=False):
            used.update(_columns(scope, member))
            gather(scope, member, IDENTITY, flow)
    kept = [
        Output(STAR, output.flow, hidden=output.hidden | used) if output.name == STAR else output
        for output in relation.outputs
        if output.name not in used
    ]
    name_outputs = [Output(column_name(dialect, name), {})] if name is not None else []
    value_outputs = [Output(column_name(dialect, value), flow) for value, flow in zip(values, flows, strict=True)]
    is_value_first = tree.arg(pivot, tree.VALUE_FIRST) or dialect.name in ("bigquery", "tsql", "oracle_")
    return Relation(
        [*kept, *(value_outputs + name_outputs if is_value_first else name_outputs + value_outputs)],
        relation.rows,
        relation.reads,
    )


def _unpivot_parts(pivot: tree.Node) -> tuple[list[tree.Node], tree.Node | None, list[tree.Node]]:
    """The value columns, the name column, and the listed columns."""
    into = tree.arg(pivot, tree.INTO)
    if into is not None:
        return tree.items(into), tree.this(into), tree.items(pivot)
    first = tree.items(pivot)[:1]
    values = tree.items(first[0]) if first and isinstance(first[0], c.Tuple) else first
    fields = tree.list_arg(pivot, tree.FIELDS)
    name = tree.this(fields[0]) if fields else None
    return values, name, tree.items(fields[0]) if fields else []
