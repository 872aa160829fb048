"""The columnLineage facet as edges: the current form, the deprecated form, and the copies in older events."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from whence.errors import EventError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.wire import Json, decode, members_of, objects_in, pointer_step, text_of
from whence.openlineage.names.naming import NO_NUL, read_field_name

Flow = tuple[str, str, bool, str]
"""How data flows along an edge: type, subtype, masking, description."""

_Origin = tuple[FieldName, Flow]

UNKNOWN_FLOW: Flow = ("UNKNOWN", "", False, "")
INDIRECT_FLOW: Flow = ("INDIRECT", "", False, "")
NO_COLUMN = "an input field needs a namespace, a name and a field; ignored"

_DEPRECATED = {"IDENTITY": ("DIRECT", "IDENTITY", False), "MASKED": ("DIRECT", "TRANSFORMATION", True)}
_CACHED_LENGTH = 200
_CACHED_FACET = 16_384


def read_column_edges(payload: str, facet: Json, output: DatasetName, at: str, notes: Notes) -> tuple[Edge, ...]:
    """The edges into `output` and its fields (state.md, case 2). `payload` is the facet's text, `at` its pointer."""
    try:
        # A job repeats its column lineage in every event of every run, so most facets have been read before.
        edges, warnings = (
            _parse_facet_cached(payload, output) if len(payload) <= _CACHED_FACET else _parse_facet(facet, output)
        )
    except EventError as error:
        raise EventError(f"{at}{error.pointer}", error.reason) from error
    for pointer, text in warnings:
        notes.add(f"{at}{pointer}", text)
    return edges


def list_reported_columns(facet: Json) -> tuple[str, ...]:
    """The columns that the facet mentions, with or without sources."""
    return tuple([name for name, field in members_of(facet.get("fields")) if type(field) is dict])


_Read = tuple[tuple[Edge, ...], tuple[Note, ...]]


def _parse_facet(facet: Json, output: DatasetName) -> _Read:
    notes, sources = Notes(), _Sources()
    origins_by_field = {
        FieldName(output, name): sources.origins_of(name, one, notes) for name, one in _output_fields(facet, notes)
    }
    has_own = any(True for _ in objects_in(facet.get("dataset")))
    copies = {} if has_own else _find_copied_origins(list(origins_by_field.values()))
    edges = [make_edge(*origin, output) for origin in copies]
    edges += [
        make_edge(*origin, field)
        for field, origins in origins_by_field.items()
        for origin in origins
        if origin not in copies
    ]
    if has_own:
        edges += _read_dataset_edges(facet, output, notes)
    return tuple(edges), notes.taken()


@lru_cache(maxsize=4_096)
def _parse_facet_cached(payload: str, output: DatasetName) -> _Read:
    return _parse_facet(decode(payload.encode()), output)


def read_transformations(source: Json, default: Flow = UNKNOWN_FLOW) -> tuple[Flow, ...]:
    """The flow of each transformation of a source; empty if the list is absent or empty."""
    values = source.get("transformations")
    if not values or type(values) is not list:
        return ()
    return tuple([_read_flow(value, default[0]) for value in values if type(value) is dict])


def _read_flow(transformation: Json, default_type: str) -> Flow:
    get = transformation.get
    kind, subtype, description = get("type"), get("subtype"), get("description")
    masking = get("masking") is True
    if type(kind) is not str or type(subtype) is not str or type(description or "") is not str:
        return _make_flow(text_of(kind), text_of(subtype), masking, text_of(description), default_type)
    description = description or ""
    if len(kind) + len(subtype) + len(description) > _CACHED_LENGTH:
        return _make_flow(kind, subtype, masking, description, default_type)
    return _make_flow_cached(kind, subtype, masking, description, default_type)


def _make_flow(kind: str, subtype: str, masking: bool, description: str, default_type: str) -> Flow:
    return text_of(kind).upper() or default_type, text_of(subtype).upper(), masking, text_of(description)


