"""Access to SQLGlot's syntax tree: the names of its arguments, and functions that read nodes."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from whence.capture.sql.syntax import classes as c

Node = c.Expr

THIS: Final = "this"
EXPRESSION: Final = "expression"
EXPRESSIONS: Final = "expressions"
ALIAS: Final = "alias"
COLUMNS: Final = "columns"
WITH: Final = "with_"
FROM: Final = "from_"
FOR: Final = "for_"
JOINS: Final = "joins"
LATERALS: Final = "laterals"
PIVOTS: Final = "pivots"
ON: Final = "on"
USING: Final = "using"
KIND: Final = "kind"
SIDE: Final = "side"
METHOD: Final = "method"
WHERE: Final = "where"
PREWHERE: Final = "prewhere"
GROUP: Final = "group"
HAVING: Final = "having"
QUALIFY: Final = "qualify"
WINDOWS: Final = "windows"
DISTINCT: Final = "distinct"
CONNECT: Final = "connect"
START: Final = "start"
MATCH: Final = "match"
LIMIT: Final = "limit"
INTO: Final = "into"
ORDERINGS: Final = ("order", "sort", "cluster")
PARTITION_BY: Final = "partition_by"
ORDER: Final = "order"
OVER: Final = "over"
IFS: Final = "ifs"
DEFAULT: Final = "default"
TRUE: Final = "true"
FALSE: Final = "false"
TABLE: Final = "table"
EXCEPT: Final = "except_"
REPLACE: Final = "replace"
RENAME: Final = "rename"
ILIKE: Final = "ilike"
OFFSET: Final = "offset"
UNPIVOT: Final = "unpivot"
FIELDS: Final = "fields"
VALUE_FIRST: Final = "value_columns_first"
BY_NAME: Final = "by_name"
MEASURES: Final = "measures"
DEFINE: Final = "define"
ROWS: Final = "rows"
SCHEMA: Final = "schema"
NESTED: Final = "nested_schema"
PASSING: Final = "passing"
ROWS_FROM: Final = "rows_from"
ALL: Final = "all"
CONFLICT: Final = "conflict"
PARTITION: Final = "partition"
RETURNING: Final = "returning"
SOURCE: Final = "source"
ELSE: Final = "else_"
MATCHED: Final = "matched"
CONDITION: Final = "condition"
THEN: Final = "then"
WHENS: Final = "whens"
TABLES: Final = "tables"
PROPERTIES: Final = "properties"
CLONE: Final = "clone"
FILES: Final = "files"
INPATH: Final = "inpath"
OVERWRITE: Final = "overwrite"
ACTIONS: Final = "actions"
TEMPORARY: Final = "temporary"
QUOTED: Final = "quoted"
NO: Final = "no"
USING_COLUMNS: Final = "using_cond"
JOIN_MARK: Final = "join_mark"
SEARCH: Final = "search"
SCALAR: Final = "scalar"
TO: Final = "to"


def arg(node: Node, name: str) -> Any:
    """One argument of a node; None if it is absent or false."""
    value = node.args.get(name)
    return None if value is False else value


def list_arg(node: Node | None, name: str) -> list[Any]:
    """An argument that is a list; empty if it is absent."""
    return (node.args.get(name) or []) if node is not None else []


def items(node: Node) -> list[Any]:
    return node.args.get(EXPRESSIONS) or []


def this(node: Node) -> Any:
    return node.args.get(THIS)


def children(node: Node) -> Iterator[Node]:
    """Yield all nodes directly below a node."""
    for value in node.args.values():
        if isinstance(value, Node):
            yield value
        elif isinstance(value, list):
            for member in value:
                if isinstance(member, Node):
                    yield member


def text_of(node: Any) -> tuple[str, bool]:
    """The text of a name, and whether it is quoted. Accepts an identifier, string, variable, or column of one part."""
    if isinstance(node, c.Identifier):
        text = str(node.args[THIS])
        return ("#" + text if node.args.get(TEMPORARY) else text), bool(node.args.get(QUOTED))
    if isinstance(node, c.Literal):
        return str(node.args[THIS]), bool(node.args.get("is_string"))
    if isinstance(node, c.Var) and str(node.args[THIS]).startswith("@"):
        return str(node.args[THIS]), True
    if isinstance(node, c.Parameter):
        inner = text_of(node.args[THIS])[0]
        return ("$" if inner.isdigit() else "@") + inner, True
    if isinstance(node, Node):
        inside = node.args.get(THIS)
        return text_of(inside) if inside is not None else ("", False)
    return str(node), False


def table_parts(node: Node) -> list[Node]:
    """The parts of a table's name, the outermost first. An omitted middle part is empty."""
    if not isinstance(node, c.Table):
        return [node]
    name = node.args.get(THIS)
    inner = _dot_parts(name) if isinstance(name, c.Dot) else [name]
    return [part for part in (node.args.get("catalog"), node.args.get("db")) if part is not None] + inner


