"""The lineage sets of one event, by the four cases of docs/explanation/state.md ("Lineage sets")."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from oracle.naming import dataset_node, job_node, names_paths
from oracle.nodes import Node, whole
from oracle.sql import Spoken

Json = dict[str, Any]
Edge = tuple[Node, Node, str, str, str, str]
"""source, target, type, subtype, "masked" or "", description."""

Sets = set[tuple[Node | None, str, str, frozenset[Edge]]]
"""(output or None, level, origin, edges)."""

How = tuple[str, str, str, str]
Names = dict[Node, Node]


@dataclass
class Output:
    """An output: its columnLineage facets, and the columns that its schema lists or its evidence calls incomplete."""

    facets: list[Json]
    listed: set[str]
    placeholders: list[set[str]]
    """Of each of the facets, the keys of `fields` that are no columns."""
    incomplete: set[str] = field(default_factory=set)


def job_lineage(
    job: Node,
    inputs: set[Node],
    outputs: dict[Node, Output],
    explicit: Json | None,
    spoken: Spoken,
    names: Names,
    partial: bool,
) -> Sets:
    """All that a run or job event says. `spoken`: what its SQL says; `names`: the event's names for other names;
    `partial`: whether its run says that there is more.
    """
    sets = _stated(job, inputs, outputs, explicit, spoken, names)
    if inputs:
        named = _named(outputs, explicit)
        sets |= {one for output in outputs for one in _unreported(job, output, outputs[output], named, sets, spoken)}
    gaps = {one for output, of in outputs.items() for one in gaps_admitted(job, output, of.incomplete)}
    if partial:
        gaps |= {(one, "dataset", "incomplete", frozenset([(job, one, "UNKNOWN", "", "", "")])) for one in outputs}
    return sets | gaps | _boundary(job, inputs, set(outputs))


def gaps_admitted(owner: Node, output: Node, columns: set[str]) -> Sets:
    """The columns of an output of which its producer says that it does not know all that they come from."""
    edges = frozenset((owner, ("field", *output[1:], one), "UNKNOWN", "", "", "") for one in columns)
    return {(output, "field", "incomplete", edges)} if edges else set()


def incomplete_columns(facets: dict[str, Json]) -> set[str]:
    """The columns that the facet whence_columnEvidence of a dataset calls incomplete."""
    evidence = facets.get("whence_columnEvidence", {})
    if evidence.get("_deleted") is True:
        return set()
    sourceless = ("no_source", "seed", "snapshot")
    without = {one for one, why in _reasons(evidence.get("unexplained")) if why not in sourceless}
    in_part = {one for one, why in _reasons(evidence.get("doubts")) if why in ("left_the_engine", "not_captured")}
    return without | in_part


def _reasons(entries: object) -> list[tuple[str, str]]:
    pairs = [(one.get("field"), one.get("reason")) for one in _items(entries)]
    return [
        (column, why.split(":")[0])
        for column, why in pairs
        if isinstance(column, str) and column and "\0" not in column and isinstance(why, str)
    ]


def _unreported(
    job: Node, output: Node, of: Output, named: set[Node], sets: Sets, spoken: Spoken
) -> Iterator[tuple[Node | None, str, str, frozenset[Edge]]]:
    """The columns of an output that its schema lists and of which nobody says where they come from."""
    edges = {edge for one in sets if one[:2] == (output, "field") for edge in one[3]}
    if not edges or any(edge[1] == output and edge[2] != "INDIRECT" for edge in edges):
        return
    known = {edge[1][3] for edge in edges if edge[1][0] == "field"} | {one[3] for one in named if whole(one) == output}
    known |= of.incomplete
    unknown = {one for one in of.listed if not any(_within(one, other) or _within(other, one) for other in known)}
    if spoken.complete and output in spoken.edges:
        unknown &= {edge[1][3] for edge in spoken.edges[output] if edge[1][0] == "field"}
    if unknown:
        fields: list[Node] = [("field", *output[1:], one) for one in unknown]
        yield output, "field", "unreported", frozenset((job, one, "UNKNOWN", "", "", "") for one in fields)


def _within(column: str, other: str) -> bool:
    return column == other or column.startswith(f"{other}.")


def _named(outputs: dict[Node, Output], explicit: Json | None) -> set[Node]:
    """The columns that the producer names in its lineage, with sources or without."""
    facets = [
        (output, _columns_of(facet, none))
        for output, one in outputs.items()
        for facet, none in zip(one.facets, one.placeholders, strict=True)
    ]
    entries = [one for one in _entries(explicit or {}) if one.get("type", "DATASET") == "DATASET"]
    facets += [(target, one) for one in entries if (target := dataset_node(one))]
    return {("field", *output[1:], name) for output, facet in facets for name, _ in _objects(facet.get("fields"))}


def _completing(edges: set[Edge], named: set[str], parsed: set[Edge], names: Names) -> set[Edge]:
    """What the SQL adds to what the producer reports of one output, without contradicting it."""

    def ends(edge: Edge) -> tuple[Node, str, str]:
        source = whole(edge[0])
        columns = [end[3].lower() if end[0] == "field" else "" for end in edge[:2]]
        return names.get(source, source), columns[0], columns[1]

    types: dict[tuple[Node, str, str], set[str]] = defaultdict(set)
    for edge in edges:
        types[ends(edge)].add(edge[2])
    mentioned = {one.lower() for one in named} | {column for *_, column in types}
    return {
        edge
        for edge in parsed
        if ("INDIRECT" not in types[ends(edge)] if edge[2] == "INDIRECT" else types[ends(edge)] == {"UNKNOWN"})
        or (edge[2] != "INDIRECT" and edge[1][0] == "field" and edge[1][3].lower() not in mentioned)
    }


def _stated(
    job: Node, inputs: set[Node], outputs: dict[Node, Output], explicit: Json | None, spoken: Spoken, names: Names
) -> Sets:
    sets: Sets = set()
    if explicit is not None:
        return _explicit(_entries(explicit), job)
    for output, one in outputs.items():
        edges = {
            _folded(_joined(edge, inputs, set(outputs)), none)
            for facet, none in zip(one.facets, one.placeholders, strict=True)
            for edge in column_edges(output, facet)
        }
        if edges:
            columns = [_columns_of(*both) for both in zip(one.facets, one.placeholders, strict=True)]
            named = {name for facet in columns for name, _ in _objects(facet.get("fields"))}
            sets |= _split(output, "columnLineage", edges)
            sets |= _split(output, "parsed", _completing(edges, named, spoken.edges.get(output, set()), names))
            continue
        if output in spoken.edges:
            sets |= _split(output, "parsed", spoken.edges[output])
        if rest := inputs - spoken.explained(output):
            sets.add((output, "dataset", "inferred", frozenset((one, output, "UNKNOWN", "", "", "") for one in rest)))
    return sets


def placeholders(facet: Json, listed: set[str]) -> set[str]:
    """The keys of a facet's `fields` that openlineage-sql made up, if the output's columns are known."""
    names = {name for name, _ in _objects(facet.get("fields")) if re.fullmatch("_[0-9]+", name)}
    return names - listed if listed else set()


def _columns_of(facet: Json, none: set[str]) -> Json:
    return {"fields": {name: one for name, one in _objects(facet.get("fields")) if name not in none}}


def _folded(edge: Edge, none: set[str]) -> Edge:
    """The edge, between datasets if its target is a placeholder."""
    if edge[1][0] == "field" and edge[1][3] in none:
        return (whole(edge[0]), whole(edge[1]), edge[2], "", "", "")
    return edge


def reported(sets: Sets) -> dict[Node, set[Edge]]:
    """The edges from field to field that the producer says, by output."""
    found: dict[Node, set[Edge]] = defaultdict(set)
    for output, level, origin, edges in sets:
        if output and level == "field" and origin in ("explicit", "columnLineage"):
            found[output] |= {edge for edge in edges if edge[0][0] == edge[1][0] == "field"}
    return {output: edges for output, edges in found.items() if edges}


def dataset_lineage(dataset: Node, facet: Json) -> Sets:
    """What a dataset event's `lineage` facet says."""
    own = {"type": "DATASET", "own": dataset, "inputs": facet.get("inputs"), "fields": facet.get("fields")}
    return _explicit([own, *_entries(facet)], None)


