"""Select lists: stars with their modifiers, aliases, the names of columns without one."""

import fnmatch
import re
from collections.abc import Iterator

from whence.capture.sql.names.names import column_name
from whence.capture.sql.names.unnamed_columns import output_column_name
from whence.capture.sql.provenance.flows import TRANSFORMATION, Flow, apply_step, merge_flows
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.provenance.relations import STAR, Output
from whence.capture.sql.queries.expression_rules import step_of_function
from whence.capture.sql.queries.expressions import flow_of, value_of
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def project(scope: Scope, nodes: list[tree.Node], struct: bool = False) -> list[Output]:
    """Read the columns of a select list, in order. Where the dialect allows it, a column sees the aliases before it."""
    outputs: list[Output] = []
    unnamed_count = 0
    lateral = scope.reading.dialect.lateral
    scope.aliases_first = lateral == "before"
    if scope.aliases_first:
        nodes_named = {
            column_name(scope.reading.dialect, tree.alias_of(child)): child for child in nodes if _is_aliased(child)
        }
        scope.aliases = {**scope.aliases, **_resolve_aliases(scope, nodes_named)}
    for node in nodes:
        outer_aliases = scope.aliases
        if lateral == "after" and scope.aliases and isinstance(node, c.Alias) and type(tree.this(node)) is c.Column:
            scope.aliases = _without_circular_alias(
                scope.aliases, node, column_name(scope.reading.dialect, tree.alias_of(node))
            )
        projected = list(_project_item(scope, node, len(outputs), unnamed_count))
        scope.aliases = outer_aliases
        unnamed_count += len(projected) == 1 and projected[0].name == f"f{unnamed_count}_"
        outputs.extend(projected)
        if lateral == "after" and isinstance(node, c.Alias) and projected[0].name not in scope.proven:
            scope.aliases = {**scope.aliases, projected[0].name: projected[0]}
    if struct:
        flow = merge_flows(*(apply_step(output.flow, TRANSFORMATION) for output in outputs))
        return [Output("#1", flow, {output.name: output for output in outputs})]
    return outputs


def _is_aliased(node: tree.Node) -> bool:
    return isinstance(node, c.Alias)


def _resolve_aliases(scope: Scope, nodes: dict[str, tree.Node]) -> dict[str, Output]:
    """ClickHouse: the whole list sees each alias, in any order, except the alias's own expression."""
    resolved: dict[str, Output] = {}
    nodes = {name: node for name, node in nodes.items() if not _is_circular(name, nodes)}
    for _ in range(3):
        for name, node in nodes.items():
            inner = Scope(scope.reading, scope)
            inner.sources, inner.merged, inner.row, inner.aliases_first = scope.sources, scope.merged, scope.row, True
            inner.windows, inner.extra_reads = scope.windows, scope.extra_reads
            inner.aliases = {other: output for other, output in resolved.items() if other != name}
            resolved[name] = Output(name, flow_of(inner, tree.this(node)), formula=_formula_of(inner, tree.this(node)))
        if not any(name in _column_names(node) for name in nodes for node in nodes.values()):
            break
    return resolved


def _without_circular_alias(aliases: dict[str, Output], node: tree.Node, name: str) -> dict[str, Output]:
    """Drop the alias that `node` names if its expression reads `name`: in `a AS b, b AS a` both are columns."""
    other = tree.text_of(tree.this(node))[0].lower()
    for key, output in aliases.items():
        if key.lower() != other or key == name or not isinstance(output.node, c.Alias):
            continue
        if name.lower() in map(str.lower, _column_names(output.node)):
            return {alias: value for alias, value in aliases.items() if alias != key}
    return aliases


def _is_circular(name: str, nodes: dict[str, tree.Node]) -> bool:
    """Whether aliases refer to each other in a circle: then all of them denote columns."""
    seen: set[str] = set()
    todo = [word for word in _column_names(nodes[name]) if word in nodes and word != name]
    while todo:
        alias = todo.pop()
        if alias in seen:
            continue
        seen.add(alias)
        references = [other for other in _column_names(nodes[alias]) if other in nodes and other != alias]
        if name in references:
            return True
        todo += references
    return False


def _column_names(node: tree.Node) -> set[str]:
    return {tree.text_of(child)[0] for child in tree.this(node).find_all(c.Column)}


def _project_item(scope: Scope, node: tree.Node, before: int, unnamed_before: int = 0) -> Iterator[Output]:
    """The columns of one item of a SELECT list, after `before` others, `unnamed_before` of them without a name."""
    match node:
        case c.Alias() if isinstance(tree.this(node), c.Columns):
            name = column_name(scope.reading.dialect, tree.alias_of(node))
            yield from _rename_matching(scope, tree.this(node), name)
        case c.Like() if tree.is_star(tree.this(node)):
            yield from _columns_like(scope, node, before)
        case c.Alias():
            yield _value_named(scope, node, tree.this(node), column_name(scope.reading.dialect, tree.alias_of(node)))
        case c.Star():
            yield from _apply_star_modifiers(scope, node, _star_row(scope))
        case c.Column() if tree.is_star(node):
            yield from _apply_star_modifiers(scope, tree.this(node), _qualified_star(scope, node))
        case c.Aliases() if scope.reading.dialect.name != "clickhouse":
            yield from _columns_of_function(scope, node)
        case c.Dot() if isinstance(tree.arg(node, tree.EXPRESSION), c.Star):
            value = value_of(scope, tree.this(node))
            yield from (value.fields or {STAR: Output(STAR, value.flow)}).values()
        case c.Columns() | c.Apply():
            yield from _matching_columns(scope, node)
        case c.QueryTransform():
            yield from _columns_of_transform(scope, node)
        case c.Inline():
            yield from _inline_fields(scope, node, before)
        case _:
            yield from _columns_of_expression(scope, node, before, unnamed_before)


