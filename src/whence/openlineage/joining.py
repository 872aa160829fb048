"""Column lineage that names its source a little differently from the event's inputs (reference rule 29).

openlineage-spark names each file of a wildcard read where the input is the directory (#4944), and tables without their
database (#1665). dbt-ol names the common table expression of an ephemeral model where the input is the model. Such a
source is read as the input that it must mean, and a warning says so.
"""

from collections.abc import Iterable
from dataclasses import replace

from whence.model.events import Dataset
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.naming import is_path
from whence.openlineage.notes import Notes

EPHEMERAL = "__dbt__cte__"
"""What dbt puts before the name of an ephemeral model, in the SQL of the models that use it."""


def join(outputs: tuple[Dataset, ...], inputs: tuple[Dataset, ...], notes: Notes) -> tuple[Dataset, ...]:
    """The outputs, with sources of their edges that are no inputs replaced by the inputs that they mean, if any."""
    if not inputs or not any(one.edges for one in outputs):
        return outputs
    declared = {one.name for one in (*inputs, *outputs)}
    means = {stranger: found for stranger in _sources(outputs) - declared if (found := _meant(stranger, inputs))}
    for stranger, (meant, reason) in means.items():
        notes.add("/outputs", f"column lineage from {stranger} read as from {meant}: {reason}")
    return tuple([_with_sources(one, means) for one in outputs]) if means else outputs


def _sources(outputs: Iterable[Dataset]) -> set[DatasetName]:
    return {edge.source.dataset for one in outputs for edge in one.edges if type(edge.source) is FieldName}


def _meant(stranger: DatasetName, inputs: Iterable[Dataset]) -> tuple[DatasetName, str] | None:
    near = {one.name for one in inputs if one.name.namespace == stranger.namespace}
    if is_path(stranger.namespace):
        parents = [one for one in near if stranger.name.startswith(f"{one.name.rstrip('/')}/")]
        return (max(parents, key=lambda one: len(one.name)), "its parent path") if parents else None
    *path, last = stranger.name.split(".")
    called = last.removeprefix(EPHEMERAL) if last.startswith(EPHEMERAL) else ".".join((*path, last))
    fuller = [one for one in near if one.name.endswith(f".{called}")]
    return (fuller[0], "its full name") if len(fuller) == 1 else None


def _with_sources(output: Dataset, means: dict[DatasetName, tuple[DatasetName, str]]) -> Dataset:
    return replace(output, edges=tuple([_with_source(edge, means) for edge in output.edges]))


def _with_source(edge: Edge, means: dict[DatasetName, tuple[DatasetName, str]]) -> Edge:
    if not isinstance(edge.source, FieldName) or edge.source.dataset not in means:
        return edge
    return replace(edge, source=FieldName(means[edge.source.dataset][0], edge.source.field))
