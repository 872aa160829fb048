"""Select lists: stars with their modifiers, aliases, the names of columns without one."""

import fnmatch
import re
from collections.abc import Iterator

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.expressions import flow_of, value_of
from whence.capture.sql.flows import TRANSFORMATION, Flow, joined, stepped
from whence.capture.sql.names import column_name
from whence.capture.sql.relations import STAR, Output
from whence.capture.sql.rules import way_of
from whence.capture.sql.scopes import Scope
from whence.capture.sql.unnamed import unnamed


def project(scope: Scope, nodes: list[tree.Node], struct: bool = False) -> list[Output]:
    """The columns of a select list, in order. Where the dialect allows it, a column sees the aliases before it."""
    outputs: list[Output] = []
    counted = 0
    lateral = scope.reading.dialect.lateral
    scope.before = lateral == "before"
    if scope.before:
        nodes_named = {column_name(scope.reading.dialect, tree.alias_of(one)): one for one in nodes if _aliased(one)}
        scope.aliases = {**scope.aliases, **_all_aliases(scope, nodes_named)}
    for node in nodes:
        around = scope.aliases
        if lateral == "after" and scope.aliases and isinstance(node, c.Alias) and type(tree.this(node)) is c.Column:
            scope.aliases = _not_made_of(scope.aliases, node, column_name(scope.reading.dialect, tree.alias_of(node)))
        made = list(_one(scope, node, len(outputs), counted))
        scope.aliases = around
        counted += len(made) == 1 and made[0].name == f"f{counted}_"
        outputs.extend(made)
        if lateral == "after" and isinstance(node, c.Alias) and made[0].name not in scope.proven:
            scope.aliases = {**scope.aliases, made[0].name: made[0]}
    if struct:
        flow = joined(*(stepped(one.flow, TRANSFORMATION) for one in outputs))
        return [Output("#1", flow, {one.name: one for one in outputs})]
    return outputs


def _aliased(node: tree.Node) -> bool:
    return isinstance(node, c.Alias)


def _all_aliases(scope: Scope, nodes: dict[str, tree.Node]) -> dict[str, Output]:
    """ClickHouse: an alias is seen by the whole list, in any order; not by its own expression."""
    found: dict[str, Output] = {}
    nodes = {name: node for name, node in nodes.items() if not _is_circular(name, nodes)}
    for _ in range(3):
        for name, node in nodes.items():
            inner = Scope(scope.reading, scope)
            inner.sources, inner.merged, inner.row, inner.before = scope.sources, scope.merged, scope.row, True
            inner.windows, inner.extra_reads = scope.windows, scope.extra_reads
            inner.aliases = {other: output for other, output in found.items() if other != name}
            found[name] = Output(name, flow_of(inner, tree.this(node)))
        if not any(name in _words(node) for name in nodes for node in nodes.values()):
            break
    return found


def _not_made_of(aliases: dict[str, Output], node: tree.Node, name: str) -> dict[str, Output]:
    """The aliases without the one that `node` names, if that reads `name`: in `a AS b, b AS a` both are columns."""
    other = tree.text_of(tree.this(node))[0].lower()
    for key, output in aliases.items():
        if key.lower() != other or key == name or not isinstance(output.node, c.Alias):
            continue
        if name.lower() in map(str.lower, _words(output.node)):
            return {one: value for one, value in aliases.items() if one != key}
    return aliases


def _is_circular(name: str, nodes: dict[str, tree.Node]) -> bool:
    """Whether an alias is made of others that are made of it: then all of them mean columns."""
    seen: set[str] = set()
    todo = [one for one in _words(nodes[name]) if one in nodes and one != name]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        inside = [other for other in _words(nodes[one]) if other in nodes and other != one]
        if name in inside:
            return True
        todo += inside
    return False


def _words(node: tree.Node) -> set[str]:
    return {tree.text_of(one)[0] for one in tree.this(node).find_all(c.Column)}


