"""Differences between dialects, as data: case, quotes, names of unnamed columns, scope of aliases.

Sources: each engine's reference manual, the chapters on identifiers, SELECT and scripting.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from whence.errors import DialectError

Case = Literal["lower", "upper", "fold", "keep"]
"""`lower`, `upper`: unquoted names are converted · `fold`: names compare without case and are shown in lower case ·
`keep`: names stay as written.
"""
Unnamed = Literal["position", "postgres", "_col0", "_c0", "f0_", "text"]


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One dialect. `parser` is SQLGlot's name for it."""

    name: str
    parser: str
    tables: Case
    columns: Case
    quotes: str = '"'
    """The characters that quote a name; `[` means brackets."""
    escapes: bool = False
    """A backslash escapes in strings."""
    double_strings: bool = False
    """Double quotes are strings."""
    dollars: bool = False
    """`$$ … $$` and `$tag$ … $tag$` are strings."""
    hashes: bool = False
    """`#` begins a comment."""
    nests: bool = False
    """Block comments nest."""
    unnamed: Unnamed = "position"
    lateral: Literal["no", "after", "before"] = "no"
    """When a select list sees its own aliases: never, after the columns, or before them."""
    alias_filters: bool = False
    """WHERE sees the aliases of the select list."""
    declares: bool = False
    """DECLARE opens a block that ends at BEGIN."""
    selects_into: bool = False
    """Outside of procedures, SELECT … INTO creates a table and sets no variable."""
    structs: bool = False
    """`a.b` can be a field of a column `a`."""
    tuples: bool = False
    """The name or alias of a table is also a value: its row."""


_DIALECTS = (
    Dialect("postgres", "postgres", "lower", "lower", dollars=True, nests=True, unnamed="postgres",
            declares=True, selects_into=True, tuples=True),
    Dialect("redshift", "redshift", "fold", "fold", dollars=True, nests=True, unnamed="postgres",
            lateral="after", declares=True, selects_into=True, structs=True),
    Dialect("snowflake", "snowflake", "upper", "upper", escapes=True, dollars=True, lateral="after",
            alias_filters=True, declares=True),
    Dialect("bigquery", "bigquery", "keep", "fold", quotes="`", escapes=True, double_strings=True, hashes=True,
            unnamed="f0_", tuples=True, structs=True),
    Dialect("spark", "spark", "fold", "fold", quotes="`", escapes=True, double_strings=True, lateral="after",
            structs=True),
    Dialect("databricks", "databricks", "fold", "fold", quotes="`", escapes=True, double_strings=True,
            dollars=True, lateral="after", structs=True),
    Dialect("hive", "hive", "fold", "fold", quotes="`", escapes=True, double_strings=True, unnamed="_c0", structs=True),
    Dialect("mysql", "mysql", "keep", "fold", quotes="`", escapes=True, double_strings=True, hashes=True,
            unnamed="text"),
    Dialect("tsql", "tsql", "fold", "fold", quotes='"[', nests=True, selects_into=True),
    Dialect("oracle", "oracle", "upper", "upper", declares=True),
    Dialect("duckdb", "duckdb", "fold", "fold", dollars=True, nests=True, lateral="after", alias_filters=True,
            tuples=True, structs=True),
    Dialect("trino", "trino", "fold", "fold", unnamed="_col0", structs=True),
    Dialect("clickhouse", "clickhouse", "keep", "keep", quotes='"`', escapes=True, hashes=True, lateral="before",
            alias_filters=True, structs=True),
    Dialect("sqlite", "sqlite", "fold", "fold", quotes='"`[', unnamed="text", alias_filters=True),
    Dialect("teradata", "teradata", "fold", "fold", lateral="after", alias_filters=True),
    Dialect("impala", "hive", "fold", "fold", quotes="`", escapes=True, double_strings=True, structs=True),
    Dialect("generic", "", "fold", "fold", dollars=True, lateral="after", selects_into=True, structs=True),
)  # fmt: skip
DIALECTS = {one.name: one for one in _DIALECTS}
_SYNONYMS = {
    "postgresql": "postgres",
    "spark2": "spark",
    "sparksql": "spark",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "presto": "trino",
    "athena": "trino",
    "mariadb": "mysql",
    "ansi": "generic",
    "": "generic",
}


@cache
def dialect_of(name: str) -> Dialect:
    """The dialect with this name or alternative name. Raises DialectError."""
    key = name.strip().lower()
    dialect = DIALECTS.get(_SYNONYMS.get(key, key))
    if dialect is None:
        raise DialectError(name, tuple(sorted(DIALECTS)))
    return dialect
