"""Column lineage of ibis expressions: a walk over the typed graph of their operations.

Operations are recognised by the names of their classes, so that ibis itself is not imported. A relation or value
without a rule is announced, or takes all of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, unknown_frame
from whence_client.lineage.columns import (
    AGGREGATION,
    CONDITIONAL,
    EMPTY,
    FILTER,
    GROUP_BY,
    JOIN,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    SORT,
    WINDOW,
    Column,
    add_reason,
    decide,
    get_field,
    merge,
    transform,
)
from whence_client.lineage.rows import NO_ROWS, Rows, rows_by

ReadTable = Callable[[Any], "FrameLineage | None"]
"""The lineage of a table that no expression made: of a database, a file, or in memory. None if it is not known."""


class Expressions:
    """The relations and values of one expression, each read once."""

    def __init__(self, read_table: ReadTable) -> None:
        self._read_table = read_table
        self._relations: dict[int, FrameLineage] = {}
        self._values: dict[int, Column] = {}

    def read_relation(self, node: Any) -> FrameLineage:
        """The lineage of a relation's columns, in their order, and of its rows."""
        found = self._relations.get(id(node))
        if found is None:
            rule = _find_rule(node, _RELATIONS)
            made = rule(node, self) if rule else self._read_other(node)
            names = list(node.schema.names)
            known = {name: made.columns.get(name) or _LOST.columns[""] for name in names}
            found = self._relations[id(node)] = FrameLineage(known, made.rows, made.inputs)
        return found

    def read_value(self, node: Any) -> Column:
        """The sources of a value."""
        found = self._values.get(id(node))
        if found is None:
            rule = _find_rule(node, _VALUES)
            found = self._values[id(node)] = rule(node, self) if rule else transform(self.read_values(arguments(node)))
        return found

    def read_values(self, nodes: Iterable[Any]) -> list[Column]:
        """The sources of several values."""
        return [self.read_value(one) for one in nodes]

    def _read_other(self, node: Any) -> FrameLineage:
        """A table, or a relation without a rule."""
        found = self._read_table(node)
        if found is not None:
            return found
        parents = [self.read_relation(one) for one in _relations_of(node)]
        lost = unknown_frame(node.schema.names, NOT_CAPTURED)
        return FrameLineage(lost.columns, lost.rows | join_rows(parents), join_inputs(parents))


def is_relation(node: Any) -> bool:
    """Whether an operation is a relation."""
    return any(one.__name__ == "Relation" for one in type(node).__mro__)


def arguments(node: Any) -> Iterator[Any]:
    """The values among the arguments of an operation, in tuples too. Relations are no values."""
    for one in node.__args__:
        yield from _values_in(one)


def _values_in(argument: Any) -> Iterator[Any]:
    if isinstance(argument, tuple):
        for one in argument:
            yield from _values_in(one)
    elif isinstance(argument, Mapping):
        for one in argument.values():
            yield from _values_in(one)
    elif _is_value(argument):
        yield argument


def _is_value(node: Any) -> bool:
    return any(one.__name__ == "Value" for one in type(node).__mro__)


def _relations_of(node: Any) -> list[Any]:
    return [one for one in node.__args__ if is_relation(one)]


def _find_rule(node: Any, rules: Mapping[str, Callable[[Any, Expressions], Any]]) -> Callable[..., Any] | None:
    """The rule of the class, or of the nearest class that it inherits from."""
    return next((rules[one.__name__] for one in type(node).__mro__ if one.__name__ in rules), None)


# Relations


def _project(node: Any, read: Expressions) -> FrameLineage:
    parent = read.read_relation(node.parent)
    return FrameLineage({name: read.read_value(one) for name, one in node.values.items()}, parent.rows, parent.inputs)


def _same(node: Any, read: Expressions) -> FrameLineage:
    return read.read_relation(node.parent)


def _filter(node: Any, read: Expressions) -> FrameLineage:
    return read.read_relation(node.parent).with_rows(rows_by(read.read_values(node.predicates), FILTER))


def _sort(node: Any, read: Expressions) -> FrameLineage:
    return read.read_relation(node.parent).with_rows(rows_by(read.read_values(node.keys), SORT))


def _limit(node: Any, read: Expressions) -> FrameLineage:
    return read.read_relation(node.parent).with_rows(rows_by(read.read_values(arguments(node)), FILTER))


