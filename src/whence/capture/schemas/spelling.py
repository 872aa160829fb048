"""Names as a database or a store has them, spelt so that the SQL reader takes them for exactly those.

>>> spelt("orders"), spelt("Order Items")
('orders', '"Order Items"')
"""

import re
from collections.abc import Iterable, Sequence

from whence.capture.sql import Catalog

Tables = Iterable[tuple[tuple[str, ...], Sequence[str]]]
"""Tables: the parts of the name, and the columns in order."""

_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*")


def catalog_from(tables: Tables, dialect: str, defaults: Sequence[tuple[str, ...]] = ()) -> Catalog:
    """A catalog of tables that are called exactly so. Raises DialectError.

    A name in lower case is one without quotes: Snowflake and Oracle show it in upper case, SQLAlchemy and most
    producers of events in lower case.
    """
    columns = {_dotted(parts): [spelt(name) for name in names] for parts, names in tables}
    return Catalog.from_columns(columns, dialect, [_dotted(path) for path in defaults])


def spelt(name: str) -> str:
    """One name, in quotes where it would not come through without them."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _dotted(parts: tuple[str, ...]) -> str:
    return ".".join(map(spelt, parts))
