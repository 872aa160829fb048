"""Facets: stored as they are. Some are also read: schema, symlinks, jobType, parent, extractionError, debug."""

import re
from collections.abc import Iterator
from functools import lru_cache
from uuid import NAMESPACE_URL, uuid3

from whence.errors import EventError
from whence.model.events import Facet, SchemaField, Symlink
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.wire import Json, decode, encode_canonical, members_of, objects_in, pointer_step, text_of
from whence.openlineage.names.naming import NO_NUL, normalise, normalise_job

LIFECYCLE, DECOMMISSIONED = "whence_lifecycle", "DECOMMISSIONED"
SQL_LINEAGE, SQL_COMPARISON = "whence_sqlLineage", "whence_sqlComparison"
"""Job facets that only the pipeline writes: how it read the job's SQL, and where that contradicts the producer."""
TIER, CONTRACT = "whence_tier", "whence_contract"
ALIASES, CUT, JOINED = "whence_aliases", "whence:cut", "whence:joined"
"""A dataset facet by which a person asserts that another name is, or is not, an alias of this dataset (state.md)."""

MAX_KEY_BYTES = 1000
MAX_SYMLINK_TYPE = 200
_CACHED_FACET = 16_384

Facets = dict[str, Json]

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def read_facets(entity: Json, member: str, at: str, notes: Notes) -> Facets:
    """The facets under `entity[place]` that are objects, ordered by key. Raises EventError for invalid keys."""
    facets = entity.get(member)
    if type(facets) is not dict:
        if facets is not None:
            notes.add(f"{at}/{member}", "is not an object; ignored")
        return {}
    valid: Facets = {}
    for key, facet in members_of(facets):
        if "\0" in key or len(key) * 4 > MAX_KEY_BYTES:
            _check_key(key, f"{at}/{member}")
        if type(facet) is not dict:
            notes.add(f"{at}/{member}{pointer_step(key)}", f"a facet must be an object, not {_kind_of(facet)}; dropped")
            continue
        if "_schemaURL" not in facet:
            notes.add(f"{at}/{member}{pointer_step(key)}", "no _schemaURL")
        valid[key] = facet
    return valid


def encode_static_facets(facets: Facets) -> tuple[Facet, ...]:
    """Encode job and dataset facets, which hold until they are replaced or deleted."""
    return tuple(
        [Facet(key=key, payload=_encode_payload(facet), deleted=is_deleted(facet)) for key, facet in facets.items()]
    )


def encode_run_facets(facets: Facets, at: str, notes: Notes) -> tuple[Facet, ...]:
    """Encode run, input and output facets, on which `_deleted` has no meaning (reference rule 24)."""
    for key, facet in facets.items():
        if "_deleted" in facet and is_deleted(facet):
            notes.add(f"{at}{pointer_step(key)}", "_deleted is for job and dataset facets only; ignored")
    return tuple([Facet(key=key, payload=_encode_payload(one)) for key, one in facets.items()])


def _encode_payload(facet: Json) -> str:
    return encode_canonical(facet).decode()


def is_deleted(facet: Json) -> bool:
    """Whether the facet is a deletion marker."""
    return facet.get("_deleted") is True


def active_facet(facets: Facets, key: str) -> Json | None:
    """The facet with this key, or None if it is absent or deleted."""
    facet = facets.get(key)
    return None if facet is None or is_deleted(facet) else facet


def read_schema_fields(facets: tuple[Facet, ...], at: str, notes: Notes) -> tuple[SchemaField, ...]:
    """The schema facet's fields, nested ones dotted after their parent. `at` is the dataset's JSON pointer."""
    schema = next((facet for facet in facets if facet.key == "schema" and not facet.deleted), None)
    if schema is None:
        return ()
    # A dataset has the same schema in most events, so most facets have been read before.
    read = _parse_schema_cached if len(schema.payload) <= _CACHED_FACET else _parse_schema
    try:
        fields, warnings = read(schema.payload)
    except EventError as error:
        raise EventError(f"{at}/facets/schema{error.pointer}", error.reason) from error
    for pointer, text in warnings:
        notes.add(f"{at}/facets/schema{pointer}", text)
    return fields


def parse_schema_fields(payload: str) -> tuple[SchemaField, ...]:
    """Parse the fields in the text of an accepted schema facet, nested ones dotted."""
    return (_parse_schema_cached if len(payload) <= _CACHED_FACET else _parse_schema)(payload)[0]


def _parse_schema(payload: str) -> tuple[tuple[SchemaField, ...], tuple[Note, ...]]:
    fields: list[SchemaField] = []
    notes = Notes()
    _flatten_fields(decode(payload.encode()).get("fields"), "", "/fields", fields, notes)
    return tuple(fields), notes.taken()


_parse_schema_cached = lru_cache(maxsize=4_096)(_parse_schema)


def _flatten_fields(values: object, prefix: str, at: str, fields: list[SchemaField], notes: Notes) -> None:
    for index, value in objects_in(values):
        name = value.get("name")
        if type(name) is not str or not name:
            notes.add(f"{at}/{index}/name", "a field needs a name; ignored")
            continue
        if "\0" in name:
            raise EventError(f"{at}/{index}/name", NO_NUL)
        described = {"type": text_of(value.get("type")), "description": text_of(value.get("description"))}
        fields.append(SchemaField(name=prefix + name, **described))
        if "fields" in value:
            _flatten_fields(value["fields"], f"{prefix}{name}.", f"{at}/{index}/fields", fields, notes)


