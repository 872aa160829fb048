"""The columnLineage facet as edges: today's form, the deprecated form, and the copies that older producers make."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from whence.errors import EventError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.naming import NO_NUL, field_name
from whence.openlineage.notes import Note, Notes
from whence.openlineage.wire import Json, decode, members_of, objects_in, step, text_of

How = tuple[str, str, bool, str]
"""type, subtype, masking, description."""

_Origin = tuple[FieldName, How]

UNSAID: How = ("UNKNOWN", "", False, "")
INFLUENCE: How = ("INDIRECT", "", False, "")
NO_COLUMN = "an input field needs a namespace, a name and a field; ignored"

_DEPRECATED = {"IDENTITY": ("DIRECT", "IDENTITY", False), "MASKED": ("DIRECT", "TRANSFORMATION", True)}
_CACHED_LENGTH = 200
_CACHED_FACET = 16_384


def column_edges(payload: str, facet: Json, output: DatasetName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """The edges into `output` and its fields (docs/state.md, case 2). `payload`: the facet as text; `at`: its place."""
    try:
        # A job says the same of its columns in every event of every run: most facets have been read before.
        edges, warnings = _read_once(payload, output) if len(payload) <= _CACHED_FACET else _read(facet, output)
    except EventError as error:
        raise EventError(f"{at}{error.pointer}", error.reason) from error
    for pointer, text in warnings:
        notes.add(f"{at}{pointer}", text)
    return edges


def named_columns(facet: Json) -> tuple[str, ...]:
    """The columns that the facet names, with sources or without any."""
    return tuple([name for name, one in members_of(facet.get("fields")) if type(one) is dict])


_Read = tuple[tuple[Edge, ...], tuple[Note, ...]]


def _read(facet: Json, output: DatasetName) -> _Read:
    notes, sources = Notes(), _Sources()
    said = {FieldName(output, name): sources.of(name, one, notes) for name, one in _output_fields(facet, notes)}
    has_own = any(True for _ in objects_in(facet.get("dataset")))
    copies = {} if has_own else _copies(list(said.values()))
    edges = [edge(*origin, output) for origin in copies]
    edges += [edge(*origin, field) for field, some in said.items() for origin in some if origin not in copies]
    if has_own:
        edges += _into_output(facet, output, notes)
    return tuple(edges), notes.taken()


@lru_cache(maxsize=4_096)
def _read_once(payload: str, output: DatasetName) -> _Read:
    return _read(decode(payload.encode()), output)


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


class _Sources:
    """Reads the input fields of one facet. Of those that are one object (`repeats`) each is looked at once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[int, How], tuple[_Origin, ...]] = {}

    def of(self, name: str, field: Json, notes: Notes) -> list[_Origin]:
        """What flows into the output field `name`, and how."""
        otherwise = (
            _deprecated(field) if "transformationType" in field or "transformationDescription" in field else UNSAID
        )
        known, origins = self._known, list[_Origin]()
        for index, source in objects_in(field.get("inputFields")):
            found = known.get((id(source), otherwise))
            if found is None:
                found = _origins(source, otherwise, f"/fields{step(name)}/inputFields/{index}", notes)
                if found:  # else each occurrence is warned of
                    known[id(source), otherwise] = found
            origins += found
        return origins


def _origins(source: Json, otherwise: How, at: str, notes: Notes) -> tuple[_Origin, ...]:
    try:
        field = field_name(source)
    except ValueError as error:
        raise EventError(at, str(error)) from error
    if field is None:
        notes.add(at, NO_COLUMN)
        return ()
    return tuple([(field, how) for how in transformations(source) or (otherwise,)])


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
                yield edge(field, (influence, subtype, masking, description), output)
        else:
            notes.add(f"/dataset/{index}", NO_COLUMN)


def _deprecated(field: Json) -> How:
    """`transformationType` and `transformationDescription` stand beside inputFields (reference rule 44)."""
    known = _DEPRECATED.get(text_of(field.get("transformationType")).upper())
    description = text_of(field.get("transformationDescription"))
    return (*known, description) if known else ("UNKNOWN", "", False, description)


def _copies(said: Sequence[Sequence[_Origin]]) -> dict[_Origin, None]:
    """INDIRECT origins that reach every field in one way: they touch the whole output (reference rule 42).

    Spark writes a source once per field, with the field's own transformations before those that are copied.
    """
    if len(said) < 2:
        return {}
    common = {origin for origin in said[0] if origin[1][0] == "INDIRECT"}
    for origins in said[1:]:
        if not common:
            break
        common.intersection_update(origins)
    return dict.fromkeys(origin for origin in said[0] if origin in common)


def edge(source: Node, how: How, target: Node) -> Edge:
    """An edge that flows in this way."""
    kind, subtype, masking, description = how
    return Edge(source=source, target=target, type=kind, subtype=subtype, masking=masking, description=description)
