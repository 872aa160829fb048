"""Names as dialects compare them: case, quotes, parts."""

import re

from whence.capture.sql import tree
from whence.capture.sql.dialects import Case, Dialect
from whence.capture.sql.lineage import Table

_QUOTED = re.compile(r'"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[^."`\[]+')
_DEFAULT_SCHEMA = {"tsql": "dbo", "snowflake": "PUBLIC"}


def cased(case: Case, text: str, quoted: bool) -> str:
    """A name as it is compared."""
    match case:
        case "fold":
            return text.lower()
        case "lower":
            return text if quoted else text.lower()
        case "upper":
            return text if quoted else text.upper()
    return text


def column_name(dialect: Dialect, node: tree.Node) -> str:
    """The name that an identifier, or a literal in its place, gives a column."""
    text, quoted = tree.text_of(node)
    return cased(dialect.columns, text, quoted)


def table_of(dialect: Dialect, node: tree.Node) -> Table:
    """The table that a node names. Its parts, normalised; what is left out in the middle is the default schema."""
    parts = []
    for part in tree.table_parts(node):
        text, quoted = tree.text_of(part)
        parts.append(cased(dialect.tables, text, quoted) or _DEFAULT_SCHEMA.get(dialect.name, ""))
    if dialect.name == "bigquery" and parts and "$" in parts[-1]:
        parts[-1] = parts[-1].partition("$")[0]  # a partition of the table
    return Table(tuple(parts))


def parts_of(dialect: Dialect, dotted: str) -> tuple[str, ...]:
    """The parts of a name in dotted form, quoted as the dialect quotes."""
    found = tuple(_unquoted(dialect.tables, part) for part in _QUOTED.findall(dotted.strip()))
    if dialect.name == "bigquery":
        return tuple(part for whole in found for part in whole.split("."))
    return found


def column_of(dialect: Dialect, text: str) -> str:
    """One name of a column, quoted as the dialect quotes."""
    if text[:1] in '"`[':
        return _unquoted(dialect.columns, text)
    return cased(dialect.columns, text, quoted=False)


def _unquoted(case: Case, part: str) -> str:
    if part[:1] not in '"`[':
        return cased(case, part.strip(), quoted=False)
    closing = "]" if part[0] == "[" else part[0]
    return cased(case, part[1:-1].replace(closing * 2, closing), quoted=True)
