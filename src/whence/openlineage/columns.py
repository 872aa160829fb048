"""The columnLineage facet as edges: today's form, the deprecated form, and the copies that older producers make."""

from collections.abc import Iterator
from functools import lru_cache

from whence.errors import EventError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.naming import NO_NUL, field_name
from whence.openlineage.notes import Note, Notes
from whence.openlineage.wire import Json, decode, members_of, objects_in, step, text_of

How = tuple[str, str, bool, str]
"""type, subtype, masking, description."""

_Origin = tuple[Node, How]

UNSAID: How = ("UNKNOWN", "", False, "")
INFLUENCE: How = ("INDIRECT", "", False, "")
NO_COLUMN = "an input field needs a namespace, a name and a field; ignored"

_DEPRECATED = {"IDENTITY": ("DIRECT", "IDENTITY", False), "MASKED": ("DIRECT", "TRANSFORMATION", True)}
_CACHED_LENGTH = 200
_CACHED_FACET = 16_384


def column_edges(payload: str, output: DatasetName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """The edges into `output` and its fields (docs/state.md, case 2), from the facet's JSON. `at` is its pointer."""
    # A job says the same of its columns in every event of every run: most facets have been read before.
    read = _read_once if len(payload) <= _CACHED_FACET else _read
    try:
        edges, warnings = read(payload, output)
    except EventError as error:
        raise EventError(f"{at}{error.pointer}", error.reason) from error
    for pointer, text in warnings:
        notes.add(f"{at}{pointer}", text)
    return edges


def _read(payload: str, output: DatasetName) -> tuple[tuple[Edge, ...], tuple[Note, ...]]:
    facet, notes = decode(payload.encode()), Notes()
    fields = _output_fields(facet, notes)
    edges = [one for name, field in fields for one in _into_field(name, field, output, notes)]
    if any(True for _ in objects_in(facet.get("dataset"))):
        edges += _into_output(facet, output, notes)
    else:
        edges = _without_copies(edges, output, len(fields))
    return tuple(edges), notes.taken()


_read_once = lru_cache(maxsize=4_096)(_read)


def transformations(one: Json, unsaid: How = UNSAID) -> tuple[How, ...]:
    """How a source flows, once per transformation; empty if the list is absent or empty."""
    some = one.get("transformations")
    if not some or type(some) is not list:
        return ()
    return tuple([_how(how, unsaid[0]) for how in some if type(how) is dict])


def _how(one: Json, unsaid: str) -> How:
    get = one.get
    kind, subtype, description = get("type"), get("subtype"), get("description")
    masking = get("masking") is True
    if type(kind) is not str or type(subtype) is not str or type(description or "") is not str:
        return _any_how(text_of(kind), text_of(subtype), masking, text_of(description), unsaid)
    description = description or ""
    if len(kind) + len(subtype) + len(description) > _CACHED_LENGTH:
        return _any_how(kind, subtype, masking, description, unsaid)
    return _cached_how(kind, subtype, masking, description, unsaid)


def _any_how(kind: str, subtype: str, masking: bool, description: str, unsaid: str) -> How:
    return text_of(kind).upper() or unsaid, text_of(subtype).upper(), masking, text_of(description)


_cached_how = lru_cache(maxsize=4096)(_any_how)


def _output_fields(facet: Json, notes: Notes) -> list[tuple[str, Json]]:
    fields = facet.get("fields")
    if fields is not None and type(fields) is not dict:
        notes.add("/fields", "is not an object; ignored")
    found: list[tuple[str, Json]] = []
    for name, one in members_of(fields):
        if "\0" in name:
            raise EventError(f"/fields{step(name)}", NO_NUL)
        if type(one) is dict:
            found.append((name, one))
        else:
            notes.add(f"/fields{step(name)}", "is not an object; ignored")
    return found


def _into_field(name: str, one: Json, output: DatasetName, notes: Notes) -> list[Edge]:
    target = FieldName(output, name)
    otherwise = (_deprecated(one),) if "transformationType" in one or "transformationDescription" in one else (UNSAID,)
    edges: list[Edge] = []
    for index, source in objects_in(one.get("inputFields")):
        try:
            field = field_name(source)
        except ValueError as error:
            raise EventError(f"/fields{step(name)}/inputFields/{index}", str(error)) from error
        if field:
            edges += [edge(field, target, how) for how in transformations(source) or otherwise]
        else:
            notes.add(f"/fields{step(name)}/inputFields/{index}", NO_COLUMN)
    return edges


def _into_output(facet: Json, output: DatasetName, notes: Notes) -> Iterator[Edge]:
    for index, source in objects_in(facet["dataset"]):
        try:
            field = field_name(source)
        except ValueError as error:
            raise EventError(f"/dataset/{index}", str(error)) from error
        if field:
            for kind, subtype, masking, description in transformations(source, INFLUENCE) or (INFLUENCE,):
                # No value flows into a whole output, though openlineage-spark 1.53 may say so (docs/spark.md).
                influence = "INDIRECT" if kind == "DIRECT" else kind
                yield edge(field, output, (influence, subtype, masking, description))
        else:
            notes.add(f"/dataset/{index}", NO_COLUMN)


def _deprecated(field: Json) -> How:
    """`transformationType` and `transformationDescription` stand beside inputFields (reference rule 44)."""
    known = _DEPRECATED.get(text_of(field.get("transformationType")).upper())
    description = text_of(field.get("transformationDescription"))
    return (*known, description) if known else ("UNKNOWN", "", False, description)


def _without_copies(edges: list[Edge], output: DatasetName, fields: int) -> list[Edge]:
    """INDIRECT edges that reach every field from one source in one way touch the whole output (reference rule 42).

    `edges` come field by field.
    """
    indirect = [(_origin(one), one.target) for one in edges if one.type == "INDIRECT"]
    if fields < 2 or len(indirect) < fields:
        return edges
    reached: dict[_Origin, tuple[int, Node]] = {}
    for origin, target in indirect:
        count, last = reached.get(origin, (0, output))
        if last is not target:
            reached[origin] = count + 1, target
    copies = [origin for origin, (count, _) in reached.items() if count == fields]
    if not copies:
        return edges
    gone = set(copies)
    kept = [one for one in edges if one.type != "INDIRECT" or _origin(one) not in gone]
    return [edge(source, output, how) for source, how in copies] + kept


def _origin(one: Edge) -> _Origin:
    return one.source, (one.type, one.subtype, one.masking, one.description)


def edge(source: Node, target: Node, how: How) -> Edge:
    """An edge that flows in this way."""
    kind, subtype, masking, description = how
    return Edge(source=source, target=target, type=kind, subtype=subtype, masking=masking, description=description)