def _columns_like(scope: Scope, node: tree.Node, before: int) -> Iterator[Output]:
    """`* LIKE pattern`: the columns whose names fit, and a star that is not expanded."""
    pattern = tree.arg(node, tree.EXPRESSION)
    for output in _project_item(scope, tree.this(node), before):
        if output.name == STAR or _is_like(output.name, pattern) != bool(tree.arg(node, "negate")):
            yield output


def _value_named(scope: Scope, node: tree.Node, expression: tree.Node, name: str) -> Output:
    """The column of this name that an expression makes; `node` is the item of the list."""
    value = value_of(scope, expression)
    return Output(
        name,
        value.flow,
        value.fields,
        node=node,
        element=value.element,
        formula=_formula_of(scope, expression),
        origin=_origin(expression, value),
        data_type=_type_of(scope, expression),
    )


def _columns_of_function(scope: Scope, node: tree.Node) -> Iterator[Output]:
    """`f(x) AS (a, b)`: a column for each name."""
    names = [column_name(scope.reading.dialect, name) for name in tree.items(node)]
    for name, flow in zip(names, _function_flows(scope, tree.this(node), len(names)), strict=True):
        yield Output(name, flow, node=node, element=True, formula=_formula_of(scope, node))


def _columns_of_transform(scope: Scope, node: tree.Node) -> Iterator[Output]:
    """`TRANSFORM (…) USING …`: what a program makes of all its inputs, `key` and `value` if no column is named."""
    flow = merge_flows(*(flow_of(scope, item, TRANSFORMATION) for item in tree.items(node)))
    schema = tree.arg(node, tree.SCHEMA)
    named = tree.items(schema) if schema is not None else []
    for output in named:
        name = tree.this(output) if isinstance(output, c.ColumnDef) else output
        yield Output(column_name(scope.reading.dialect, name), flow, node=node)
    if not named:
        yield from (Output(name, flow, node=node) for name in ("key", "value"))


def _columns_of_expression(scope: Scope, node: tree.Node, before: int, unnamed_before: int) -> Iterator[Output]:
    """An expression without an alias, which the dialect names; in DuckDB with `COLUMNS(…)` inside, several."""
    dialect = scope.reading.dialect
    columns = node.find(c.Columns) if dialect.name == "duckdb" else None
    if columns is not None:
        yield from _expand_columns(scope, node, columns)
        return
    yield _value_named(scope, node, node, output_column_name(dialect, node, before + 1, unnamed_before))


def _origin(node: tree.Node, value: Output) -> Output | None:
    """The column of a query inside that an expression passes on, if it does nothing else."""
    if not isinstance(node, c.Column) or value.node is None:
        return None
    return value.origin or value


def _formula_of(scope: Scope, node: tree.Node) -> Formula | None:
    return scope.meaning.value(node) if scope.meaning is not None else None


def _type_of(scope: Scope, node: tree.Node) -> Formula | None:
    return scope.meaning.data_type(node) if scope.meaning is not None else None


def _rename_matching(scope: Scope, columns: tree.Node, name: str) -> Iterator[Output]:
    r"""DuckDB: `COLUMNS('m_(.*)') AS 'n_\1'` names each column by the match of its pattern."""
    pattern, string = tree.text_of(tree.this(columns))
    for output in _matching_columns(scope, columns):
        found = re.search(pattern, output.name, re.IGNORECASE) if string else None
        yield output.with_name(found.expand(name) if found is not None and "\\" in name else name)


def _expand_columns(scope: Scope, node: tree.Node, columns: tree.Node) -> Iterator[Output]:
    """DuckDB: an expression over COLUMNS(…) appears once for each column."""
    for output in list(_matching_columns(scope, columns)):
        scope.expanded_column = output
        yield Output(output.name, flow_of(scope, node), node=node, formula=_formula_of(scope, node))


def _function_flows(scope: Scope, node: tree.Node, width: int) -> list[Flow]:
    """The flows of the columns of a function with several: STACK(n, …) by position, all others the same."""
    if not isinstance(node, c.Stack) or not width:
        return [flow_of(scope, node)] * width
    values = tree.items(node)
    return [
        merge_flows(*(flow_of(scope, value, TRANSFORMATION) for value in values[place::width]))
        for place in range(width)
    ]