def _one(scope: Scope, node: tree.Node, before: int, unnamed_before: int = 0) -> Iterator[Output]:
    dialect = scope.reading.dialect
    match node:
        case c.Alias() if isinstance(tree.this(node), c.Columns):
            yield from _renamed(scope, tree.this(node), column_name(dialect, tree.alias_of(node)))
        case c.Like() if tree.is_star(tree.this(node)):
            pattern = tree.arg(node, tree.EXPRESSION)
            for one in _one(scope, tree.this(node), before):
                if one.name == STAR or _like(one.name, pattern) != bool(tree.arg(node, "negate")):
                    yield one
        case c.Alias():
            value = value_of(scope, tree.this(node))
            name = column_name(dialect, tree.alias_of(node))
            yield Output(name, value.flow, value.fields, node=node, element=value.element)
        case c.Star():
            yield from _modified(scope, node, _row(scope))
        case c.Column() if tree.is_star(node):
            yield from _modified(scope, tree.this(node), _qualified(scope, node))
        case c.Aliases() if dialect.name != "clickhouse":
            names = [column_name(dialect, name) for name in tree.items(node)]
            for name, flow in zip(names, _generated(scope, tree.this(node), len(names)), strict=True):
                yield Output(name, flow, node=node, element=True)
        case c.Dot() if isinstance(tree.arg(node, tree.EXPRESSION), c.Star):
            value = value_of(scope, tree.this(node))
            yield from (value.fields or {STAR: Output(STAR, value.flow)}).values()
        case c.Columns() | c.Apply():
            yield from _matching(scope, node)
        case c.QueryTransform():
            flow = joined(*(flow_of(scope, one, TRANSFORMATION) for one in tree.items(node)))
            schema = tree.arg(node, tree.SCHEMA)
            named = tree.items(schema) if schema is not None else []
            for one in named:
                yield Output(
                    column_name(dialect, tree.this(one) if isinstance(one, c.ColumnDef) else one), flow, node=node
                )
            if not named:
                yield from (Output(name, flow, node=node) for name in ("key", "value"))
        case c.Inline():
            yield from _inlined(scope, node, before)
        case _:
            columns = node.find(c.Columns) if dialect.name == "duckdb" else None
            if columns is not None:
                yield from _for_each(scope, node, columns)
                return
            value = value_of(scope, node)
            name = unnamed(dialect, node, before + 1, unnamed_before)
            yield Output(name, value.flow, value.fields, node=node, element=value.element)


def _renamed(scope: Scope, columns: tree.Node, name: str) -> Iterator[Output]:
    r"""DuckDB: `COLUMNS('m_(.*)') AS 'n_\1'` names each column by what its pattern finds."""
    pattern, string = tree.text_of(tree.this(columns))
    for output in _matching(scope, columns):
        found = re.search(pattern, output.name, re.IGNORECASE) if string else None
        yield output.called(found.expand(name) if found is not None and "\\" in name else name)


def _for_each(scope: Scope, node: tree.Node, columns: tree.Node) -> Iterator[Output]:
    """DuckDB: an expression over COLUMNS(…) is there once for each of them."""
    for output in list(_matching(scope, columns)):
        scope.standing = output
        yield Output(output.name, flow_of(scope, node), node=node)


def _generated(scope: Scope, node: tree.Node, width: int) -> list[Flow]:
    """What each column of a function has that gives several: STACK(n, …) by position, all others the same."""
    if not isinstance(node, c.Stack) or not width:
        return [flow_of(scope, node)] * width
    values = tree.items(node)
    return [joined(*(flow_of(scope, one, TRANSFORMATION) for one in values[place::width])) for place in range(width)]


def _inlined(scope: Scope, node: tree.Node, before: int) -> Iterator[Output]:
    """`inline(array of structs)`: a column for each field."""
    value = value_of(scope, tree.this(node))
    if value.fields:
        yield from value.fields.values()
        return
    yield Output(unnamed(scope.reading.dialect, node, before + 1), stepped(value.flow, TRANSFORMATION), node=node)


