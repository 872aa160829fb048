"""Names as dialects compare them: case, quotes, parts."""

import re

from whence.capture.sql.dialects.dialects import Case, Dialect
from whence.capture.sql.lineage import Table
from whence.capture.sql.syntax import tree

_QUOTED = re.compile(r'"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[^."`\[]+')
_DEFAULT_SCHEMA = {"tsql": "dbo", "snowflake": "PUBLIC"}


def normalize_case(case: Case, text: str, quoted: bool) -> str:
    """Convert a name to the form in which the dialect compares it."""
    match case:
        case "fold":
            return text.lower()
        case "lower":
            return text if quoted else text.lower()
        case "upper":
            return text if quoted else text.upper()
    return text


def column_name(dialect: Dialect, node: tree.Node) -> str:
    """The column name that an identifier denotes, or a literal in its place."""
    text, quoted = tree.text_of(node)
    return normalize_case(dialect.columns, text, quoted)


def table_of(dialect: Dialect, node: tree.Node) -> Table:
    """The table that a node names, with normalised parts. An omitted middle part becomes the default schema."""
    parts = []
    for part in tree.table_parts(node):
        text, quoted = tree.text_of(part)
        case = "keep" if dialect.tables == "fold" and "/" in text else dialect.tables  # a file's path is not folded
        parts.append(normalize_case(case, text, quoted) or _DEFAULT_SCHEMA.get(dialect.name, ""))
    if dialect.name == "bigquery" and parts and "$" in parts[-1]:
        parts[-1] = parts[-1].partition("$")[0]  # a partition of the table
    return Table(tuple(parts))


def parse_name_parts(dialect: Dialect, dotted: str) -> tuple[str, ...]:
    """The parts of a dotted name, quoted as the dialect quotes."""
    parts = tuple(_unquoted(dialect.tables, part) for part in _QUOTED.findall(dotted.strip()))
    if dialect.name == "bigquery":
        return tuple(part for name in parts for part in name.split("."))
    return parts


def parse_column_name(dialect: Dialect, text: str) -> str:
    """The name of one column, quoted as the dialect quotes."""
    if text[:1] in '"`[':
        return _unquoted(dialect.columns, text)
    return normalize_case(dialect.columns, text, quoted=False)


def _unquoted(case: Case, part: str) -> str:
    if part[:1] not in '"`[':
        return normalize_case(case, part.strip(), quoted=False)
    closing = "]" if part[0] == "[" else part[0]
    return normalize_case(case, part[1:-1].replace(closing * 2, closing), quoted=True)
