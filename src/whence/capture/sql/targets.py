"""Targets: the table that a statement writes, its columns, and how values come to them."""

from collections.abc import Iterable, Sequence

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.confidence import UNPLACED
from whence.capture.sql.lineage import Table
from whence.capture.sql.names import column_name, parts_of, table_of
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import STAR, Output, renamed, weakened

_DEFAULTS_MISSING = ("postgres", "redshift", "generic")
"""Dialects in which columns that an INSERT has no value for get their defaults, without a list."""
_NAMED = (c.ColumnDef, c.Identifier, c.Column, c.Dot, c.Literal, c.Alias, c.Parameter, c.Var)
"""What names a column in a list; keys and constraints do not."""


def target_of(reading: Reading, node: tree.Node) -> Table:
    """The table that is written, under its whole name. A function or a directory is a table of one part."""
    if isinstance(node, c.Schema):
        node = tree.this(node)
    if isinstance(node, c.Directory):
        return Table((tree.text_of(tree.this(node))[0],))
    if isinstance(node, c.Anonymous):
        texts = [
            tree.text_of(one)[0] for one in tree.items(node) if isinstance(one, c.Literal | c.Identifier | c.Column)
        ]
        if str(tree.this(node)).upper() == "IDENTIFIER" and texts:
            return reading.session.resolve(Table(parts_of(reading.dialect, texts[0])))
        return Table((texts[0] if texts else str(tree.this(node)),))
    if isinstance(node, c.Table) and isinstance(tree.this(node), c.DynamicIdentifier):
        named = tree.this(tree.this(node))
        if isinstance(named, c.Literal):
            return reading.session.resolve(Table(parts_of(reading.dialect, tree.text_of(named)[0])))
    return reading.session.resolve(table_of(reading.dialect, node))


def listed_columns(reading: Reading, node: tree.Node) -> list[str]:
    """The column list behind a target's name."""
    if not isinstance(node, c.Schema | c.Tuple):
        return []
    items = tree.items(node)
    if len(items) == 1 and isinstance(items[0], c.Star):
        known = reading.session.columns(target_of(reading, node))[0] or ()
        left_out = {column_name(reading.dialect, one) for one in tree.listed(items[0], tree.EXCEPT)}
        return [name for name in known if name not in left_out]
    named = [one for one in items if isinstance(one, _NAMED)]
    return [column_name(reading.dialect, tree.this(one) if isinstance(one, c.ColumnDef) else one) for one in named]


def placed(
    reading: Reading, target: Table, outputs: Sequence[Output], names: list[str], static: Sequence[str] = ()
) -> list[Output]:
    """Values by position into the columns listed; else into those of the table; else under their own names."""
    outputs = list(outputs)
    if names:
        if len(names) != len(outputs) and all(one.name != STAR for one in outputs):
            reading.report("positions_differ", str(target))
        return renamed(outputs, names)[: len(names)]
    known = reading.session.columns(target)[0]
    if known is None:
        return unplaced(outputs)
    if any(one.name == STAR for one in outputs):
        return outputs
    open_columns = [name for name in known if name not in static]
    if len(outputs) > len(open_columns):
        reading.report("positions_differ", str(target))
    elif len(outputs) < len(open_columns) and reading.dialect.name not in _DEFAULTS_MISSING:
        reading.report("positions_differ", str(target))
        return unplaced(outputs)
    return [one.called(name) for one, name in zip(outputs, open_columns, strict=False)]


def unplaced(outputs: Iterable[Output]) -> list[Output]:
    """Values that go by position to columns that nobody knows: under their own names, and that is not sure."""
    return [one if one.name == STAR else one.with_flow(weakened(one.flow, *UNPLACED)) for one in outputs]
