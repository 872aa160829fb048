"""Facets: kept as they are, and the few that are read: schema, symlinks, jobType, parent, extractionError, debug."""

import re
from collections.abc import Iterator
from functools import lru_cache

from whence.errors import EventError
from whence.model.events import Facet, SchemaField, Symlink
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.naming import NO_NUL, job_name, normalise
from whence.openlineage.notes import Note, Notes
from whence.openlineage.wire import Json, canonical, decode, members_of, objects_in, step, text_of

LIFECYCLE, DECOMMISSIONED = "whence_lifecycle", "DECOMMISSIONED"
SQL_LINEAGE, SQL_COMPARISON = "whence_sqlLineage", "whence_sqlComparison"
"""Job facets that only the pipeline writes: how the job's SQL was read, and where the job's producer says otherwise."""
TIER, CONTRACT = "whence_tier", "whence_contract"
CERTIFICATIONS = ("canonical", "certified")
"""The tags with which a steward vouches for a dataset or job."""
USER = "USER"
"""The `source` of a tag that a person gave."""
ALIASES, CUT, JOINED = "whence_aliases", "whence:cut", "whence:joined"
"""A dataset facet by which a person says that another name is not this dataset's, or is after all (docs/state.md)."""

SQL_MEMBERS = frozenset(
    {"query", "sql", "statement", "queryText", "compiled_code", "raw_code", "compiled_sql", "raw_sql"}
)
CODE_MEMBERS = frozenset({"sourceCode"})
"""The members of facets that hold SQL text, and code."""

MAX_KEY_BYTES = 1000
MAX_SYMLINK_TYPE = 200
_CACHED_FACET = 16_384

Facets = dict[str, Json]

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def facets_of(entity: Json, place: str, at: str, notes: Notes) -> Facets:
    """The facets under `entity[place]` that are objects, in order of key. Raises EventError for impossible keys."""
    facets = entity.get(place)
    if type(facets) is not dict:
        if facets is not None:
            notes.add(f"{at}/{place}", "is not an object; ignored")
        return {}
    found: Facets = {}
    for key, facet in members_of(facets):
        if "\0" in key or len(key) * 4 > MAX_KEY_BYTES:
            _check_key(key, f"{at}/{place}")
        if type(facet) is not dict:
            notes.add(f"{at}/{place}{step(key)}", f"a facet must be an object, not {_kind_of(facet)}; dropped")
            continue
        if "_schemaURL" not in facet:
            notes.add(f"{at}/{place}{step(key)}", "no _schemaURL")
        found[key] = facet
    return found


def static(facets: Facets) -> tuple[Facet, ...]:
    """Job and dataset facets: they hold until replaced or deleted."""
    return tuple([Facet(key=key, payload=_text(one), deleted=is_deleted(one)) for key, one in facets.items()])


def of_run(facets: Facets, at: str, notes: Notes) -> tuple[Facet, ...]:
    """Run, input and output facets: `_deleted` has no meaning on them (reference rule 24)."""
    for key, facet in facets.items():
        if "_deleted" in facet and is_deleted(facet):
            notes.add(f"{at}{step(key)}", "_deleted is for job and dataset facets only; ignored")
    return tuple([Facet(key=key, payload=_text(one)) for key, one in facets.items()])


def _text(facet: Json) -> str:
    return canonical(facet).decode()


def is_deleted(facet: Json) -> bool:
    """Whether the facet is a marker that says: no longer."""
    return facet.get("_deleted") is True


def alive(facets: Facets, key: str) -> Json | None:
    """The facet, unless it is absent or deleted."""
    facet = facets.get(key)
    return None if facet is None or is_deleted(facet) else facet


def schema_fields(facets: tuple[Facet, ...], at: str, notes: Notes) -> tuple[SchemaField, ...]:
    """The schema facet's fields, nested ones dotted after their parent. `at` is the pointer of the dataset."""
    schema = next((facet for facet in facets if facet.key == "schema" and not facet.deleted), None)
    if schema is None:
        return ()
    # A dataset has the same schema in event after event: most facets have been read before.
    read = _read_schema_once if len(schema.payload) <= _CACHED_FACET else _read_schema
    try:
        fields, warnings = read(schema.payload)
    except EventError as error:
        raise EventError(f"{at}/facets/schema{error.pointer}", error.reason) from error
    for pointer, text in warnings:
        notes.add(f"{at}/facets/schema{pointer}", text)
    return fields


def schema_fields_in(payload: str) -> tuple[SchemaField, ...]:
    """The fields in the text of a schema facet that was accepted, nested ones dotted."""
    return (_read_schema_once if len(payload) <= _CACHED_FACET else _read_schema)(payload)[0]


def _read_schema(payload: str) -> tuple[tuple[SchemaField, ...], tuple[Note, ...]]:
    fields: list[SchemaField] = []
    notes = Notes()
    _flatten(decode(payload.encode()).get("fields"), "", "/fields", fields, notes)
    return tuple(fields), notes.taken()


