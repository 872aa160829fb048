"""Quoting of names from a database or a store, so that the SQL reader resolves them to exactly those names.

>>> quote_name("orders"), quote_name("Order Items")
('orders', '"Order Items"')
"""

import re
from collections.abc import Iterable, Sequence

from whence.capture.sql import Catalog

Tables = Iterable[tuple[tuple[str, ...], Sequence[str]]]
"""Tables: the parts of the name, and the columns in order."""

_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*")


def catalog_from(tables: Tables, dialect: str, defaults: Sequence[tuple[str, ...]] = ()) -> Catalog:
    """Build a catalog of tables with exactly these names. Raises DialectError.

    A name in lower case is unquoted: Snowflake and Oracle show it in upper case, SQLAlchemy and most producers of
    events in lower case.
    """
    columns = {_dotted(parts): [quote_name(name) for name in names] for parts, names in tables}
    return Catalog.from_columns(columns, dialect, [_dotted(path) for path in defaults])


def quote_name(name: str) -> str:
    """Quote a name if it would change without quotes."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _dotted(parts: tuple[str, ...]) -> str:
    return ".".join(map(quote_name, parts))