def _inline_fields(scope: Scope, node: tree.Node, before: int) -> Iterator[Output]:
    """`inline(array of structs)`: a column for each field."""
    value = value_of(scope, tree.this(node))
    if value.fields:
        yield from value.fields.values()
        return
    yield Output(
        output_column_name(scope.reading.dialect, node, before + 1), apply_step(value.flow, TRANSFORMATION), node=node
    )


def _star_row(scope: Scope) -> list[Output]:
    if not scope.sources and scope.outer is not None and scope.outer.sources:
        return scope.outer.row
    return scope.row


def _qualified_star(scope: Scope, node: tree.Node) -> list[Output]:
    """The columns of `t.*` or `s.t.*`; of a column with fields, all its fields."""
    parts = tree.column_parts(node)[:-1]
    names = [column_name(scope.reading.dialect, part) for part in parts]
    around: Scope | None = scope
    while around is not None:
        source = around.source(names)
        if source is not None:
            return source.relation.outputs
        around = around.outer
    value = scope.value(parts, [])
    return list(value.fields.values()) if value.fields else [Output(STAR, value.flow)] if value.flow else []


def _apply_star_modifiers(scope: Scope, star: tree.Node, row: list[Output]) -> Iterator[Output]:
    """Apply EXCEPT, REPLACE, RENAME and ILIKE to the columns of a star."""
    if not any(star.args.values()):
        yield from row
        return
    dialect = scope.reading.dialect
    dropped = {column_name(dialect, item) for item in _as_list(tree.arg(star, tree.EXCEPT))}
    replaced = {column_name(dialect, tree.alias_of(item)): item for item in _as_list(tree.arg(star, tree.REPLACE))}
    renames = {column_name(dialect, tree.this(item)): item for item in _as_list(tree.arg(star, tree.RENAME))}
    pattern = tree.arg(star, tree.ILIKE)
    for output in row:
        if output.name == STAR:
            yield Output(STAR, output.flow, hidden=output.hidden | dropped | replaced.keys() | renames.keys())
            for name, node in renames.items():
                yield from _rename_from_star(scope, output, name, node)
        elif output.name in dropped or (pattern is not None and not _is_like(output.name, pattern)):
            continue
        elif output.name in replaced:
            node = replaced.pop(output.name)
            yield _replaced(scope, output.name, node)
        elif output.name in renames:
            yield output.with_name(column_name(dialect, tree.alias_of(renames[output.name])))
        else:
            yield output
    for name, node in replaced.items():
        if any(output.name == STAR for output in row):
            yield _replaced(scope, name, node)


def _replaced(scope: Scope, name: str, node: tree.Node) -> Output:
    """A column of `* REPLACE (expression AS name)`."""
    inside = tree.this(node)
    formula, data_type = _formula_of(scope, inside), _type_of(scope, inside)
    return Output(name, flow_of(scope, inside), node=node, formula=formula, data_type=data_type)


def _rename_from_star(scope: Scope, star: Output, name: str, node: tree.Node) -> Iterator[Output]:
    output = scope.named(name) or scope.guess([name], [tree.this(node)])
    if output is not None and not output.flow.keys().isdisjoint(output.flow):
        yield output.with_name(column_name(scope.reading.dialect, tree.alias_of(node)))


def _as_list(value: object) -> list[tree.Node]:
    if isinstance(value, c.Tuple):
        return tree.items(value)
    return value if isinstance(value, list) else [value] if isinstance(value, tree.Node) else []


def _matching_columns(scope: Scope, node: tree.Node) -> Iterator[Output]:
    """DuckDB's COLUMNS(…) and ClickHouse's APPLY: each column that matches."""
    inside = tree.this(node)
    if isinstance(node, c.Apply):
        function = tree.arg(node, tree.EXPRESSION)
        name = (
            tree.text_of(function if isinstance(function, c.Var) else tree.this(function))[0]
            if function is not None
            else ""
        )
        for output in _project_item(scope, inside, 0):
            yield Output(f"{name}({output.name})", apply_step(output.flow, step_of_function(name)), node=node)
        return
    if isinstance(inside, c.Star):
        yield from _apply_star_modifiers(scope, inside, _star_row(scope))
        return
    if isinstance(inside, c.Lambda):
        yield from _lambda_columns(scope, tree.this(inside))
        return
    text, string = tree.text_of(inside)
    for output in _star_row(scope):
        if not string or output.name == STAR or re.search(text, output.name, re.IGNORECASE):
            yield output


def _lambda_columns(scope: Scope, test: tree.Node) -> Iterator[Output]:
    """DuckDB's COLUMNS(c -> c LIKE 'a%'): the columns with matching names. Other tests are not supported."""
    pattern = tree.arg(test, tree.EXPRESSION)
    if not isinstance(test, c.Like) or not isinstance(pattern, c.Literal):
        scope.reading.report("star_not_expanded", "COLUMNS")
        yield from _star_row(scope)
        return
    for output in _star_row(scope):
        if output.name == STAR or _is_like(output.name, pattern) != bool(tree.arg(test, "negate")):
            yield output


def _is_like(name: str, pattern: tree.Node) -> bool:
    text = tree.text_of(pattern)[0].lower().replace("%", "*").replace("_", "?")
    return fnmatch.fnmatchcase(name.lower(), text)
