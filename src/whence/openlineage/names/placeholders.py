"""Placeholders like `_0`, which openlineage-sql gives to expressions without an alias. They are not columns (state.md,
"Details of reading", *Placeholders*).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from whence.model.events import Dataset
from whence.model.lineage import Edge
from whence.model.names import FieldName

_PLACEHOLDER = re.compile(r"_[0-9]+")


def fold_placeholders(output: Dataset) -> Dataset:
    """Replace the lineage of placeholders by lineage between datasets: it is unknown which column they are."""
    placeholders = {
        column for column in output.reported_columns if column[:1] == "_" and _PLACEHOLDER.fullmatch(column)
    }
    placeholders -= {field.name for field in output.fields}
    if not placeholders or not output.fields:
        return output
    reported = tuple(column for column in output.reported_columns if column not in placeholders)
    return replace(output, reported_columns=reported, edges=tuple(dict.fromkeys(_fold_edges(output, placeholders))))


def _fold_edges(output: Dataset, placeholders: set[str]) -> Iterator[Edge]:
    for edge in output.edges:
        target = edge.target
        if isinstance(target, FieldName) and target.field in placeholders:
            source = edge.source.dataset if isinstance(edge.source, FieldName) else edge.source
            yield Edge(source=source, target=output.name, type=edge.type)
        else:
            yield edge