def _dot_parts(node: Any) -> list[Any]:
    return [*_dot_parts(node.args[THIS]), node.args[EXPRESSION]] if isinstance(node, c.Dot) else [node]


def path_of(node: Node) -> tuple[list[Node], list[Node]] | None:
    """Split a path `a.b.c` into the parts of the column and the nested fields. Returns None for other nodes."""
    fields: list[Node] = []
    while isinstance(node, c.Dot):
        fields.append(node.args[EXPRESSION])
        node = node.args[THIS]
    if isinstance(node, c.Identifier) and fields:
        return [node], fields[::-1]
    return (column_parts(node), fields[::-1]) if isinstance(node, c.Column) else None


def column_parts(node: Node) -> list[Node]:
    """The parts of a column's name, the outermost first."""
    named = [node.args.get("catalog"), node.args.get("db"), node.args.get(TABLE), node.args.get(THIS)]
    return [part for part in named if part is not None]


def is_star(node: Node) -> bool:
    """`*` or `t.*`."""
    return isinstance(node, c.Star) or (isinstance(node, c.Column) and isinstance(node.args.get(THIS), c.Star))


def alias_of(node: Node) -> Any:
    """The identifier after AS; for a table's alias, its name."""
    alias = node.args.get(ALIAS)
    return alias.args.get(THIS) if isinstance(alias, c.TableAlias) else alias


def alias_columns(node: Node) -> list[Any]:
    """The column list of a table's alias."""
    alias = node.args.get(ALIAS)
    return (alias.args.get(COLUMNS) or []) if isinstance(alias, c.TableAlias) else []


def query_in(node: Any) -> Any:
    """The query inside any number of brackets, or None if they contain no query."""
    while isinstance(node, c.Paren) or (isinstance(node, c.Subquery) and not _has_modifiers(node)):
        node = node.args.get(THIS)
    return node if isinstance(node, c.Query | c.Pivot) else None


def _has_modifiers(node: Node) -> bool:
    """Whether brackets carry something such as an order or an alias."""
    return any(value for name, value in node.args.items() if name != THIS)


def has_property(node: Node, *kinds: type) -> bool:
    properties = node.args.get(PROPERTIES)
    return properties is not None and any(isinstance(item, kinds) for item in properties.args.get(EXPRESSIONS) or [])


def property_of(node: Node, kind: type) -> Any:
    """The first property of a kind."""
    properties = node.args.get(PROPERTIES)
    matches = [item for item in list_arg(properties, EXPRESSIONS) if isinstance(item, kind)]
    return matches[0] if matches else None


@cache
def _generator(grammar: str) -> Any:
    return c.Grammar.get_or_raise(grammar).generator(comments=False, unsupported_level=c.ErrorLevel.IGNORE)


def plain_name(node: Node) -> str:
    """The text of a column whose name has no quotes; empty for any other node."""
    if not isinstance(node, c.Column):
        return ""
    parts = column_parts(node)
    if not all(isinstance(part, c.Identifier) and not part.args.get(QUOTED) for part in parts):
        return ""
    return ".".join(str(part.args[THIS]) for part in parts)


def source_text(node: Node, grammar: str) -> str:
    """Generate the SQL of a node in a dialect. It may change the node."""
    if plain := plain_name(node):
        return plain
    try:
        return str(_generator(grammar).generate(node, copy=False))
    except (c.SqlglotError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return ""
