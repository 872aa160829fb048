"""Column lineage as a person declares it, resolved against the datasets that the run reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence_client.events.columns import DIRECT, INDIRECT, NO_SOURCE, NOT_CAPTURED, ColumnEdge, column_facets
from whence_client.events.datasets import Column, Dataset
from whence_client.events.facets import Facet
from whence_client.runs.datasets import column_names
from whence_client.runs.expressions import Reference, read_expression


@dataclass(frozen=True)
class Derived:
    """A column made from others by something that is no expression of SQL: `text` describes it."""

    text: str
    columns: tuple[Column, ...]
    subtype: str = "TRANSFORMATION"
    masking: bool = False


def derived(text: str, *columns: Column, aggregates: bool = False, masking: bool = False) -> Derived:
    """Declare that a column is made from `columns`, in a way that `text` describes."""
    return Derived(text, columns, "AGGREGATION" if aggregates else "TRANSFORMATION", masking)


@dataclass(frozen=True)
class Declaration:
    """What was declared for one output: its facets, and what could not be resolved, by column."""

    facets: Mapping[str, Facet]
    problems: Mapping[str, str]


def declare_columns(columns: Mapping[str, Any], rows: Mapping[str, Any], inputs: Iterable[Dataset]) -> Declaration:
    """The facets of an output. `columns`: how each is made; `rows`: what decides on the rows, by INDIRECT subtype.

    A value is a Column, an expression, a Derived, a list of these, or None for a column without a source.
    """
    scope = _Scope(tuple(inputs))
    edges: list[ColumnEdge] = []
    unexplained: dict[str, str] = {}
    for target, value in columns.items():
        found = list(scope.edges(target, value))
        edges += found
        if not found:
            unexplained[target] = NOT_CAPTURED if target in scope.problems else NO_SOURCE
    for subtype, value in rows.items():
        for edge in scope.edges(None, value):
            edges.append(ColumnEdge(edge.source, None, INDIRECT, subtype, edge.description or edge.source.field))
    return Declaration(column_facets(edges, method="declared", unexplained=unexplained), scope.problems)


class _Scope:
    """The datasets to which names in expressions refer."""

    def __init__(self, inputs: tuple[Dataset, ...]) -> None:
        self._inputs = inputs
        self.problems: dict[str, str] = {}

    def edges(self, target: str | None, value: Any) -> Iterator[ColumnEdge]:
        """The edges into a column, or into all rows, by its declaration."""
        if isinstance(value, Column):
            yield ColumnEdge(value, target, DIRECT, "IDENTITY")
        elif isinstance(value, Derived):
            for column in value.columns:
                yield ColumnEdge(column, target, DIRECT, value.subtype, value.text, value.masking)
        elif isinstance(value, str):
            yield from self._of_expression(target, value)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for one in value:
                for edge in self.edges(target, one):
                    subtype = "TRANSFORMATION" if edge.subtype == "IDENTITY" and len(value) > 1 else edge.subtype
                    yield ColumnEdge(edge.source, target, edge.type, subtype, edge.description, edge.masking)
        elif value is not None:
            self._note(target, f"{type(value).__name__} declares no lineage")

    def _of_expression(self, target: str | None, text: str) -> Iterator[ColumnEdge]:
        for reference in read_expression(text):
            column = self._resolve(reference)
            if column is None:
                name = f"{reference.qualifier}.{reference.name}".lstrip(".")
                self._note(target, f"{name} is no column of one dataset that the run reads ({text})")
                continue
            description = "" if reference.subtype == "IDENTITY" else text
            yield ColumnEdge(column, target, reference.type, reference.subtype, description, reference.masking)

    def _resolve(self, reference: Reference) -> Column | None:
        if reference.qualifier:
            found = [one for one in self._inputs if _is_named(one, reference.qualifier)]
            if not found:  # the head may be a struct: address.city
                head, _, rest = reference.qualifier.partition(".")
                inner = ".".join(part for part in (rest, reference.name) if part)
                struct = [one for one in self._inputs if head in column_names(one)]
                return struct[0][f"{head}.{inner}"] if len(struct) == 1 else None
        else:
            found = [one for one in self._inputs if reference.name in column_names(one)]
            found = found or [one for one in self._inputs if not one.schema_fields]
        return found[0][reference.name] if len(found) == 1 else None

    def _note(self, target: str | None, problem: str) -> None:
        self.problems[target or "*"] = problem


def _is_named(dataset: Dataset, qualifier: str) -> bool:
    """Whether a qualifier is the end of a dataset's name: `orders` and `silver.orders` for `lake/silver/orders.csv`."""
    name = re.sub(r"\.(csv|parquet|json|orc|avro|xlsx?|feather)$", "", dataset.name)
    parts = [part.lower() for part in re.split(r"[./\\]", name) if part]
    wanted = qualifier.lower().split(".")
    return parts[-len(wanted) :] == wanted
