"""Columns and their sources: what a value flows from, what decides it, and what is not known of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

IDENTITY, TRANSFORMATION, AGGREGATION = "IDENTITY", "TRANSFORMATION", "AGGREGATION"
FILTER, JOIN, GROUP_BY, SORT, WINDOW, CONDITIONAL = "FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL"
"""The subtypes of OpenLineage's transformations, DIRECT and INDIRECT."""

NO_SOURCE, OPAQUE_FUNCTION = "no_source", "opaque_function"
LEFT_THE_ENGINE, NOT_CAPTURED = "left_the_engine", "not_captured"
"""Why a column has no sources, or more than it needs: it has none; a function hides which of its arguments it uses;
its values were in Python or in an RDD; the plan has a part that is not understood."""

_STRENGTH = {IDENTITY: 0, TRANSFORMATION: 1, AGGREGATION: 2}


class Dataset(NamedTuple):
    """A dataset by its OpenLineage name."""

    namespace: str
    name: str


class Source(NamedTuple):
    """A column of a dataset; nested ones with dots."""

    dataset: Dataset
    field: str


class Edge(NamedTuple):
    """A source, and how it takes part: the subtype of the transformation, and whether it hides the value. `how`: the
    functions on its way, around `{}` for the source, or UNREAD; empty: there is none, or none was read.
    """

    source: Source
    subtype: str
    masking: bool = False
    how: str = ""


Edges = frozenset[Edge]
_NONE: Edges = frozenset()
UNREAD = "\N{HORIZONTAL ELLIPSIS}"
"""A step on the way of a value of which a capture does not know what it does."""
SAME = "{}"
"""A step that leaves the value as it is."""
_MOST_WAYS, _LONGEST_WAY = 4, 200
"""The most expressions that are kept for one source of a value, and the most characters of each."""
_NO_REASONS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Column:
    """The sources of a value.

    `direct` are the sources that flow into it, `indirect` those that decide it. `reasons` explain unknown sources.
    `fields` are the fields of a struct, where they are known apart. `type` is Spark's type of an attribute.
    """

    direct: Edges = _NONE
    indirect: Edges = _NONE
    reasons: frozenset[str] = _NO_REASONS
    fields: Mapping[str, Column] = field(default_factory=dict)
    type: object = None

    @property
    def influences(self) -> frozenset[Source]:
        """All its sources, of both kinds."""
        return frozenset(edge.source for edge in (*self.direct, *self.indirect))


EMPTY = Column()
NUMBERS = {number: Column(type=("number", number)) for number in ("0", "1", str((1 << 31) - 1))}
"""Literals that a function may be read by. They are no values of anybody."""
_WITHOUT_SOURCES = frozenset(map(id, (EMPTY, *NUMBERS.values())))


def unknown(reason: str) -> Column:
    """A column without sources, and why."""
    return Column(reasons=frozenset((reason,)))


def read_column(dataset: Dataset, name: str, type_: object = None) -> Column:
    """A column as it is read from a dataset."""
    return Column(direct=frozenset((Edge(Source(dataset, name), IDENTITY),)), type=type_)


def merge(columns: Iterable[Column]) -> Column:
    """The sources of several columns together, unchanged, as in a union."""
    found = [one for one in columns if id(one) not in _WITHOUT_SOURCES]
    if not found:
        return EMPTY
    first = found[0]
    if all(one is first for one in found):
        return first
    shared = set(first.fields).intersection(*(one.fields for one in found))
    return Column(
        _bound_ways(_NONE.union(*(one.direct for one in found))),
        _NONE.union(*(one.indirect for one in found)),
        _NO_REASONS.union(*(one.reasons for one in found)),
        {name: merge(one.fields[name] for one in found) for name in first.fields if name in shared},
        first.type if all(one.type == first.type for one in found) else None,
    )


def transform(
    columns: Iterable[Column], subtype: str = TRANSFORMATION, *, masking: bool = False, step: str = UNREAD
) -> Column:
    """A value computed from columns. Along a chain the stronger subtype stays: AGGREGATION over TRANSFORMATION. `step`:
    what is done, around `{}` for the value.
    """
    merged = merge(columns)
    strength = _STRENGTH[subtype]
    direct = frozenset(
        Edge(
            edge.source,
            edge.subtype if _STRENGTH[edge.subtype] > strength else subtype,
            edge.masking or masking,
            _add_step(edge, step),
        )
        for edge in merged.direct
    )
    return Column(_bound_ways(direct), merged.indirect, merged.reasons)


def call(columns: Iterable[Column], steps: Iterable[str], *, masking: bool = False) -> Column:
    """The result of a function of columns, with what it does with each of them."""
    return merge(transform((one,), masking=masking, step=step) for one, step in zip(columns, steps))


def _add_step(edge: Edge, step: str) -> str:
    is_unread = UNREAD in (step, edge.how) or (not edge.how and edge.subtype != IDENTITY)
    if is_unread or len(edge.how) + len(step) > _LONGEST_WAY:
        return UNREAD
    return edge.how if step == SAME else step.replace(SAME, edge.how or SAME)


def _bound_ways(direct: Edges) -> Edges:
    """Edges with at most `_MOST_WAYS` expressions for a source; those of a source with more (loops) are unread."""
    if len(direct) <= _MOST_WAYS:
        return direct
    counts = Counter(edge.source for edge in direct)
    if max(counts.values()) <= _MOST_WAYS:
        return direct
    return frozenset(
        edge._replace(how=UNREAD) if edge.how and counts[edge.source] > _MOST_WAYS else edge for edge in direct
    )


def decide(column: Column, deciding: Iterable[Column], subtype: str) -> Column:
    """The same value, decided by other columns. What is not known of those is not known of it."""
    others = tuple(deciding)
    edges, reasons = influence(others, subtype), frozenset().union(*(one.reasons for one in others))
    if not edges and not reasons:
        return column
    return Column(column.direct, column.indirect | edges, column.reasons | reasons, column.fields, column.type)


def influence(columns: Iterable[Column], subtype: str) -> Edges:
    """What columns contribute as conditions or keys: their values under `subtype`, their own conditions as they are."""
    found: set[Edge] = set()
    for column in columns:
        found.update(Edge(edge.source, subtype) for edge in column.direct)
        found.update(column.indirect)
    return frozenset(found)


def add_reason(column: Column, reason: str) -> Column:
    """The same column, with one more reason."""
    return Column(column.direct, column.indirect, column.reasons | {reason}, column.fields, column.type)


def get_field(column: Column, name: str) -> Column:
    """A field of a struct: apart where it is known so, or else a part of the whole struct.

    A struct that is read is one column of its dataset: lineage ends would not meet if its fields were sources.
    """
    return column.fields[name] if name in column.fields else transform((column,))