def read_symlinks(facets: Facets, own: DatasetName, at: str, notes: Notes) -> tuple[Symlink, ...]:
    """The dataset's other names: from its symlinks facet, and as asserted by people (ALIASES)."""
    return tuple(
        link
        for key in ("symlinks", ALIASES)
        if (facet := active_facet(facets, key)) is not None
        for link in _read_links(facet, own, f"{at}/{key}/identifiers", notes)
    )


def _read_links(facet: Json, own: DatasetName, at: str, notes: Notes) -> Iterator[Symlink]:
    for index, identifier in objects_in(facet.get("identifiers")):
        if not (name := read_dataset_name(identifier, f"{at}/{index}")):
            notes.add(f"{at}/{index}", "a symlink needs a namespace and a name; ignored")
        elif name != own:
            yield Symlink(name=name, type=text_of(identifier.get("type"))[:MAX_SYMLINK_TYPE])


def is_streaming(facets: Facets) -> bool:
    """Whether jobType.processingType is STREAMING or SERVICE."""
    facet = active_facet(facets, "jobType")
    return facet is not None and text_of(facet.get("processingType")).upper() in ("STREAMING", "SERVICE")


def is_decommissioned(facets: Facets) -> bool:
    """Whether whence_lifecycle.state is DECOMMISSIONED: OpenLineage has no facet for the end of a job."""
    facet = active_facet(facets, LIFECYCLE)
    return facet is not None and facet.get("state") == DECOMMISSIONED


def is_partial(facets: Facets) -> bool:
    """Whether the producer reports that the run's lineage is incomplete (reference rule 20)."""
    if "extractionError" in facets:
        return True
    logs = facets["debug"].get("logs") if "debug" in facets else None
    return type(logs) is list and any(type(entry) is str and entry.startswith("Incomplete lineage") for entry in logs)


def read_parents(facets: Facets, own: JobName, at: str, notes: Notes) -> tuple[RunName | None, RunName | None]:
    """The parent run and the root run in the parent facet of a run of the job `own`."""
    facet = facets.get("parent")
    if facet is None:
        return None, None
    root = facet.get("root")
    parent = _read_run_name(facet, own, f"{at}/parent", notes)
    return parent, _read_run_name(root, own, f"{at}/parent/root", notes) if root else None


def _read_run_name(reference: object, own: JobName, at: str, notes: Notes) -> RunName | None:
    if type(reference) is dict and type(run := reference.get("run")) is dict and type(reference.get("job")) is dict:
        raw_id, job = run.get("runId"), read_job_name(reference["job"], f"{at}/job")
        if type(raw_id) is str and raw_id and job:
            run_id = parse_uuid(raw_id)
            return RunName(run_id, job) if run_id else _derive_run_name(raw_id, job, own, at, notes)
    notes.add(at, "needs a run with an id and a job with a namespace and a name; ignored")
    return None


def _derive_run_name(raw_id: str, job: JobName, own: JobName, at: str, notes: Notes) -> RunName:
    """The name of a run whose id is not a UUID, with the UUID that Marquez derives for it.

    Old Airflow providers name DAG runs so, and the task's own job instead of the DAG's.
    """
    dag = job.name.rpartition(".")[0] if "." in job.name else job.name
    run_id = str(uuid3(NAMESPACE_URL, f"{dag}.{raw_id}"))
    notes.add(f"{at}/run/runId", f"{raw_id[:40]!r} is no UUID; known as {run_id}")
    return RunName(run_id, JobName(job.namespace, dag) if job == own else job)


def parse_uuid(value: object) -> str | None:
    """The UUID in lower case, or None if the value is not a UUID."""
    return value.lower() if type(value) is str and _UUID.fullmatch(value) else None


def read_dataset_name(entity: Json, at: str) -> DatasetName | None:
    """The normalised name, or None if namespace or name is not a non-empty text. Raises EventError for U+0000."""
    namespace, name = entity.get("namespace"), entity.get("name")
    if type(namespace) is not str or type(name) is not str or not namespace or not name:
        return None
    try:
        return normalise(namespace, name)
    except ValueError as error:
        raise EventError(at, str(error)) from error


def read_job_name(entity: Json, at: str) -> JobName | None:
    """The job's name, or None if namespace or name is not a text, or the namespace is empty.

    Raises EventError for U+0000.
    """
    namespace, name = entity.get("namespace"), entity.get("name")
    if type(namespace) is not str or type(name) is not str or not namespace:
        return None
    try:
        return normalise_job(namespace, name)
    except ValueError as error:
        raise EventError(at, str(error)) from error


def _check_key(key: str, at: str) -> None:
    if "\0" in key:
        raise EventError(f"{at}{pointer_step(key)}", NO_NUL)
    if len(key.encode()) > MAX_KEY_BYTES:
        raise EventError(f"{at}{pointer_step(key)}", f"a facet key longer than {MAX_KEY_BYTES} bytes")


def _kind_of(value: object) -> str:
    return {str: "a text", list: "a list", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
