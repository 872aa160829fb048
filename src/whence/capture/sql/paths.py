"""USE and SET search_path: where a name that is not whole leads to."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.moves import Moved
from whence.capture.sql.names import cased, parts_of, table_of
from whence.capture.sql.reading import Reading

_PUBLIC = {"snowflake": "PUBLIC", "tsql": "dbo", "duckdb": "main"}


def use(reading: Reading, node: tree.Node) -> Moved:
    """What is said of databases and schemas."""
    match node:
        case c.Use():
            kind = tree.text_of(tree.arg(node, tree.KIND))[0].upper() if tree.arg(node, tree.KIND) else ""
            if kind not in ("ROLE", "WAREHOUSE", "SECONDARY ROLES") and tree.this(node) is not None:
                parts = table_of(reading.dialect, tree.this(node)).parts
                reading.session.paths = [_used(reading, kind, parts)]
        case c.Set():
            for item in tree.items(node):
                _set(reading, item)
    return Moved(node.key, opaque=True)


def _used(reading: Reading, kind: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    before = reading.session.paths[0] if reading.session.paths else ()
    name = reading.dialect.name
    if kind == "SCHEMA" and len(parts) == 1:
        return (*before[:1], *parts)
    if kind in ("DATABASE", "") and name in _PUBLIC and len(parts) == 1:
        return (*parts, _PUBLIC[name])
    if kind == "CATALOG" or (
        len(parts) == 1 and name in ("databricks", "spark", "trino") and len(before) == 2 and kind == ""
    ):
        return parts if kind == "CATALOG" else (before[0], *parts)
    if kind == "" and len(parts) == 1 and len(before) == 1 and name in ("databricks", "trino"):
        return (*before, *parts)
    return parts


def _set(reading: Reading, item: tree.Node) -> None:
    assigned = tree.this(item)
    if not isinstance(assigned, c.EQ) or tree.text_of(tree.this(assigned))[0].lower() != "search_path":
        return
    value = tree.arg(assigned, tree.EXPRESSION)
    search(reading, [tree.text_of(one)[0] for one in (tree.items(value) or [value])])


def search(reading: Reading, names: list[str]) -> None:
    """PostgreSQL's search path: the first schema that has the table."""
    found = [parts_of(reading.dialect, cased("keep", name, True)) for name in names if name and "$user" not in name]
    if found:
        reading.session.paths = found
