"""Targets: the table that a statement writes, its columns, and the assignment of values to them."""

from collections.abc import Iterable, Sequence

from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import column_name, parse_name_parts, table_of
from whence.capture.sql.provenance.confidence import UNPLACED
from whence.capture.sql.provenance.relations import STAR, Output, lower_confidence, rename_outputs
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

_DEFAULTS_MISSING = ("postgres", "redshift", "generic")
"""Dialects in which an INSERT without a column list may have too few values: the rest get defaults."""
_NAMED = (c.ColumnDef, c.Identifier, c.Column, c.Dot, c.Literal, c.Alias, c.Parameter, c.Var)
"""The nodes that name a column in a list; keys and constraints do not."""


def target_of(reading: Reading, node: tree.Node) -> Table:
    """The written table, under its qualified name. A function or a directory is a table with one part."""
    if isinstance(node, c.Schema):
        node = tree.this(node)
    if isinstance(node, c.Directory):
        return Table((tree.text_of(tree.this(node))[0],))
    if isinstance(node, c.Anonymous):
        texts = [
            tree.text_of(item)[0] for item in tree.items(node) if isinstance(item, c.Literal | c.Identifier | c.Column)
        ]
        if str(tree.this(node)).upper() == "IDENTIFIER" and texts:
            return reading.session.resolve(Table(parse_name_parts(reading.dialect, texts[0])))
        return Table((texts[0] if texts else str(tree.this(node)),))
    if isinstance(node, c.Table) and isinstance(tree.this(node), c.DynamicIdentifier):
        named = tree.this(tree.this(node))
        if isinstance(named, c.Literal):
            return reading.session.resolve(Table(parse_name_parts(reading.dialect, tree.text_of(named)[0])))
    return reading.session.resolve(table_of(reading.dialect, node))


def listed_columns(reading: Reading, node: tree.Node) -> list[str]:
    """The column list after a target's name."""
    if not isinstance(node, c.Schema | c.Tuple):
        return []
    items = tree.items(node)
    if len(items) == 1 and isinstance(items[0], c.Star):
        known = reading.session.columns(target_of(reading, node))[0] or ()
        left_out = {column_name(reading.dialect, item_node) for item_node in tree.list_arg(items[0], tree.EXCEPT)}
        return [name for name in known if name not in left_out]
    named = [item for item in items if isinstance(item, _NAMED)]
    return [
        column_name(reading.dialect, tree.this(output) if isinstance(output, c.ColumnDef) else output)
        for output in named
    ]


def place_by_position(
    reading: Reading, target: Table, outputs: Sequence[Output], names: list[str], static: Sequence[str] = ()
) -> list[Output]:
    """Assign values by position to the listed columns, else to those of the table, else under their own names."""
    outputs = list(outputs)
    if names:
        if len(names) != len(outputs) and all(output.name != STAR for output in outputs):
            reading.report("positions_differ", str(target))
        return rename_outputs(outputs, names)[: len(names)]
    known = reading.session.columns(target)[0]
    if known is None:
        return keep_unplaced(outputs)
    if any(output.name == STAR for output in outputs):
        return outputs
    open_columns = [name for name in known if name not in static]
    if len(outputs) > len(open_columns):
        reading.report("positions_differ", str(target))
    elif len(outputs) < len(open_columns) and reading.dialect.name not in _DEFAULTS_MISSING:
        reading.report("positions_differ", str(target))
        return keep_unplaced(outputs)
    return [output.with_name(name) for output, name in zip(outputs, open_columns, strict=False)]


def keep_unplaced(outputs: Iterable[Output]) -> list[Output]:
    """Values for unknown columns: under their own names, with lower confidence."""
    return [
        output if output.name == STAR else output.with_flow(lower_confidence(output.flow, *UNPLACED))
        for output in outputs
    ]
