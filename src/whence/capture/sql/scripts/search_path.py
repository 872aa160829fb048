"""USE and SET search_path: the completion of partial names."""

from whence.capture.sql.names.names import normalize_case, parse_name_parts, table_of
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.statements.moves import Effects
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_PUBLIC = {"snowflake": "PUBLIC", "tsql": "dbo", "duckdb": "main"}


def read_use(reading: Reading, node: tree.Node) -> Effects:
    """Apply a USE or SET statement to the session."""
    match node:
        case c.Use():
            kind = tree.text_of(tree.arg(node, tree.KIND))[0].upper() if tree.arg(node, tree.KIND) else ""
            if kind not in ("ROLE", "WAREHOUSE", "SECONDARY ROLES") and tree.this(node) is not None:
                parts = table_of(reading.dialect, tree.this(node)).parts
                reading.session.paths = [_path_after_use(reading, kind, parts)]
        case c.Set():
            for item in tree.items(node):
                _read_set(reading, item)
    return Effects(node.key, opaque=True)


def _path_after_use(reading: Reading, kind: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    current = reading.session.paths[0] if reading.session.paths else ()
    name = reading.dialect.name
    if kind == "SCHEMA" and len(parts) == 1:
        return (*current[:1], *parts)
    if kind in ("DATABASE", "") and name in _PUBLIC and len(parts) == 1:
        return (*parts, _PUBLIC[name])
    if kind == "CATALOG" or (
        len(parts) == 1 and name in ("databricks", "spark", "trino") and len(current) == 2 and kind == ""
    ):
        return parts if kind == "CATALOG" else (current[0], *parts)
    if kind == "" and len(parts) == 1 and len(current) == 1 and name in ("databricks", "trino"):
        return (*current, *parts)
    return parts


def _read_set(reading: Reading, item: tree.Node) -> None:
    assigned = tree.this(item)
    if not isinstance(assigned, c.EQ) or tree.text_of(tree.this(assigned))[0].lower() != "search_path":
        return
    value = tree.arg(assigned, tree.EXPRESSION)
    set_search_path(reading, [tree.text_of(element)[0] for element in (tree.items(value) or [value])])


def set_search_path(reading: Reading, names: list[str]) -> None:
    """Set PostgreSQL's search path: the first schema that has the table wins."""
    paths = [
        parse_name_parts(reading.dialect, normalize_case("keep", name, True))
        for name in names
        if name and "$user" not in name
    ]
    if paths:
        reading.session.paths = paths
