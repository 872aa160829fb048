"""GROUPING SETS, ROLLUP and CUBE as UNION ALL of a grouping by each set of keys.

In the rows of a set, the keys that are not in it are NULL, and `GROUPING` tells which these are. Aggregates read the
values of their rows, not these NULLs. The empty set is one total, also of no rows, in DuckDB and Postgres. Spark gives
no row there, and other dialects have not been tried.
"""

from collections.abc import Mapping, Sequence

from whence.capture.sql.fingerprint.block import Block
from whence.capture.sql.fingerprint.blocks import close_block, copy_block
from whence.capture.sql.fingerprint.keys import needed_keys
from whence.capture.sql.fingerprint.normal_forms.sources.branches import Branch, union_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.fingerprint.stages import Rows
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas
from whence.capture.sql.syntax import tree

_GROUPINGS = frozenset({"grouping", "groupingid"})
_WITH_BIGINT = frozenset({"duckdb"})
"""Dialects whose GROUPING is a BIGINT."""
_WITH_TOTAL = frozenset({"duckdb", "postgres"})
"""Dialects in which the empty set of keys gives a row where there are no rows."""


def union_of_groups(store: Formulas, rows: Rows, key_sets: Sequence[Sequence[int]]) -> bool:
    """Complete the rows as a UNION ALL, with HAVING. Returns whether they were; else they are left as they are."""
    flat = [value for values in rows.lists.values() for value in values]
    keys = rows.lists["keys"]
    is_total_known = store.dialect in _WITH_TOTAL or all(key_sets)
    is_open = any(value.has_window for value in flat) or not all(map(_Set(store, keys, ()).can_read, flat))
    if rows.lists["inherited"] or is_open or not is_total_known:
        return False
    made, columns = union_of(store, [_branch(store, rows, places) for places in key_sets])
    instance = store.instance(made)
    rest = iter(store.push(column, instance) for column in columns)
    rows.block = Block([instance])
    rows.lists = {name: [next(rest) for _ in values] for name, values in _kept(rows.lists).items()}
    return True


def _kept(lists: Mapping[str, list[Formula]]) -> dict[str, list[Formula]]:
    """What later clauses read."""
    return {name: values for name, values in lists.items() if name not in ("keys", tree.HAVING)}


def _branch(store: Formulas, rows: Rows, places: Sequence[int]) -> Branch:
    """The groups of one set of keys."""
    names, widths = list(rows.lists), [len(values) for values in rows.lists.values()]
    block, copied = copy_block(store, rows.block, [value for values in rows.lists.values() for value in values])
    rest = iter(copied)
    lists = {name: [next(rest) for _ in range(width)] for name, width in zip(names, widths, strict=True)}
    keys = lists.pop("keys")
    own = _Set(store, keys, places)
    own_rows = Rows(store, block, {name: [*map(own.change, values)] for name, values in lists.items()})
    kept = needed_keys([keys[place] for place in places]) if places else []
    if kept:
        own_rows.lists["keys"] = kept
        own_rows.group(lambda inside, made: store.make("group", inside, store.make("set", *made["keys"])), kept)
    else:
        own_rows.group(lambda inside, _: store.make("group", inside, "all rows"), [])
    own_rows.filter(tree.HAVING)
    flat = [value for values in _kept(own_rows.lists).values() for value in values]
    closed, values = close_block(store, own_rows.block, flat)
    return closed, tuple(values)


class _Set:
    """One set of keys, as places among all of them: what values over its groups are."""

    def __init__(self, store: Formulas, keys: Sequence[Formula], places: Sequence[int]) -> None:
        self.store = store
        self.keys = keys
        self.kept = frozenset(keys[place] for place in places)

    def can_read(self, value: Formula) -> bool:
        """Whether keys stand in a value as such, outside of subqueries, and GROUPING asks for keys."""
        if value in self.keys or not value.is_open:
            return value in self.keys or not value.is_volatile
        if value.op == "aggregate":
            return value.args[0] not in _GROUPINGS or self._arguments(value) is not None
        if value.op in BINDERS:
            return False
        return all(map(self.can_read, formulas_of(value)))

    def change(self, value: Formula) -> Formula:
        if value in self.keys:
            return value if value in self.kept else self.store.make("null")
        if value.op == "aggregate":
            arguments = self._arguments(value) if value.args[0] in _GROUPINGS else None
            return value if arguments is None else self._number(arguments)
        return rebuild(self.store, value, self.change) if value.is_open and value.op not in BINDERS else value

    def _arguments(self, grouping: Formula) -> list[Formula] | None:
        """The keys that GROUPING asks for; None if one of them is none, or its number has an unknown type."""
        lists = [one for one in formulas_of(grouping) if one.op == "list"]
        arguments = formulas_of(lists[0]) if len(lists) == 1 and len(formulas_of(grouping)) == 1 else []
        is_known = self.store.dialect in _WITH_BIGINT and bool(arguments) and all(one in self.keys for one in arguments)
        return arguments if is_known else None

    def _number(self, arguments: Sequence[Formula]) -> Formula:
        """A bit for each key, 1 if it is not in the set, the last one being the lowest."""
        number = sum((key not in self.kept) << place for place, key in enumerate(reversed(arguments)))
        return self.store.make("cast", self.store.make("number", str(number)), self.store.make("type", "bigint"))