_read_schema_once = lru_cache(maxsize=4_096)(_read_schema)


def _flatten(some: object, prefix: str, at: str, fields: list[SchemaField], notes: Notes) -> None:
    for index, one in objects_in(some):
        name = one.get("name")
        if type(name) is not str or not name:
            notes.add(f"{at}/{index}/name", "a field needs a name; ignored")
            continue
        if "\0" in name:
            raise EventError(f"{at}/{index}/name", NO_NUL)
        described = {"type": text_of(one.get("type")), "description": text_of(one.get("description"))}
        fields.append(SchemaField(name=prefix + name, **described))
        if "fields" in one:
            _flatten(one["fields"], f"{prefix}{name}.", f"{at}/{index}/fields", fields, notes)


def symlinks(facets: Facets, own: DatasetName, at: str, notes: Notes) -> tuple[Symlink, ...]:
    """The dataset's other names (symlinks facet), and what people say of them (ALIASES)."""
    return tuple(
        link
        for key in ("symlinks", ALIASES)
        if (facet := alive(facets, key)) is not None
        for link in _links(facet, own, f"{at}/{key}/identifiers", notes)
    )


def _links(facet: Json, own: DatasetName, at: str, notes: Notes) -> Iterator[Symlink]:
    for index, one in objects_in(facet.get("identifiers")):
        if not (name := dataset_name(one, f"{at}/{index}")):
            notes.add(f"{at}/{index}", "a symlink needs a namespace and a name; ignored")
        elif name != own:
            yield Symlink(name=name, type=text_of(one.get("type"))[:MAX_SYMLINK_TYPE])


def is_streaming(facets: Facets) -> bool:
    """jobType.processingType is STREAMING or SERVICE."""
    facet = alive(facets, "jobType")
    return facet is not None and text_of(facet.get("processingType")).upper() in ("STREAMING", "SERVICE")


def is_decommissioned(facets: Facets) -> bool:
    """whence_lifecycle.state is DECOMMISSIONED: a facet of Whence's own, for OpenLineage has none for a job's end."""
    facet = alive(facets, LIFECYCLE)
    return facet is not None and facet.get("state") == DECOMMISSIONED


def is_partial(facets: Facets) -> bool:
    """The producer says that the run's lineage is incomplete (reference rule 20)."""
    if "extractionError" in facets:
        return True
    logs = facets["debug"].get("logs") if "debug" in facets else None
    return type(logs) is list and any(type(one) is str and one.startswith("Incomplete lineage") for one in logs)


def containers(facets: Facets, at: str, notes: Notes) -> tuple[RunName | None, RunName | None]:
    """The parent run and the root run (parent facet)."""
    facet = facets.get("parent")
    if facet is None:
        return None, None
    root = facet.get("root")
    return _run_name(facet, f"{at}/parent", notes), _run_name(root, f"{at}/parent/root", notes) if root else None


def _run_name(reference: object, at: str, notes: Notes) -> RunName | None:
    if type(reference) is dict and type(run := reference.get("run")) is dict and type(reference.get("job")) is dict:
        run_id, job = uuid(run.get("runId")), job_named(reference["job"], f"{at}/job")
        if run_id and job:
            return RunName(run_id, job)
    notes.add(at, "needs a run with a UUID and a job with a namespace and a name; ignored")
    return None


def uuid(value: object) -> str | None:
    """The UUID in lower case, or None if it is none."""
    return value.lower() if type(value) is str and _UUID.fullmatch(value) else None


def dataset_name(one: Json, at: str) -> DatasetName | None:
    """The normalised name, or None if namespace or name is no non-empty text. Raises EventError if one holds U+0000."""
    namespace, name = one.get("namespace"), one.get("name")
    if type(namespace) is not str or type(name) is not str or not namespace or not name:
        return None
    try:
        return normalise(namespace, name)
    except ValueError as error:
        raise EventError(at, str(error)) from error


def job_named(one: Json, at: str) -> JobName | None:
    """The job's name, or None if namespace or name is no text, or the namespace empty. Raises EventError if one holds
    U+0000.
    """
    namespace, name = one.get("namespace"), one.get("name")
    if type(namespace) is not str or type(name) is not str or not namespace:
        return None
    try:
        return job_name(namespace, name)
    except ValueError as error:
        raise EventError(at, str(error)) from error


def _check_key(key: str, at: str) -> None:
    if "\0" in key:
        raise EventError(f"{at}{step(key)}", NO_NUL)
    if len(key.encode()) > MAX_KEY_BYTES:
        raise EventError(f"{at}{step(key)}", f"a facet key longer than {MAX_KEY_BYTES} bytes")


def _kind_of(value: object) -> str:
    return {str: "a text", list: "a list", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
