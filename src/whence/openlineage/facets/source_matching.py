"""Matching of column lineage sources to inputs whose names differ slightly (reference rule 29).

openlineage-spark names each file of a wildcard read although the input is the directory (#4944), and tables without
their database (#1665). dbt-ol names the common table expression of an ephemeral model although the input is the model.
Such a source is replaced by the matching input, with a warning.
"""

from collections.abc import Iterable
from dataclasses import replace

from whence.model.events import Dataset
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.names.naming import has_path_names

EPHEMERAL = "__dbt__cte__"
"""The prefix that dbt gives an ephemeral model in the SQL of the models that use it."""


def match_sources(outputs: tuple[Dataset, ...], inputs: tuple[Dataset, ...], notes: Notes) -> tuple[Dataset, ...]:
    """The outputs, with each edge source that is not an input replaced by the input that it matches, if any."""
    if not inputs or not any(output.edges for output in outputs):
        return outputs
    declared = {output.name for output in (*inputs, *outputs)}
    matches = {
        unknown: match for unknown in _source_datasets(outputs) - declared if (match := _find_input(unknown, inputs))
    }
    for unknown, (input_name, reason) in matches.items():
        notes.add("/outputs", f"column lineage from {unknown} read as from {input_name}: {reason}")
    return tuple([_replace_sources(output, matches) for output in outputs]) if matches else outputs


def _source_datasets(outputs: Iterable[Dataset]) -> set[DatasetName]:
    return {edge.source.dataset for output in outputs for edge in output.edges if type(edge.source) is FieldName}


def _find_input(unknown: DatasetName, inputs: Iterable[Dataset]) -> tuple[DatasetName, str] | None:
    candidates = {candidate.name for candidate in inputs if candidate.name.namespace == unknown.namespace}
    if has_path_names(unknown.namespace):
        parents = [candidate for candidate in candidates if unknown.name.startswith(f"{candidate.name.rstrip('/')}/")]
        return (max(parents, key=lambda candidate: len(candidate.name)), "its parent path") if parents else None
    *path, last = unknown.name.split(".")
    name = last.removeprefix(EPHEMERAL) if last.startswith(EPHEMERAL) else ".".join((*path, last))
    full_names = [candidate for candidate in candidates if candidate.name.endswith(f".{name}")]
    return (full_names[0], "its full name") if len(full_names) == 1 else None


def _replace_sources(output: Dataset, matches: dict[DatasetName, tuple[DatasetName, str]]) -> Dataset:
    return replace(output, edges=tuple([_replace_source(edge, matches) for edge in output.edges]))


def _replace_source(edge: Edge, matches: dict[DatasetName, tuple[DatasetName, str]]) -> Edge:
    if not isinstance(edge.source, FieldName) or edge.source.dataset not in matches:
        return edge
    return replace(edge, source=FieldName(matches[edge.source.dataset][0], edge.source.field))
