"""Keys: columns that no two rows share, from grouping, and from what a project declares."""

from collections.abc import Iterator

from whence.capture.sql.provenance.formulas import Formula, RowKey


def unique_keys(rows: Formula) -> tuple[RowKey, ...]:
    """The keys of rows, as columns of them; one without columns if there is only one row."""
    declared = rows.store.keys.get(rows, ())
    if rows.op == "block":
        return (*declared, *_keys_of_block(rows))
    if rows.op != "group":
        return declared
    keys = rows.args[1]
    if keys == "all rows":
        return (*declared, RowKey((), True))
    if isinstance(keys, Formula) and keys.op == "set":
        return (*declared, RowKey(tuple(key for key in keys.args if isinstance(key, Formula)), True))
    return declared


def _keys_of_block(rows: Formula) -> Iterator[RowKey]:
    """The keys of one filtered source."""
    sources, _, joins = (arg.args for arg in rows.args if isinstance(arg, Formula))
    if len(sources) != 1 or joins or not isinstance(sources[0], Formula):
        return
    source, store = sources[0], rows.store
    inside = source
    while inside.op in ("src", "label"):
        inside = next(arg for arg in inside.args if isinstance(arg, Formula))
    for key in unique_keys(inside):
        yield RowKey(tuple(store.push(column, source) for column in key.columns), key.is_complete)


def first_windows(condition: Formula, source: Formula) -> Iterator[Formula]:
    """The window of a condition `row_number() over (…) = 1` on the rows of one source."""
    if condition.op != "eq" or condition.store.make("number", "1") not in condition.args:
        return
    for arg in condition.args:
        if isinstance(arg, Formula) and arg.op == "of" and arg.args[0] is source and isinstance(arg.args[1], Formula):
            window = arg.args[1]
            if window.op == "window" and window.args[0] == "rownumber":
                yield window