def _boundary(job: Node, inputs: set[Node], outputs: set[Node]) -> Sets:
    sets: Sets = {(one, "dataset", "boundary", frozenset([(job, one, "UNKNOWN", "", "", "")])) for one in outputs}
    if inputs:
        sets.add((None, "dataset", "boundary", frozenset((one, job, "UNKNOWN", "", "", "") for one in inputs)))
    return sets


def _split(output: Node, origin: str, edges: set[Edge]) -> Sets:
    """The two levels of an output's edges: those with a field, and the dataset edges that are said or follow."""
    fine = {edge for edge in edges if "field" in (edge[0][0], edge[1][0])}
    coarse = (edges - fine) | {(whole(source), output, kind, "", "", "") for source, _, kind, *_ in fine}
    return {(output, level, origin, frozenset(some)) for level, some in (("field", fine), ("dataset", coarse)) if some}


def _explicit(entries: list[Json], job: Node | None) -> Sets:
    by_output: dict[Node, set[Edge]] = defaultdict(set)
    to_jobs: set[Edge] = set()
    for entry in entries:
        kind = entry.get("type", "DATASET")
        if kind == "DATASET" and (target := entry.get("own") or dataset_node(entry)):
            by_output[target] |= set(_sources(entry.get("inputs"), target, job))
            for name, one in _objects(entry.get("fields")):
                by_output[target] |= set(_sources(one.get("inputs"), ("field", *target[1:], name), job))
        if kind == "JOB" and (target := _job_named(entry, job)):
            to_jobs |= {(whole(edge[0]), *edge[1:]) for edge in _sources(entry.get("inputs"), target, job)}
    sets: Sets = {(None, "dataset", "explicit", frozenset(to_jobs))} if to_jobs else set()
    for output, edges in by_output.items():
        sets |= _split(output, "explicit", edges)
    return sets


