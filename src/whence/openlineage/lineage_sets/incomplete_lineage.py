"""Columns and whole outputs of which a producer itself reports that it does not know all sources."""

from collections.abc import Iterable, Iterator, Mapping

from whence.model.lineage import Edge, Level, LineageSet, Origin
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.lineage_sets.sets import make_lineage_set
from whence.openlineage.lineage_sets.unreported_columns import Output


def find_incomplete_sets(
    job: JobName, outputs: Mapping[DatasetName, Output], *, is_partial: bool
) -> Iterator[LineageSet]:
    """The incomplete lineage of an event's outputs (state.md, "Incomplete lineage").

    `is_partial`: the event reports that its lineage is incomplete.
    """
    for name, output in outputs.items():
        yield from incomplete_columns_set(job, name, output.incomplete)
        if is_partial:
            yield make_lineage_set(name, Level.DATASET, Origin.INCOMPLETE, [Edge(source=job, target=name)])


def incomplete_columns_set(
    owner: JobName | DatasetName, output: DatasetName, columns: Iterable[str]
) -> Iterator[LineageSet]:
    """The set of an output's incomplete columns; none if there are none."""
    edges = [Edge(source=owner, target=FieldName(output, column)) for column in columns]
    if edges:
        yield make_lineage_set(output, Level.FIELD, Origin.INCOMPLETE, edges)
