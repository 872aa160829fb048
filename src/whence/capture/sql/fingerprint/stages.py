"""The rows of a query between two of its clauses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.blocks import close_block
from whence.capture.sql.fingerprint.closing.single_rows import keeps_rows
from whence.capture.sql.fingerprint.keys import needed_keys, tells_zeros_apart
from whence.capture.sql.fingerprint.normal_forms.aggregates.aggregate_filters import shared_filter, without_null_filters
from whence.capture.sql.fingerprint.normal_forms.aggregates.demanded_filters import without_repeated_filters
from whence.capture.sql.fingerprint.normal_forms.aggregates.demanded_rows import with_demanded_joins
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import (
    FixedValues,
    any_of,
    is_unique,
    needless_keys,
    total_of_partition,
    window_columns,
    without_determined_keys,
)
from whence.capture.sql.fingerprint.normal_forms.aggregates.flags import Flags, counts_repetition, repeating_aggregates
from whence.capture.sql.fingerprint.normal_forms.aggregates.joined_totals import totals_as_windows
from whence.capture.sql.fingerprint.normal_forms.aggregates.nested_groups import without_inner_groups
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of, change_aggregates
from whence.capture.sql.fingerprint.normal_forms.aggregates.simplified import simplified
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter
from whence.capture.sql.fingerprint.normal_forms.joins.later_lookups import windows_before_lookups
from whence.capture.sql.fingerprint.normal_forms.joins.outer_joins import normalize_joins
from whence.capture.sql.fingerprint.normal_forms.sources.existence import (
    MOST_SOURCES,
    anti_joins,
    semi_joins,
    without_repetitions,
    without_semi_joins,
)
from whence.capture.sql.fingerprint.normal_forms.sources.outer_values import OuterValues, reads_inside
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import (
    is_existence_by_keys,
    is_on_keys,
    without_partition_filters,
)
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import (
    open_sources,
    without_groups,
    without_joined_groups,
)
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import join_rows_of_keys
from whence.capture.sql.fingerprint.normal_forms.values.known import KnownValues, known_values
from whence.capture.sql.fingerprint.row_identity import change_everywhere, first_order, first_value
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas
from whence.capture.sql.syntax import tree


def _needs_groups(condition: Formula, keys: Sequence[Formula]) -> bool:
    """Whether a condition may differ between the rows of a group, or needs all of them."""
    is_computed = condition.has_aggregate or condition.has_window or condition.is_volatile
    return is_computed or any(tells_zeros_apart(condition, key) for key in keys)


_ONLY_KEYS: Final = frozenset({"bigquery", "databricks", "duckdb", "postgres", "redshift", "snowflake", "spark"})
"""Dialects in which HAVING reads grouping keys and aggregates alone."""
Wrap = Callable[[Formula, Mapping[str, list[Formula]]], Formula]


class Rows:
    """The rows of a query between two of its clauses, with all the values that later clauses need."""

    def __init__(self, store: Formulas, block: Block, lists: dict[str, list[Formula]]) -> None:
        self.store = store
        self.block = block
        self.lists = lists

    @property
    def _flat(self) -> list[Formula]:
        """All values that later clauses need."""
        return [value for values in self.lists.values() for value in values]

    @property
    def is_grouped(self) -> bool:
        values = (*self.lists["values"], *self.lists.get(tree.HAVING, ()), *self.lists.get("order", ()))
        return "keys" in self.lists or any(value.has_aggregate for value in values)

    @property
    def is_distinct(self) -> bool:
        """Whether the rows differ anyway: the select list has a key of each source, or what fixes one."""
        return is_unique(self.store, self.block, self.lists["values"])

    def filter(self, clause: str) -> None:
        self.block.conditions += self.lists.pop(clause, ())

    def filter_by_keys(self) -> None:
        """What HAVING asks of the keys, in dialects in which it may read nothing else, may as well be asked of rows."""
        keys = self.lists.get("keys", [])
        if not keys or self.store.dialect not in _ONLY_KEYS:
            return
        having = normalize_filter(self.store, self.lists.get(tree.HAVING, []))
        moved = [one for one in having if not _needs_groups(one, keys)]
        if moved:
            self.block.conditions += moved
            self.lists[tree.HAVING] = [one for one in having if one not in moved]

    def read_totals_as_windows(self) -> None:
        """Before grouping: by a joined total or by a window is the same to it."""
        if not any(rows_of(one).op == "group" for one in self.block.instances()):
            return
        found = totals_as_windows(self.store, self.block, self._flat, close_block, may_open=not self.is_grouped)
        self.block = found[0]
        self._take_values(0, found[1])

    def leave_out_repeated_filters(self) -> None:
        """Before conditions on keys are asked of groups."""
        block = replace(self.block, conditions=normalize_filter(self.store, self.block.conditions))
        changed, found = without_repeated_filters(self.store, block, self._flat, close_block)
        if changed is not block:
            self.block = changed
            self._take_values(0, found)

    def group(self, make_rows: Wrap, keys: list[Formula], is_plain: bool = True) -> None:
        """Complete grouped rows. An outer join that no key and no condition uses decides on no group.

        It decides on aggregates, which keep the rows with all joins. Window functions are computed after grouping.
        `is_plain`: each row is in one group.
        """
        if is_plain:
            keys = self._join_rows_of_keys(keys)
        if is_plain and "keys" not in self.lists:
            self._merge_groups([])
            self._write_flags(has_rows=False)
            self._share_filter()
        if is_plain:
            keys = self._leave_out_defaults(keys)
        else:
            self._hide_keys(keys)
        self.simplify_aggregates(keys if is_plain else [])
        if is_plain and "keys" not in self.lists:
            self._leave_out_null_filters()
        if is_plain and keys:
            keys = self._without_determined_keys(self._without_fixed_keys(keys))
            self.block = with_demanded_joins(self.block, keys, self.lists.get(tree.HAVING, ()))
            keys = self._normalize_joins(keys)
            keys = self._merge_groups(self._open_groups(keys))
            if self._is_without_repetitions(keys):
                return
            self._lift_existence(keys)
            self._lift_conditions(frozenset(keys))
        self._write_flags(has_rows=is_plain and bool(keys))
        used = [join for join in self.block.outer_joins if self._is_used(join, keys)]
        if len(used) < len(self.block.outer_joins):
            self._bind_aggregates()
            self.block = Block(self.block.sources, used, self.block.conditions)
        existence = self.lists.pop("existence", [])
        self.wrap(make_rows, windows=True)
        self.block.conditions += self.lists.pop("lifted", ())
        moved = dict(zip(keys, self.lists.pop("places", []), strict=False))
        self.block.conditions += map(change_everywhere(self.store, lambda part: moved.get(part, part)), existence)

    def _join_rows_of_keys(self, keys: Sequence[Formula]) -> list[Formula]:
        """Before joins decide on groups: subqueries for the row of a key are joins, too. Returns the keys."""
        self.block, found = join_rows_of_keys(self.store, self.block, [*keys, *self._flat])
        return self._take_values(len(keys), found)

    def _merge_groups(self, keys: list[Formula]) -> list[Formula]:
        """Groups of groups as groups of their rows, where aggregates allow it. Returns the keys over these."""
        while any(rows_of(one).op == "group" for one in self.block.sources):
            flags = Flags(self.store, has_rows=bool(keys), is_known=self._known().is_known)
            self.lists = {name: [*map(flags.quotient, values)] for name, values in self.lists.items()}
            found = without_inner_groups(self.store, self.block, keys, self._flat, partial(self._bound, keys))
            if found is None:
                break
            self.block, changed = found
            keys = self._take_values(len(keys), changed)
            self.simplify_aggregates(keys)
        return keys

    def _take_values(self, width: int, found: Sequence[Formula]) -> list[Formula]:
        """Put changed values in the place of those that are there. Returns the keys, which stand before them."""
        rest = iter(found[width:])
        self.lists = {name: [next(rest) for _ in values] for name, values in self.lists.items()}
        return [*found[:width]]

    def _write_flags(self, has_rows: bool) -> None:
        flags = Flags(self.store, has_rows, self._known().is_known)
        self.lists = {name: [*map(flags.change, values)] for name, values in self.lists.items()}

    def _known(self) -> KnownValues:
        conditions = normalize_filter(self.store, self.block.conditions)
        return KnownValues(self.store, conditions, self.block.sources)

    def _leave_out_defaults(self, keys: Sequence[Formula]) -> list[Formula]:
        """Before aggregates are compared: what the rows say of their values. Returns the keys."""
        known = self._known()
        self.lists = {name: [*map(known.simplify, values)] for name, values in self.lists.items()}
        return [*map(known.simplify, keys)]

    def _hide_keys(self, keys: Sequence[Formula]) -> None:
        """Keys of several grouping sets are NULL in the groups of others, whatever the rows say of them."""
        hidden = any_of(self.store, {key: self.store.make("grouped", key) for key in keys if key.is_open})
        self.lists = {name: one if name == "keys" else [*map(hidden, one)] for name, one in self.lists.items()}

    def _without_fixed_keys(self, keys: list[Formula]) -> list[Formula]:
        """Grouping keys that the other ones fix are any value of their group."""
        gone = needless_keys(self.store, keys)
        columns = frozenset().union(*map(window_columns, gone))
        if not gone or any(reads_inside(value, columns) for value in self._flat):
            return keys
        kept = [key for key in keys if key not in gone]
        change = any_of(self.store, {one: self._value_of_group(one, frozenset(kept)) for one in columns})
        self.lists = {name: [*map(change, values)] for name, values in self.lists.items()}
        self.lists["keys"] = kept
        return kept

    def _without_determined_keys(self, keys: list[Formula]) -> list[Formula]:
        """Grouping keys that the other ones fix by a key of a source are columns of the group all the same."""
        block = replace(self.block, conditions=[*self._known().conditions])
        self.lists["keys"] = without_determined_keys(self.store, block, keys)
        return self.lists["keys"]

    def _value_of_group(self, key: Formula, kept: frozenset[Formula]) -> Formula:
        """A key that the other ones fix, over their groups: a total of its partition, if this is the whole group."""
        own = frozenset(self.block.instances())
        is_whole = own == {key.args[0]} and all(is_on_keys(one, kept, own) for one in self.block.conditions)
        total = total_of_partition(self.store, key, kept) if is_whole else None
        return total if total is not None else self.store.make("aggregate", "anyvalue", "this", key)

    def _share_filter(self) -> None:
        """A filter of all aggregates of a total is one of its rows."""
        conditions, change = shared_filter(self.store, self._flat)
        if conditions:
            self.block.conditions += conditions
            self.lists = {name: [*map(change, values)] for name, values in self.lists.items()}

    def _leave_out_null_filters(self) -> None:
        """A filter that leaves out what no aggregate of a total takes says nothing."""
        if self.block.outer_joins:
            return
        conditions = normalize_filter(self.store, self.block.conditions)
        conditions, change = without_null_filters(self.store, conditions, self._flat)
        self.block = replace(self.block, conditions=conditions)
        self.lists = {name: [*map(change, values)] for name, values in self.lists.items()}

    def _normalize_joins(self, keys: Sequence[Formula]) -> list[Formula]:
        """Before conditions are lifted: a condition may make an outer join an inner one. Returns the keys."""
        flat = [*keys, *self._flat]
        block = normalize_joins(self.store, self.block, flat, close_block)
        block, found = open_sources(self.store, block, flat, MOST_SOURCES)
        block = replace(block, conditions=known_values(self.store, [], block.conditions, block.sources))
        self.block = anti_joins(self.store, block, close_block)
        return self._take_values(len(keys), found)

    def _open_groups(self, keys: list[Formula]) -> list[Formula]:
        """Without aggregates, groups of groups are groups of their rows. Returns the keys over these."""
        flat = [*keys, *self._flat]
        if any(counts_repetition(one) for value in flat for one in repeating_aggregates(value)):
            return keys
        block, found = without_groups(self.store, without_semi_joins(self.store, self.block), flat)
        self.block, found = without_joined_groups(self.store, block, found, close_block)
        return self._take_values(len(keys), found)

    def _is_without_repetitions(self, keys: list[Formula]) -> bool:
        """Whether the groups are rows that a join repeats at most, which they become then."""
        flat = [value for name, values in self.lists.items() if name != "keys" for value in values]
        used = [join for join in self.block.outer_joins if self._is_used(join, keys)]
        is_plain = not any(value.has_aggregate for value in (*keys, *flat))
        block = replace(self.block, outer_joins=used)
        found = without_repetitions(self.store, block, keys, flat, close_block) if is_plain else None
        if found is None:
            return False
        self.block = found
        del self.lists["keys"]
        return True

    def simplify_aggregates(self, keys: list[Formula]) -> None:
        change = simplified(self.store, self.block, keys, self._known(), self._value_of_group)
        self.lists = {name: [*map(change, values)] for name, values in self.lists.items()}

    def _lift_conditions(self, keys: frozenset[Formula]) -> None:
        """Take conditions on keys alone out of WHERE: after grouping they choose among groups, as HAVING does.

        So do those on one source of which the keys fix a row, whether or not these conditions hold.
        """
        sources, own = frozenset(self.block.sources), frozenset(self.block.instances())
        plain = frozenset(key for key in keys if instances_of(key) <= sources)
        lifted = [one for one in self.block.conditions if not one.has_window and is_on_keys(one, plain, own)]
        rest = [one for one in self.block.conditions if one not in lifted]
        joining = [one for one in rest if len(instances_of(one)) > 1]
        fixed = FixedValues(self.store, replace(self.block, conditions=joining), [*keys])
        tables = frozenset(one for one in sources if rows_of(one).op != "group")
        lifted += [one for one in rest if one not in joining and instances_of(one) <= tables and fixed.is_value(one)]
        self.lists["lifted"] = lifted
        rest = [one for one in rest if one not in lifted]
        self.block = Block(self.block.sources, self.block.outer_joins, rest)

    def _lift_existence(self, keys: Sequence[Formula]) -> None:
        """Take EXISTS for the keys alone out of WHERE, too. A join looks for different rows as they are, with it."""
        flat = [*keys, *self._flat]
        if not any(value.has_aggregate for value in flat):
            return
        block = replace(self.block, conditions=normalize_filter(self.store, self.block.conditions))
        self.block = semi_joins(self.store, block, flat, close_block)
        own = frozenset(self.block.instances())
        found = [one for one in self.block.conditions if is_existence_by_keys(one, frozenset(keys), own)]
        if found:
            self.lists |= {"existence": found, "places": [*keys]}
            self.block = replace(self.block, conditions=[one for one in self.block.conditions if one not in found])

    def distinct(self) -> None:
        """Complete rows without repetition, after all window functions."""
        values = self.lists["values"]
        if self.is_distinct:
            return
        make = self.store.make
        if any(value.has_window for value in values):
            self.lift_partition_filters()
            self.complete()
            self.filter("lifted")
        self.lists["keys"] = needed_keys(self.lists["values"])
        self.group(lambda inside, lists: make("group", inside, make("set", *lists["keys"])), self.lists["keys"])
        self.lists.pop("keys", None)

    def lift_partition_filters(self) -> None:
        """Take conditions on the partitions of all windows out: they choose among partitions, before or after."""
        self.block, self.lists["lifted"] = without_partition_filters(self.store, self.block, self._flat)

    def keep_first(self) -> None:
        """Complete rows of which the first of each group of `distinct_on` is left, after all window functions."""
        if any(value.has_window for value in self.lists["values"]):
            self.complete()
        keys = self.lists["distinct_on"]
        if is_unique(self.store, replace(self.block, conditions=[*self._known().conditions]), keys):
            return
        order = first_order(self.store, keys, self.lists.get("order") or self.lists["inherited"])

        def first(value: Formula) -> Formula:
            if value.op == "ordered":
                return self.store.rebuild(value, first)
            return first_value(self.store, value, keys, order)

        self.lists = {name: [*map(first, values)] for name, values in self.lists.items()}
        self._lift_conditions(frozenset(self.lists["distinct_on"]))
        self.wrap(lambda inside, lists: self.store.make("group", inside, self.store.make("set", *lists["distinct_on"])))
        self.block.conditions += self.lists.pop("lifted", ())

    def _is_used(self, join: OuterJoin, keys: list[Formula]) -> bool:
        """Whether a join decides on the groups or on their columns, beside aggregates."""
        others = [one for one in self.block.outer_joins if one is not join]
        null = self.store.make("null")
        columns = change_aggregates(self.store, lambda _: null)
        readers = [*keys, *map(columns, self._flat), *self.block.conditions, *(on for one in others for on in one.on)]
        read = {one for reader in readers for one in instances_of(reader)}
        return join.kind != "left" or not read.isdisjoint(join.right.instances())

    def _bind_aggregates(self) -> None:
        """Write aggregates as values of all rows that they read."""
        values = [value for one in self.lists.values() for value in one]
        found = list(dict.fromkeys(part for value in values for part in aggregates_of(value)))
        inside, closed = close_block(self.store, self.block, found)
        bound = {
            part: self.store.make("aggregate", "over", one, inside) for part, one in zip(found, closed, strict=True)
        }

        def bind(value: Formula) -> Formula:
            if value.op in BINDERS or not (value.has_aggregate or value.has_window):
                return value
            return bound[value] if value in bound else self.store.rebuild(value, bind)

        self.lists = {name: [bind(value) for value in one] for name, one in self.lists.items()}

    def _bound(self, keys: Sequence[Formula], aggregates: Sequence[Formula]) -> list[Formula]:
        """Aggregates by these keys as values of the rows that there are now."""
        inside, closed = close_block(self.store, self.block, [*keys, *aggregates])
        grouping = self.store.make("set", *closed[: len(keys)])
        return [self.store.make("aggregate", "over", one, inside, grouping) for one in closed[len(keys) :]]

    def complete(self) -> None:
        """Complete the rows so far for conditions on window functions. Joins that these do not read come after them."""
        self._join_rows_of_keys([])
        block, found = windows_before_lookups(self.store, self.block, self._flat, close_block, keeps_rows)
        if block is self.block:
            self.wrap(lambda inside, _: inside)
            return
        self.block = block
        self._take_values(0, found)

    def wrap(self, make_rows: Wrap, windows: bool = False) -> None:
        """Complete the rows so far, and read them as one source."""
        self._join_rows_of_keys([])
        flat = self._flat
        inside, closed = close_block(self.store, self.block, flat, in_values=False)
        rest = iter(closed)
        lists = {name: [next(rest) for _ in values] for name, values in self.lists.items()}
        instance = self.store.instance(make_rows(inside, lists))
        outside = OuterValues(self.store, instance, flat)
        self.block, push = Block([instance]), self.store.push
        self.lists = {
            name: [outside.change(push(value, instance, windows=windows)) for value in values]
            for name, values in lists.items()
        }
