"""Values that the grouping keys fix: each row of a group has the same one."""

from collections.abc import Callable, Mapping, Sequence

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.keys import keys_of_filter, partition_of, tells_zeros_apart, total_of, unique_keys
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known
from whence.capture.sql.fingerprint.normal_forms.conditions.known_columns import KnownColumns
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import reopen
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS, is_exact_type, is_whole_type, type_of
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas

_ONE_OF: frozenset[str] = frozenset({"min", "max", "anyvalue"})
MOST_BRANCHES: int = 12
"""Of more branches of a UNION it is not asked whether they have equal rows."""


class FixedValues:
    """The values of a block's rows that its grouping keys fix."""

    def __init__(self, store: Formulas, block: Block, keys: Sequence[Formula], *, reads_sums: bool = False) -> None:
        self.store = store
        self.reads_sums = reads_sums
        self.keys = frozenset(keys)
        self.sources: frozenset[Formula] = frozenset()
        if keys:
            self._find_sources(block)

    def _find_sources(self, block: Block) -> None:
        """The sources of which a group has one row, or none: their whole key is fixed."""
        inner = [(one, block.conditions, False) for one in block.sources]
        outer = [
            (join.right.sources[0], join.on, True)
            for join in block.outer_joins
            if join.kind == "left" and join.right.is_plain
        ]
        found = True
        while found:
            found = False
            for one, conditions, is_outer in (*inner, *outer):
                if one not in self.sources and self._has_one_row(one, conditions, is_outer):
                    self.sources |= {one}
                    found = True

    def _has_one_row(self, source: Formula, conditions: Sequence[Formula], is_outer: bool) -> bool:
        """Whether the keys fix a row of a source. `is_outer`: whether it is there depends on all conditions."""
        if rows_of(source).is_open or rows_of(source).is_volatile:
            return False
        if rows_of(source).op == "union_all" and not is_outer:
            return self._has_one_row_of_union(source)
        if is_outer and self._is_own_key(source):
            return True
        known = FixedValues(self.store, Block(), ())
        known.keys, known.sources = self.keys, self.sources | {source}
        if is_outer and not all(map(known.are_all_of, conditions)):
            return False
        return any(
            key.columns
            and all(
                self._is_given(self.store.push(one, source), source, conditions, key.is_complete)
                or (self.reads_sums and not is_outer and self._is_term(self.store.push(one, source), conditions))
                for one in key.columns
            )
            for key in (*unique_keys(rows_of(source)), *keys_of_filter(conditions, source))
        )

    def _is_own_key(self, source: Formula) -> bool:
        """Whether a whole key of a joined source is among the keys, which is NULL only where the row is missing."""
        rows, known = rows_of(source), KnownColumns()
        return any(
            key.columns
            and all(
                self.store.make("of", source, one) in self.keys and known.is_known(rows, one) for one in key.columns
            )
            for key in unique_keys(rows)
        )

    def _has_one_row_of_union(self, source: Formula) -> bool:
        """Whether the keys fix a row of a UNION ALL: a row of each branch, and a literal the branch."""
        pairs = (formulas_of(key) for key in self.keys if key.op == "of")
        columns = [inside for instance, inside in pairs if instance is source and inside.op == "union_column"]
        branches = formulas_of(formulas_of(rows_of(source))[0])
        width = len(branches)
        return all(len(one.args) == width for one in columns) and have_no_equal_rows(
            self.store, [(rows, [formulas_of(one)[place] for one in columns]) for place, rows in enumerate(branches)]
        )

    def _is_given(self, column: Formula, source: Formula, conditions: Sequence[Formula], is_complete: bool) -> bool:
        """Whether the keys fix a column of a key; rows with NULL in one that is not complete may be repeated."""
        if column in self.keys and (is_complete or is_known(conditions, column)):
            return True
        for condition in conditions:
            if condition.op == "eq" and column in condition.args:
                rest = [arg for arg in condition.args if isinstance(arg, Formula) and arg is not column]
                if len(rest) == 1 and source not in instances_of(rest[0]) and self.are_all_of(rest[0]):
                    return True
        return False

    def _is_term(self, column: Formula, conditions: Sequence[Formula]) -> bool:
        """Whether the keys fix a column as a term of a sum."""
        return any(self._is_term_of(column, key, conditions) for key in self.keys if key.op == "add")

    def _is_term_of(self, column: Formula, key: Formula, conditions: Sequence[Formula]) -> bool:
        """Whether a key is the sum of a column, or of the number of its month, and of what is fixed and never NULL: an
        exact one.
        """
        terms = [column]
        month = column.parts[0] if column.op == "cast" and type_of(column) == "date" else column
        if month.op == "date_trunc" and month.args[0] == "month":
            make, (moment, *_) = self.store.make, month.parts
            years = make("mul", make("number", "12"), make("extract", "year", moment))
            terms = [years, make("extract", "month", moment)]
        rest = [part for part in key.parts if part not in terms]
        is_sum = len(rest) + len(terms) == len(key.parts) and is_exact_type(type_of(key))
        return is_sum and all(self.are_all_of(part) and _is_known_term(conditions, part) for part in rest)

    def are_all_of(self, value: Formula) -> bool:
        """Whether all that a value reads is fixed."""
        if value in self.keys or not value.is_open:
            return not value.is_volatile
        if value.is_volatile or value.has_window or value.has_aggregate:
            return False
        parts = [*value.parts]
        if value.op == "of":
            return parts[0] in self.sources or self._is_of_partition(*parts)
        return value.op not in BINDERS and value.op != "inst" and all(map(self.are_all_of, parts))

    def _is_one(self, value: Formula) -> bool:
        """Whether all rows of a group have the same value, also where keys are the two floating-point zeros."""
        return self.are_all_of(value) and not any(tells_zeros_apart(value, key) for key in self.keys)

    def _is_of_partition(self, source: Formula, inside: Formula) -> bool:
        """Whether a column is a window function of a partition whose keys are fixed."""
        partition = partition_of(inside)
        return partition is not None and all(self.store.push(one, source) in self.keys for one in partition)

    def simplify(self, aggregate: Formula) -> Formula:
        """The least, the greatest or any of equal values as their value."""
        match aggregate.args:
            case (str() as name, "this", Formula() as value) if name in _ONE_OF and self._is_one(value):
                is_column = self._is_of_rows(value)
                return value if is_column else self.store.make("aggregate", "anyvalue", "this", value)
        return aggregate

    def is_value(self, value: Formula) -> bool:
        """Whether all rows of a group have the same value, by the rows of their sources: a column of the group."""
        return self._is_one(value) and self._is_of_rows(value)

    def _is_of_rows(self, value: Formula) -> bool:
        if value in self.keys or not value.is_open:
            return True
        return value.parts[0] in self.sources if value.op == "of" else all(map(self._is_of_rows, value.parts))


