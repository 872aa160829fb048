"""Resolution of typed text to the one node that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from whence.errors import AmbiguousNodeError, NodeNotFoundError
from whence.model.graph import Hit
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.query.answers.values import dataset_of
from whence.query.lookup.requested_names import known_field

if TYPE_CHECKING:  # it needs numpy, which only the server has
    from whence.query.ports.graph import Names

SEARCHED = 10_000
"""The most names to check for one typed name."""
NEAREST = 5
MOST_SEGMENTS = 64
"""The most segments of a short form. A longer text is resolved only as a node id, since each cut would be a search."""
MOST_COMPARED = 5
"""The number of segments, longest first, with which the nearest names are searched."""
MOST_LETTERS = 1_000
"""The most characters of the typed text to compare with names."""
_SEPARATORS = re.compile(r"[/.:]+")
_EXTENSION = re.compile(r"\.\w{1,8}$")
_OF_FILES = re.compile(r"\.(csv|tsv|txt|json|jsonl|xml|avro|orc|parquet|delta|gz|zst|xlsx?)$", re.IGNORECASE)


def resolve(names: Names, typed: str) -> Node:
    """Resolve a full node id or an unambiguous short form: `daily_revenue.total`, `usage_logs.last_login`.

    A short form is the end of a name, cut at `/`, `.` or `:`; file extensions may be left out. Precedence: datasets and
    their fields, then jobs, then fields without their dataset; a complete name before the end of a longer one; the same
    case before another case. A field is returned under the name of its dataset under which events mention it.

    Raises NodeNotFoundError with the nearest names, AmbiguousNodeError with all candidates.
    """
    full = parse_node(typed)
    if full and (known := _known(names, full)):
        return known
    ends = (_datasets_and_fields, _jobs, _bare_fields) if len(segments(typed)) <= MOST_SEGMENTS else ()
    for filter_matcher in ends:
        fits = _best(filter_matcher(names, typed), typed) if typed.strip() else []
        if found := _one_of_each_group(names, fits):
            only = _only(found, typed)
            return _known(names, only) or only
    raise NodeNotFoundError(typed, nearest(names, typed))


def _known(names: Names, node: Node) -> Node | None:
    if isinstance(node, FieldName):
        return known_field(names, node)
    return node if names.nodes([node_id(node)]) else None


def nearest(names: Names, typed: str) -> tuple[str, ...]:
    """Node ids of the names most similar to the typed text, best first."""
    typed = typed[:MOST_LETTERS]
    parts = sorted(dict.fromkeys(segments(typed)), key=len, reverse=True)[:MOST_COMPARED]
    kinds = (Kind.DATASET, Kind.JOB)
    hits = {hit.name: hit.id for part in parts for kind in kinds for hit in names.search([part], kind, 100)}
    hits = hits or {hit.name: hit.id for kind in kinds for hit in names.search([], kind, 1_000)}
    fields = {hit.name for part in parts[:2] for hit in names.search([part], Kind.FIELD, 100)}
    datasets = [name for name in hits if isinstance(name, DatasetName)]
    of = {hits[name]: name for name in sorted(datasets, key=lambda name: -likeness(name, typed))[:20]}
    fields |= {FieldName(of[row.dataset_id], row.name) for row in names.fields(sorted(of))}
    ranked = sorted(set(hits) | fields, key=lambda name: (-likeness(name, typed), str(name)))
    return tuple(str(name) for name in ranked[:NEAREST] if likeness(name, typed) > 0.5)


def segments(text: str) -> tuple[str, ...]:
    """The parts of a name, cut at `/`, `.` and `:`."""
    return tuple(part for part in _SEPARATORS.split(text) if part)


def _datasets_and_fields(names: Names, typed: str) -> list[Node]:
    parts = segments(typed)
    found: set[Node] = {hit.name for hit in names.search(parts, Kind.DATASET, SEARCHED)}
    for cut in range(1, len(parts)):
        found |= _fields_in(names, names.search(parts[:cut], Kind.DATASET, SEARCHED), parts[:cut])
    return [name for name in found if _fits(name, typed)]


def _fields_in(names: Names, hits: Iterable[Hit], of: Sequence[str]) -> set[Node]:
    datasets = [hit.name for hit in hits if isinstance(hit.name, DatasetName) and _ends_with(hit.name, of)]
    groups = names.groups(map(node_id, datasets)) if datasets else {}
    called: dict[int, list[DatasetName]] = {}
    for name in datasets:
        for member in groups.get(node_id(name), (name,)):
            called.setdefault(node_id(member), []).append(name)
    rows = names.fields(sorted(called)) if called else ()
    return {FieldName(name, row.name) for row in rows for name in called[row.dataset_id]}


def _jobs(names: Names, typed: str) -> list[Node]:
    return [hit.name for hit in names.search(segments(typed), Kind.JOB, SEARCHED) if _fits(hit.name, typed)]


def _bare_fields(names: Names, typed: str) -> list[Node]:
    names_found = [hit.name for hit in names.search([typed], Kind.FIELD, SEARCHED)]
    return [name for name in names_found if isinstance(name, FieldName) and name.field.casefold() == typed.casefold()]


def _fits(name: Node, typed: str) -> bool:
    match name:
        case FieldName(dataset, field):
            parts, own = segments(typed), segments(field)
            cut = len(parts) - len(own)
            return 0 < cut < len(parts) and _folded(parts[cut:]) == _folded(own) and _ends_with(dataset, parts[:cut])
        case DatasetName() | JobName():
            return _ends_with(name, segments(typed))


def _ends_with(name: DatasetName | JobName, parts: Sequence[str]) -> bool:
    typed = _folded(parts)
    return any(typed == _folded(form[-len(parts) :]) for form in forms(name)) if parts else False


def forms(name: DatasetName | JobName) -> list[tuple[str, ...]]:
    """The segments of a name with its namespace; for a path, also without the file's extension."""
    whole = [(*segments(name.namespace), *segments(name.name))]
    extension = _EXTENSION if "/" in name.name else _OF_FILES
    if extension.search(name.name):
        whole.append((*segments(name.namespace), *segments(extension.sub("", name.name))))
    return whole


