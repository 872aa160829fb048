"""The rows of a query between two of its clauses."""

from collections.abc import Callable, Iterator, Mapping

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.blocks import close_block, mentions
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.row_identity import first_value
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas
from whence.capture.sql.syntax import tree


def _distinct_rows(store: Formulas) -> "Wrap":
    return lambda inside, lists: store.make("group", inside, store.make("set", *lists["values"]))


def _aggregates(value: Formula) -> Iterator[Formula]:
    """The outermost aggregates of a value over the rows of its own query."""
    if value.op == "aggregate":
        yield value
    elif value.has_aggregate:
        for part in value.args:
            if isinstance(part, Formula):
                yield from _aggregates(part)


Wrap = Callable[[Formula, Mapping[str, list[Formula]]], Formula]


class Rows:
    """The rows of a query between two of its clauses, with all the values that later clauses need."""

    def __init__(self, store: Formulas, block: Block, lists: dict[str, list[Formula]]) -> None:
        self.store = store
        self.block = block
        self.lists = lists

    @property
    def is_grouped(self) -> bool:
        values = (*self.lists["values"], *self.lists.get(tree.HAVING, ()), *self.lists.get("order", ()))
        return "keys" in self.lists or any(value.has_aggregate for value in values)

    @property
    def is_distinct(self) -> bool:
        """Whether the rows differ anyway: the select list has all keys of the one grouped source."""
        if len(self.block.sources) != 1 or self.block.outer_joins:
            return False
        (only,) = self.block.sources
        keys = [key.columns for key in unique_keys(rows_of(only)) if key.is_complete]
        return any(all(self.store.push(one, only) in self.lists["values"] for one in columns) for columns in keys)

    def filter(self, clause: str) -> None:
        self.block.conditions += self.lists.pop(clause, ())

    def group(self, make_rows: Wrap, keys: list[Formula]) -> None:
        """Complete grouped rows. An outer join that no key and no condition uses decides on no group.

        It decides on aggregates, which keep the rows with all joins. Window functions are computed after grouping.
        """
        used = [join for join in self.block.outer_joins if self._is_used(join, keys)]
        if len(used) < len(self.block.outer_joins):
            self._bind_aggregates()
            self.block = Block(self.block.sources, used, self.block.conditions)
        self.wrap(make_rows, windows=True)

    def distinct(self) -> None:
        """Complete rows without repetition, after all window functions."""
        values = self.lists["values"]
        if self.is_distinct:
            return
        make_rows = _distinct_rows(self.store)
        if any(value.has_window for value in values):
            self.wrap(make_rows)
        else:
            self.group(make_rows, values)

    def keep_first(self) -> None:
        """Complete rows of which the first of each group of `distinct_on` is left, after all window functions."""
        if any(value.has_window for value in self.lists["values"]):
            self.wrap(lambda inside, _: inside)
        keys = self.lists["distinct_on"]
        order = self.store.make("list", *(self.lists.get("order") or self.lists["inherited"]))

        def first(value: Formula) -> Formula:
            if value.op == "ordered":
                return self.store.rebuild(value, first)
            return first_value(self.store, value, keys, order)

        self.lists = {name: [*map(first, values)] for name, values in self.lists.items()}
        self.wrap(lambda inside, lists: self.store.make("group", inside, self.store.make("set", *lists["distinct_on"])))

    def _is_used(self, join: OuterJoin, keys: list[Formula]) -> bool:
        others = [one for one in self.block.outer_joins if one is not join]
        readers = [*keys, *self.block.conditions, *(on for one in others for on in one.on)]
        own = list(join.right.instances())
        return join.kind != "left" or any(mentions(reader, one) for reader in readers for one in own)

    def _bind_aggregates(self) -> None:
        """Write aggregates as values of all rows that they read."""
        values = [value for one in self.lists.values() for value in one]
        found = list(dict.fromkeys(part for value in values for part in _aggregates(value)))
        inside, closed = close_block(self.store, self.block, found)
        bound = {
            part: self.store.make("aggregate", "over", one, inside) for part, one in zip(found, closed, strict=True)
        }

        def bind(value: Formula) -> Formula:
            if value.op in BINDERS or not (value.has_aggregate or value.has_window):
                return value
            return bound[value] if value in bound else self.store.rebuild(value, bind)

        self.lists = {name: [bind(value) for value in one] for name, one in self.lists.items()}

    def wrap(self, make_rows: Wrap, windows: bool = False) -> None:
        """Complete the rows so far, and read them as one source."""
        flat = [value for values in self.lists.values() for value in values]
        inside, closed = close_block(self.store, self.block, flat)
        rest = iter(closed)
        lists = {name: [next(rest) for _ in values] for name, values in self.lists.items()}
        instance = self.store.instance(make_rows(inside, lists))
        self.block, push = Block([instance]), self.store.push
        self.lists = {
            name: [push(value, instance, windows=windows) for value in values] for name, values in lists.items()
        }