_make_flow_cached = lru_cache(maxsize=4096)(_make_flow)


def _output_fields(facet: Json, notes: Notes) -> list[tuple[str, Json]]:
    fields = facet.get("fields")
    if fields is not None and type(fields) is not dict:
        notes.add("/fields", "is not an object; ignored")
    output_fields: list[tuple[str, Json]] = []
    for name, field in members_of(fields):
        if "\0" in name:
            raise EventError(f"/fields{pointer_step(name)}", NO_NUL)
        if type(field) is dict:
            output_fields.append((name, field))
        else:
            notes.add(f"/fields{pointer_step(name)}", "is not an object; ignored")
    return output_fields


class _Sources:
    """Reads the input fields of one facet. A field that repeats as one object (`json.interning`) is read once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[int, Flow], tuple[_Origin, ...]] = {}

    def origins_of(self, name: str, field: Json, notes: Notes) -> list[_Origin]:
        """The sources of the output field `name`, with their flows."""
        default = (
            _read_deprecated_flow(field)
            if "transformationType" in field or "transformationDescription" in field
            else UNKNOWN_FLOW
        )
        known, origins = self._known, list[_Origin]()
        for index, source in objects_in(field.get("inputFields")):
            source_origins = known.get((id(source), default))
            if source_origins is None:
                source_origins = _read_origins(
                    source, default, f"/fields{pointer_step(name)}/inputFields/{index}", notes
                )
                if source_origins:  # otherwise every occurrence gets a warning
                    known[id(source), default] = source_origins
            origins += source_origins
        return origins


def _read_origins(source: Json, default: Flow, at: str, notes: Notes) -> tuple[_Origin, ...]:
    try:
        field = read_field_name(source)
    except ValueError as error:
        raise EventError(at, str(error)) from error
    if field is None:
        notes.add(at, NO_COLUMN)
        return ()
    return tuple([(field, flow) for flow in read_transformations(source) or (default,)])


def _read_dataset_edges(facet: Json, output: DatasetName, notes: Notes) -> Iterator[Edge]:
    for index, source in objects_in(facet["dataset"]):
        try:
            field = read_field_name(source)
        except ValueError as error:
            raise EventError(f"/dataset/{index}", str(error)) from error
        if field:
            for kind, subtype, masking, description in read_transformations(source, INDIRECT_FLOW) or (INDIRECT_FLOW,):
                # No value flows into a whole output, though openlineage-spark 1.53 may report it
                # (docs/how-to/spark.md).
                influence = "INDIRECT" if kind == "DIRECT" else kind
                yield make_edge(field, (influence, subtype, masking, description), output)
        else:
            notes.add(f"/dataset/{index}", NO_COLUMN)


def _read_deprecated_flow(field: Json) -> Flow:
    """The flow in `transformationType` and `transformationDescription`, beside inputFields (reference rule 44)."""
    known = _DEPRECATED.get(text_of(field.get("transformationType")).upper())
    description = text_of(field.get("transformationDescription"))
    return (*known, description) if known else ("UNKNOWN", "", False, description)


def _find_copied_origins(origins_by_field: Sequence[Sequence[_Origin]]) -> dict[_Origin, None]:
    """INDIRECT sources that reach every field with one flow: they influence the whole output (reference rule 42).

    Spark writes a source once per field, with the field's own transformations before the copied ones.
    """
    if len(origins_by_field) < 2:
        return {}
    common = {origin for origin in origins_by_field[0] if origin[1][0] == "INDIRECT"}
    for origins in origins_by_field[1:]:
        if not common:
            break
        common.intersection_update(origins)
    return dict.fromkeys(origin for origin in origins_by_field[0] if origin in common)


def make_edge(source: Node, flow: Flow, target: Node) -> Edge:
    """An edge with this flow."""
    kind, subtype, masking, description = flow
    return Edge(source=source, target=target, type=kind, subtype=subtype, masking=masking, description=description)