def _distinct(node: Any, read: Expressions) -> FrameLineage:
    parent = read.read_relation(node.parent)
    return parent.with_rows(rows_by(parent.columns.values(), GROUP_BY))


def _drop_null(node: Any, read: Expressions) -> FrameLineage:
    parent = read.read_relation(node.parent)
    deciding = parent.columns.values() if node.subset is None else read.read_values(node.subset)
    return parent.with_rows(rows_by(deciding, FILTER))


def _fill_null(node: Any, read: Expressions) -> FrameLineage:
    parent, given = read.read_relation(node.parent), node.replacements
    filled = given.keys() if isinstance(given, Mapping) else parent.columns.keys()
    columns = {name: transform((one,)) if name in filled else one for name, one in parent.columns.items()}
    return FrameLineage(columns, parent.rows, parent.inputs)


def _join(node: Any, read: Expressions) -> FrameLineage:
    tables = [read.read_relation(node.first), *(read.read_relation(link.table) for link in node.rest)]
    predicates = [read.read_value(one) for link in node.rest for one in link.predicates]
    columns = {name: read.read_value(one) for name, one in node.values.items()}
    return FrameLineage(columns, join_rows(tables) | rows_by(predicates, JOIN), join_inputs(tables))


def _aggregate(node: Any, read: Expressions) -> FrameLineage:
    parent = read.read_relation(node.parent)
    groups = {name: read.read_value(one) for name, one in node.groups.items()}
    metrics = {name: read.read_value(one) for name, one in node.metrics.items()}
    rows = parent.rows | rows_by(groups.values(), GROUP_BY)
    return FrameLineage({**groups, **metrics}, rows, parent.inputs)


def _union(node: Any, read: Expressions) -> FrameLineage:
    both = [read.read_relation(node.left), read.read_relation(node.right)]
    columns = {name: merge(one.columns[name] for one in both) for name in both[0].columns}
    return FrameLineage(columns, join_rows(both) | _rows_of_set(node, columns), join_inputs(both))


def _compare_rows(node: Any, read: Expressions) -> FrameLineage:
    """INTERSECT and EXCEPT: the right relation only decides which rows of the left one stay."""
    left, right = read.read_relation(node.left), read.read_relation(node.right)
    both = join_rows((left, right)) | rows_by((*left.columns.values(), *right.columns.values()), FILTER)
    return FrameLineage(left.columns, both | _rows_of_set(node, left.columns), join_inputs((left, right)))


def _rows_of_set(node: Any, columns: Mapping[str, Column]) -> Rows:
    return rows_by(columns.values(), GROUP_BY) if node.distinct else NO_ROWS


def _unnest(node: Any, read: Expressions) -> FrameLineage:
    parent = read.read_relation(node.parent)
    made = {node.column_name: read.read_value(node.column), **({node.offset: EMPTY} if node.offset else {})}
    return FrameLineage({**parent.columns, **made}, parent.rows, parent.inputs)


def _literal_rows(node: Any, read: Expressions) -> FrameLineage:
    return FrameLineage({name: read.read_value(one) for name, one in node.values.items()})


_RELATIONS: dict[str, Callable[[Any, Expressions], FrameLineage]] = {
    "Project": _project,
    "Filter": _filter,
    "Sort": _sort,
    "Limit": _limit,
    "Distinct": _distinct,
    "DropNull": _drop_null,
    "FillNull": _fill_null,
    "DropColumns": _same,
    "Sample": _same,
    "Reference": _same,
    "AliasedRelation": _same,
    "JoinChain": _join,
    "Aggregate": _aggregate,
    "Union": _union,
    "Intersection": _compare_rows,
    "Difference": _compare_rows,
    "TableUnnest": _unnest,
    "DummyTable": _literal_rows,
}


# Values


def _field(node: Any, read: Expressions) -> Column:
    return read.read_relation(node.rel).columns[node.name]


def _named(node: Any, read: Expressions) -> Column:
    """One value under a name or an order, whose attribute has another name in each release."""
    (value,) = arguments(node)
    return read.read_value(value)


def _nothing(node: Any, read: Expressions) -> Column:
    return EMPTY