def _best(found: Sequence[Node], typed: str) -> list[Node]:
    """The names in the typed case if there are any, and among them the complete names if there are any."""
    same_case = [name for name in found if _is_same_case(name, typed)] or list(found)
    whole = [name for name in same_case if isinstance(name, DatasetName | JobName) and name.name == typed]
    return sorted(whole or same_case, key=str)


def _is_same_case(name: Node, typed: str) -> bool:
    match name:
        case FieldName(dataset, field):
            known = {part for form in forms(dataset) for part in form} | set(segments(field))
        case DatasetName() | JobName():
            known = {part for form in forms(name) for part in form}
    return known.issuperset(segments(typed))


def _one_of_each_group(names: Names, found: Sequence[Node]) -> list[Node]:
    """The first of several names of one node."""
    datasets = [dataset for name in found if (dataset := dataset_of(name))]
    groups = names.groups(sorted({node_id(dataset) for dataset in datasets})) if len(found) > 1 else {}
    chosen: dict[Node, Node] = {}
    for name in found:
        chosen.setdefault(_representative(name, groups), name)
    return list(chosen.values())


def _representative(name: Node, groups: Mapping[int, tuple[DatasetName, ...]]) -> Node:
    match name:
        case FieldName(dataset, field):
            return FieldName(groups.get(node_id(dataset), (dataset,))[0], field)
        case DatasetName():
            return groups.get(node_id(name), (name,))[0]
        case JobName():
            return name


def _only(found: Sequence[Node], typed: str) -> Node:
    if len(found) == 1:
        return found[0]
    raise AmbiguousNodeError(typed, tuple(str(name) for name in found))


def _folded(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.casefold() for part in parts)


def likeness(name: Node, typed: str) -> float:
    """The similarity of two names over as many segments as were typed: 1 if the typed text is a prefix."""
    wanted, parts = typed.casefold(), max(len(segments(typed)), 1)
    match name:
        case FieldName(dataset, field):
            ends = [(*form, *segments(field)) for form in forms(dataset)]
        case _:
            ends = forms(name)
    shown = [".".join(end[-parts:]).casefold() for end in ends]
    wanted = ".".join(segments(wanted))
    return max(1.0 if end.startswith(wanted) else SequenceMatcher(None, wanted, end).ratio() for end in shown)