def _row(scope: Scope) -> list[Output]:
    if not scope.sources and scope.outer is not None and scope.outer.sources:
        return scope.outer.row
    return scope.row


def _qualified(scope: Scope, node: tree.Node) -> list[Output]:
    """`t.*`, `s.t.*`; of a column with fields, all of them."""
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


def _modified(scope: Scope, star: tree.Node, row: list[Output]) -> Iterator[Output]:
    """EXCEPT, REPLACE, RENAME and ILIKE of a star."""
    if not any(star.args.values()):
        yield from row
        return
    dialect = scope.reading.dialect
    dropped = {column_name(dialect, one) for one in _as_list(tree.arg(star, tree.EXCEPT))}
    replaced = {column_name(dialect, tree.alias_of(one)): one for one in _as_list(tree.arg(star, tree.REPLACE))}
    renames = {column_name(dialect, tree.this(one)): one for one in _as_list(tree.arg(star, tree.RENAME))}
    pattern = tree.arg(star, tree.ILIKE)
    for output in row:
        if output.name == STAR:
            yield Output(STAR, output.flow, hidden=output.hidden | dropped | replaced.keys() | renames.keys())
            for name, node in renames.items():
                yield from _from_star(scope, output, name, node)
        elif output.name in dropped or (pattern is not None and not _like(output.name, pattern)):
            continue
        elif output.name in replaced:
            node = replaced.pop(output.name)
            yield Output(output.name, flow_of(scope, tree.this(node)), node=node)
        elif output.name in renames:
            yield output.called(column_name(dialect, tree.alias_of(renames[output.name])))
        else:
            yield output
    for name, node in replaced.items():
        if any(output.name == STAR for output in row):
            yield Output(name, flow_of(scope, tree.this(node)), node=node)


def _from_star(scope: Scope, star: Output, name: str, node: tree.Node) -> Iterator[Output]:
    found = scope.named(name) or scope.guess([name], [tree.this(node)])
    if found is not None and not found.flow.keys().isdisjoint(found.flow):
        yield found.called(column_name(scope.reading.dialect, tree.alias_of(node)))


def _as_list(value: object) -> list[tree.Node]:
    if isinstance(value, c.Tuple):
        return tree.items(value)
    return value if isinstance(value, list) else [value] if isinstance(value, tree.Node) else []


def _matching(scope: Scope, node: tree.Node) -> Iterator[Output]:
    """DuckDB's COLUMNS(…) and ClickHouse's APPLY: a function of each column that fits."""
    inside = tree.this(node)
    if isinstance(node, c.Apply):
        called = tree.arg(node, tree.EXPRESSION)
        name = tree.text_of(called if isinstance(called, c.Var) else tree.this(called))[0] if called is not None else ""
        for output in _one(scope, inside, 0):
            yield Output(f"{name}({output.name})", stepped(output.flow, way_of(name)), node=node)
        return
    if isinstance(inside, c.Star):
        yield from _modified(scope, inside, _row(scope))
        return
    if isinstance(inside, c.Lambda):
        yield from _chosen(scope, tree.this(inside))
        return
    text, string = tree.text_of(inside)
    for output in _row(scope):
        if not string or output.name == STAR or re.search(text, output.name, re.IGNORECASE):
            yield output


def _chosen(scope: Scope, test: tree.Node) -> Iterator[Output]:
    """DuckDB's COLUMNS(c -> c LIKE 'a%'): the columns whose names fit; any other test is not known."""
    pattern = tree.arg(test, tree.EXPRESSION)
    if not isinstance(test, c.Like) or not isinstance(pattern, c.Literal):
        scope.reading.report("star_not_expanded", "COLUMNS")
        yield from _row(scope)
        return
    for output in _row(scope):
        if output.name == STAR or _like(output.name, pattern) != bool(tree.arg(test, "negate")):
            yield output


def _like(name: str, pattern: tree.Node) -> bool:
    text = tree.text_of(pattern)[0].lower().replace("%", "*").replace("_", "?")
    return fnmatch.fnmatchcase(name.lower(), text)