def _is_known_term(conditions: Sequence[Formula], term: Formula) -> bool:
    if term.op in ("neg", "mul", "extract"):
        return all(_is_known_term(conditions, part) for part in formulas_of(term))
    return is_known(conditions, term)


def is_unique(store: Formulas, block: Block, columns: Sequence[Formula], *, reads_sums: bool = False) -> bool:
    """Whether no two rows of a block share the values of these columns: they fix one row of each of its sources.

    `reads_sums`: also by what is a term of a sum that is one of them.
    """
    if not columns or any(join.kind != "left" or not join.right.is_plain for join in block.outer_joins):
        return False
    joined = (join.right.sources[0] for join in block.outer_joins)
    return bool(block.sources) and FixedValues(store, block, columns, reads_sums=reads_sums).sources.issuperset(
        (*block.sources, *joined)
    )


def have_no_equal_rows(store: Formulas, branches: Sequence[tuple[Formula, Sequence[Formula]]]) -> bool:
    """Whether no two rows of several queries have equal values: not in one of them, and a column tells them apart.

    Each has rows and values over them. Only columns of one type count, since a UNION changes none of their values.
    """
    rows = [one for one, _ in branches]
    columns = [one for one in zip(*(values for _, values in branches), strict=False) if _is_of_one_type(one, rows)]
    if len(branches) > MOST_BRANCHES or not any(map(_are_different, columns)):
        return False
    opened = [reopen(store, one, values) for one, values in zip(rows, zip(*columns, strict=True), strict=True)]
    if any(rows_of(source).op == "union_all" for block, _ in opened for source in block.sources):
        return False  # branches of branches would be asked again and again
    return all(is_unique(store, *one) for one in opened)


