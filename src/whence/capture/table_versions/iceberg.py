"""Iceberg tables: the snapshots and schemas in the newest metadata file of a table (iceberg.apache.org/spec)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whence.capture.table_versions.records import TableColumns, TableVersion, moment_of, run_of_commit
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.events.datasets import Dataset, Field
from whence_client.redaction.credentials import strip_credentials

_NUMBER = re.compile(r"v?(\d+)")
_SUFFIX = ".metadata.json"
_ROWS = "added-records"
_COMPACTION = "replace"


def read_metadata(uri: str) -> Json:
    """The newest metadata of the table in a folder, or the metadata file itself. Raises SourceError."""
    try:
        found: Any = json.loads(_read_newest(uri))
    except (OSError, ValueError, ImportError) as error:
        raise SourceError(strip_credentials(uri), f"{type(error).__name__}: {error}") from None
    if not isinstance(found, dict) or "format-version" not in found:
        raise SourceError(strip_credentials(uri), "this is no metadata of an Iceberg table")
    return found


def read_versions(metadata: Json, table: Dataset, passed: frozenset[str]) -> Iterator[TableVersion]:
    """The snapshots that were not passed, in the order of their times: those of all branches."""
    snapshots = sorted(metadata.get("snapshots") or (), key=lambda one: (one["timestamp-ms"], one["snapshot-id"]))
    for one in snapshots:
        if str(one["snapshot-id"]) in passed:
            continue
        summary: Json = one.get("summary") or {}
        parent = one.get("parent-snapshot-id")
        yield TableVersion(
            table=table,
            version=str(one["snapshot-id"]),
            before="" if parent in (None, -1) else str(parent),
            at=moment_of(int(one["timestamp-ms"])),
            operation=str(summary.get("operation") or ""),
            has_new_data=summary.get("operation") != _COMPACTION,
            user=str(summary.get("user") or ""),
            engine=str(summary.get("engine-name") or summary.get("spark.app.id") or ""),
            rows=_rows(summary),
            run=run_of_commit(summary),
        )


def read_columns(metadata: Json, table: Dataset) -> TableColumns:
    """The columns of a table today. Iceberg keeps the id of a column when it is renamed."""
    schemas = {int(one.get("schema-id", 0)): one for one in metadata.get("schemas") or [metadata["schema"]]}
    current = schemas[int(metadata.get("current-schema-id", max(schemas)))]
    names: dict[int, list[str]] = {}
    order = [one for number, one in sorted(schemas.items()) if one is not current]
    for schema in (*order, current):
        for id_, name in _named_ids(schema["fields"]):
            if names.setdefault(id_, [name])[-1] != name:
                names[id_].append(name)
    today = dict(_named_ids(current["fields"]))
    renames = ((old, new) for id_ in sorted(today) for old, new in zip(names[id_], names[id_][1:], strict=False))
    former = {name for id_, known in names.items() if id_ not in today for name in known}
    return TableColumns(
        table=table,
        at=moment_of(int(metadata.get("last-updated-ms") or 0)),
        fields=tuple(map(_field, current["fields"])),
        renames=tuple(renames),
        replaced=tuple(sorted(former & set(today.values()))),
    )


def _named_ids(fields: list[Json], prefix: str = "") -> Iterator[tuple[int, str]]:
    for one in fields:
        name = f"{prefix}{one['name']}"
        yield int(one["id"]), name
        kind = one["type"]
        if isinstance(kind, dict) and kind.get("type") == "struct":
            yield from _named_ids(kind["fields"], f"{name}.")


def _field(field: Json) -> Field:
    kind = field["type"]
    if isinstance(kind, dict) and kind.get("type") == "struct":
        return Field(field["name"], "struct", str(field.get("doc") or ""), tuple(map(_field, kind["fields"])))
    return Field(
        field["name"], kind if isinstance(kind, str) else str(kind.get("type", "")), str(field.get("doc") or "")
    )


def _rows(summary: Json) -> int | None:
    count = str(summary.get(_ROWS, ""))
    return int(count) if count.isdecimal() else None


def _read_newest(uri: str) -> str:
    if "://" in uri and not uri.startswith("file://"):
        return _read_remote(uri)
    place = Path(uri.removeprefix("file://"))
    if place.is_file():
        return place.read_text("utf-8")
    files = [one for one in (place / "metadata").iterdir() if one.name.endswith(_SUFFIX)]
    return max(files, key=lambda one: (_number(one.name), one.name)).read_text("utf-8")


def _read_remote(uri: str) -> str:
    from pyarrow.fs import FileSelector, FileSystem

    system, place = FileSystem.from_uri(uri)
    if not place.endswith(_SUFFIX):
        found = system.get_file_info(FileSelector(f"{place.rstrip('/')}/metadata"))
        place = max((one.path for one in found if one.path.endswith(_SUFFIX)), key=_order)
    with system.open_input_stream(place) as stream:
        return bytes(stream.read()).decode("utf-8")


def _order(path: str) -> tuple[int, str]:
    name = path.rpartition("/")[2]
    return _number(name), name


def _number(name: str) -> int:
    found = _NUMBER.match(name)
    return int(found[1]) if found else -1