def _sources(inputs: object, target: Node, job: Node | None) -> Iterator[Edge]:
    for one in _items(inputs):
        kind = one.get("type", "DATASET")
        source = _job_named(one, job) if kind == "JOB" else _source(one) if kind == "DATASET" else None
        if source:
            for how in _how(one.get("transformations")) or [("UNKNOWN", "", "", "")]:
                yield (source, target, *how)


def _source(one: Json) -> Node | None:
    return _column(one) or dataset_node(one)


def _job_named(one: Json, job: Node | None) -> Node | None:
    namespace, name = one.get("namespace"), one.get("name")
    if namespace is None and name is None:
        return job
    return job_node(one)


def column_edges(output: Node, facet: Json) -> Iterator[Edge]:
    """The edges that a columnLineage facet gives."""
    fields = dict(_objects(facet.get("fields")))
    whole_output = _items(facet.get("dataset"))
    by_field = {name: set(_field_edges(one)) for name, one in fields.items()}
    copies: set[tuple[Node, How]] = set()
    if len(fields) > 1 and not whole_output:
        copies = {pair for pair in set.intersection(*by_field.values()) if pair[1][0] == "INDIRECT"}
    for source, how in copies:
        yield (source, output, *how)
    for name, pairs in by_field.items():
        for source, how in pairs - copies:
            yield (source, ("field", *output[1:], name), *how)
    for one in whole_output:
        if column := _column(one):
            for kind, *more in _how(one.get("transformations"), unsaid="INDIRECT") or [("INDIRECT", "", "", "")]:
                subtype, masking, description = more
                yield (column, output, "INDIRECT" if kind == "DIRECT" else kind, subtype, masking, description)


def _joined(edge: Edge, inputs: set[Node], outputs: set[Node]) -> Edge:
    """The edge, from the input that its source must mean, if the source's dataset is a stranger to the event (rule
    29).
    """
    source = edge[0]
    stranger = whole(source)
    if source[0] != "field" or stranger in inputs | outputs:
        return edge
    near = [one for one in inputs if one[1] == stranger[1]]
    if names_paths(stranger[1]):
        meant = [one for one in near if f"{stranger[2]}/".startswith(f"{one[2].rstrip('/')}/") and one != stranger]
        meant = sorted(meant, key=lambda one: len(one[2]))[-1:]
    else:
        path, dot, last = stranger[2].rpartition(".")
        name = last[len("__dbt__cte__") :] if last.startswith("__dbt__cte__") else path + dot + last
        meant = [one for one in near if one[2].endswith(f".{name}")]
    return (("field", *meant[0][1:], source[3]), *edge[1:]) if len(meant) == 1 else edge


def _field_edges(field: Json) -> Iterator[tuple[Node, How]]:
    for one in _items(field.get("inputFields")):
        if source := _column(one):
            for how in _how(one.get("transformations")) or [_deprecated(field)]:
                yield source, how


def _column(one: Json) -> Node | None:
    dataset, field = dataset_node(one), one.get("field")
    return ("field", *dataset[1:], field) if dataset and isinstance(field, str) and field else None


def _how(transformations: object, unsaid: str = "UNKNOWN") -> list[How]:
    return [
        (
            clean(one.get("type")).upper() or unsaid,
            clean(one.get("subtype")).upper(),
            "masked" if one.get("masking") is True else "",
            clean(one.get("description")),
        )
        for one in _items(transformations)
    ]


def _deprecated(field: Json) -> How:
    description = clean(field.get("transformationDescription"))
    known = {"IDENTITY": ("DIRECT", "IDENTITY", ""), "MASKED": ("DIRECT", "TRANSFORMATION", "masked")}
    return (*known.get(clean(field.get("transformationType")).upper(), ("UNKNOWN", "", "")), description)


def clean(text: object) -> str:
    """A free text, empty if it is none, with a sign for NUL."""
    return text.replace("\0", "\ufffd") if isinstance(text, str) else ""


def _entries(facet: Json) -> list[Json]:
    return [{key: value for key, value in entry.items() if key != "own"} for entry in _items(facet.get("entries"))]


def _objects(value: object) -> list[tuple[str, Json]]:
    return [(key, one) for key, one in value.items() if isinstance(one, dict)] if isinstance(value, dict) else []


def _items(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
