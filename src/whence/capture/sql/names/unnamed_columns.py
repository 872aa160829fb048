"""The names that dialects give to columns without an alias."""

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.names.names import column_name
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def output_column_name(dialect: Dialect, node: tree.Node, position: int, unnamed_before: int = 0) -> str:
    """The name of an output column: its own name, else the dialect's default, else `#<position>`."""
    name = _explicit_name(dialect, node)
    if name is not None:
        return name
    match dialect.unnamed:
        case "postgres":
            return _postgres_name(node)
        case "f0_":
            return f"f{unnamed_before}_"
        case "_col0":
            return f"_col{position - 1}"
        case "_c0":
            return f"_c{position - 1}"
    return f"#{position}"


def _explicit_name(dialect: Dialect, node: tree.Node) -> str | None:
    match node:
        case c.Column():
            return column_name(dialect, tree.this(node))
        case c.Paren():
            return _explicit_name(dialect, tree.this(node))
        case c.Dot() if isinstance(tree.arg(node, tree.EXPRESSION), c.Identifier):
            return column_name(dialect, tree.arg(node, tree.EXPRESSION))
        case c.Subquery() if dialect.name in ("postgres", "redshift", "duckdb", "spark", "databricks"):
            inside = tree.query_in(node)
            only = tree.items(inside)[:1] if isinstance(inside, c.Select) else []
            alias = tree.alias_of(only[0]) if only else None
            if dialect.name in ("postgres", "redshift") and only:
                return column_name(dialect, alias) if alias is not None else output_column_name(dialect, only[0], 1)
    return None


def _postgres_name(node: tree.Node) -> str:
    """PostgreSQL (FigureColname): the function's name, or the type of a cast without another name."""
    match node:
        case c.Case():
            return "case"
        case c.Exists():
            return "exists"
        case c.Array():
            return "array"
        case c.Window() | c.Filter() | c.WithinGroup():
            return _postgres_name(tree.this(node))
        case c.Coalesce():
            return "coalesce"
        case c.Anonymous():
            return str(tree.this(node)).lower()
        case c.GroupConcat():
            return "string_agg"
    if isinstance(node, c.Func) and not isinstance(node, c.Connector | c.Cast):
        return str(node.sql_name()).lower()
    if isinstance(node, c.Cast):
        inner = _postgres_name(tree.this(node)) if not isinstance(tree.this(node), c.Column) else None
        name = inner if inner != "?column?" else None
        column = tree.text_of(tree.this(node))[0].lower() if isinstance(tree.this(node), c.Column) else None
        return name or column or str(tree.source_text(tree.arg(node, tree.TO), "postgres")).lower()
    return "?column?"
