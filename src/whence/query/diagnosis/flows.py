"""How what is wrong with one dataset comes to the next: with its values, or with the rows that there are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.model.names import DatasetName, FieldName, Node

End = tuple[DatasetName, str]
"""A column of a dataset; an empty one is all of them."""

_OF_ROWS = frozenset({"FILTER", "SORT", "GROUP_BY"})
"""Influences that decide which rows there are, and nothing else. A join or a condition decides values as well."""


@dataclass(frozen=True, slots=True)
class Link:
    """What one column (empty: all of them) gets of another. `has_values`: its values; `has_rows`: its rows."""

    source: DatasetName
    source_column: str
    target: DatasetName
    target_column: str
    has_values: bool
    has_rows: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """Of each dataset the links that lead to it, and the datasets that its values, and that its rows come from."""

    links: Mapping[DatasetName, Sequence[Link]]
    value_parents: Mapping[DatasetName, frozenset[DatasetName]]
    row_parents: Mapping[DatasetName, frozenset[DatasetName]]

    def value_columns(self, root: DatasetName, column: str) -> Mapping[DatasetName, tuple[str, ...] | None]:
        """The columns that lead by values alone to a column, or to a whole dataset (an empty column); None: all."""
        reached, layer = set[End](), {(root, column)}
        while layer:
            reached |= layer
            layer = {
                (one.source, one.source_column) for name, at in layer for one in self._values_into(name, at)
            } - reached
        found: dict[DatasetName, set[str]] = {}
        for name, each in reached:
            found.setdefault(name, set()).add(each)
        return {name: None if "" in several else tuple(sorted(several)) for name, several in found.items()}

    def _values_into(self, name: DatasetName, column: str) -> Iterator[Link]:
        for one in self.links.get(name, ()):
            if one.has_values and (not column or not one.target_column or column == one.target_column):
                yield one


def link_of(source: End | None, target: End | None, type_: str, subtype: str) -> Link | None:
    """The link of an edge between two different datasets; None for another edge."""
    if source is None or target is None or source[0] == target[0]:
        return None
    is_indirect = type_ == "INDIRECT"
    has_values = not is_indirect or subtype not in _OF_ROWS
    return Link(*source, *target, has_values=has_values, has_rows=is_indirect or not source[1])


def end_of(node: Node | None) -> End | None:
    """The dataset and the column (empty: all) at an end of an edge; None for a job, or a node that is not known."""
    match node:
        case FieldName(dataset, field):
            return dataset, field
        case DatasetName():
            return node, ""
    return None


def read_flows(links: Iterable[Link]) -> Flows:
    """The flows along links.

    A job that reports no influences may have any: then each parent may decide the rows. A job that reports columns says
    which values it takes: its lineage of whole datasets adds nothing.
    """
    by_target: dict[DatasetName, list[Link]] = {}
    for one in links:
        by_target.setdefault(one.target, []).append(one)
    chosen = {name: [one for one in several if one.source_column] or several for name, several in by_target.items()}
    return Flows(
        links=chosen,
        value_parents={name: _sources(one for one in several if one.has_values) for name, several in chosen.items()},
        row_parents={
            name: _sources(one for one in several if one.has_rows) or _sources(by_target[name])
            for name, several in chosen.items()
        },
    )


def _sources(links: Iterable[Link]) -> frozenset[DatasetName]:
    return frozenset(one.source for one in links)