def _if(node: Any, read: Expressions) -> Column:
    return decide(
        merge(read.read_values((node.true_expr, node.false_null_expr))), (read.read_value(node.bool_expr),), CONDITIONAL
    )


def _case(node: Any, read: Expressions) -> Column:
    conditions: Sequence[Any] = (*_values_in(getattr(node, "base", None)), *node.cases)
    return decide(merge(read.read_values((*node.results, node.default))), read.read_values(conditions), CONDITIONAL)


def _null_if(node: Any, read: Expressions) -> Column:
    return decide(read.read_value(node.arg), (read.read_value(node.null_if_expr),), CONDITIONAL)


def _reduce(node: Any, read: Expressions) -> Column:
    """An aggregate: its condition and its order decide which values it has."""
    deciding = [node.where] if getattr(node, "where", None) is not None else []
    ordering = list(getattr(node, "order_by", ()) or ())
    aside = {id(one) for one in (*deciding, *ordering)}
    values = read.read_values(one for one in arguments(node) if id(one) not in aside)
    masking = type(node).__name__ in _COUNTS
    made = decide(transform(values, AGGREGATION, masking=masking), read.read_values(deciding), FILTER)
    return decide(made, read.read_values(ordering), SORT)


def _nearest(node: Any, read: Expressions) -> Column:
    """The value of one column where another is least or greatest."""
    made = decide(transform((read.read_value(node.arg),), AGGREGATION), (read.read_value(node.key),), CONDITIONAL)
    return decide(made, read.read_values(_values_in(node.where)), FILTER)


def _window(node: Any, read: Expressions) -> Column:
    return decide(read.read_value(node.func), read.read_values((*node.group_by, *node.order_by)), WINDOW)


def _scalar_query(node: Any, read: Expressions) -> Column:
    inner = read.read_relation(node.rel)
    (only,) = inner.columns.values()
    return _with_rows(only, inner.rows)


def _exists(node: Any, read: Expressions) -> Column:
    return _with_rows(EMPTY, read.read_relation(node.rel).rows)


def _in_query(node: Any, read: Expressions) -> Column:
    return transform((read.read_value(node.needle), _scalar_query(node, read)))


def _with_rows(column: Column, rows: Rows) -> Column:
    return Column(column.direct, column.indirect | rows.edges, column.reasons | rows.reasons, column.fields)


def _function(node: Any, read: Expressions) -> Column:
    """A function of the user's own, which may use any of its arguments."""
    return add_reason(transform(read.read_values(arguments(node))), OPAQUE_FUNCTION)


def _struct(node: Any, read: Expressions) -> Column:
    fields = dict(zip(node.names, read.read_values(node.values)))
    whole = transform(fields.values())
    return Column(whole.direct, whole.indirect, whole.reasons, fields)


def _struct_field(node: Any, read: Expressions) -> Column:
    return get_field(read.read_value(node.arg), node.field)


def _container(node: Any, read: Expressions) -> Column:
    """An array of structs, and the rows that it becomes: the fields stay apart."""
    merged = merge(read.read_values(arguments(node)))
    whole = transform((merged,))
    return Column(whole.direct, whole.indirect, whole.reasons, merged.fields)


def _hash(node: Any, read: Expressions) -> Column:
    return transform(read.read_values(arguments(node)), masking=True)


_COUNTS = frozenset(("Count", "CountDistinct", "ApproxCountDistinct"))

_VALUES: dict[str, Callable[[Any, Expressions], Column]] = {
    "Field": _field,
    "Alias": _named,
    "SortKey": _named,
    "Literal": _nothing,
    "ScalarParameter": _nothing,
    "RowID": _nothing,
    "IfElse": _if,
    "SimpleCase": _case,
    "SearchedCase": _case,
    "NullIf": _null_if,
    "ArgMax": _nearest,
    "ArgMin": _nearest,
    "ScalarUDF": _function,
    "AggUDF": _function,
    "Reduction": _reduce,
    "WindowFunction": _window,
    "ScalarSubquery": _scalar_query,
    "ExistsSubquery": _exists,
    "InSubquery": _in_query,
    "StructColumn": _struct,
    "StructField": _struct_field,
    "Array": _container,
    "Unnest": _container,
    "Hash": _hash,
    "HashBytes": _hash,
    "HexDigest": _hash,
}

_LOST = unknown_frame([""], NOT_CAPTURED)