def _are_different(column: Sequence[Formula]) -> bool:
    """Whether values are different literals: whole numbers, or texts that are compared character by character."""
    kinds = {one.op for one in column}
    if kinds == {"number"}:
        return len({integer_of(one) for one in column} - {None}) == len(column)
    is_exact = kinds == {"string"} and column[0].store.dialect in EXACT_TEXTS
    return is_exact and len({str(one.args[0]).rstrip() for one in column}) == len(column)


def _is_of_one_type(column: Sequence[Formula], rows: Sequence[Formula]) -> bool:
    kinds = {type_of(one, of) for one, of in zip(column, rows, strict=True)}
    return "" not in kinds and (len(kinds) == 1 or all(map(is_whole_type, kinds)))


def without_determined_keys(store: Formulas, block: Block, keys: Sequence[Formula]) -> list[Formula]:
    """The keys without those that other ones fix. Of two that fix each other, a column of a declared key is left."""
    kept = list(keys)
    for key in sorted(keys, key=_rank):
        others = [one for one in kept if one is not key]
        if others and FixedValues(store, block, others).is_value(key):
            kept = others
    return kept


def _rank(key: Formula) -> tuple[bool, bytes]:
    if key.op != "of":
        return False, b""
    instance, inside = formulas_of(key)
    is_of_key = any(inside in one.columns for one in unique_keys(rows_of(instance)))
    return is_of_key, inside.digest


def needless_keys(store: Formulas, keys: Sequence[Formula]) -> list[Formula]:
    """The keys that are made of window functions of a partition that the other keys fix."""
    windows = [key for key in keys if window_columns(key)]
    fixed = FixedValues(store, Block(), ())
    fixed.keys = frozenset(keys) - frozenset(windows)
    return [key for key in windows if fixed.are_all_of(key)]


def window_columns(key: Formula) -> frozenset[Formula]:
    """The columns that a key reads, if they are all window functions; none for another key."""
    parts = formulas_of(key)
    if key.op == "of":
        return frozenset({key}) if parts[1].op == "window" else frozenset()
    found = [window_columns(part) for part in parts if part.is_open]
    return frozenset().union(*found) if all(found) else frozenset()


def total_of_partition(store: Formulas, key: Formula, keys: frozenset[Formula]) -> Formula | None:
    """The aggregate that a window function computes over a partition by just these keys; None for another one."""
    source, window = key.parts
    partition, total = partition_of(window), total_of(window)
    if partition is None or total is None or {store.push(one, source) for one in partition} != keys:
        return None
    return store.rebuild(total, lambda part: store.push(part, source))


def any_of(store: Formulas, gone: Mapping[Formula, Formula]) -> Callable[[Formula], Formula]:
    """What becomes of values over groups if some keys are a value of their group instead."""
    memo: dict[Formula, Formula] = {}

    def visit(value: Formula) -> Formula:
        if value in gone:
            return gone[value]
        if not value.is_open or value.op == "aggregate" or value.op in BINDERS:
            return value
        if value not in memo:
            memo[value] = store.rebuild(value, visit)
        return memo[value]

    return visit
