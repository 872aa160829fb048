"""Reader of dbt's `target/` directory: manifest.json (v7 to v12), catalog.json, run_results.json, sources.json.

Every version is read the same way: members that are missing or of another shape count as absent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from whence.capture.dbt.artifacts.project import Column, Freshness, Invocation, Node, Project, Result, Test
from whence.errors import ArtifactError
from whence.openlineage.json.times import parse_micros
from whence.openlineage.json.wire import Json

_RELATIONS = ("model", "seed", "snapshot", "source")


def read_project(target: Path) -> Project:
    """Read the project of a `target/` directory. Raises ArtifactError without a readable manifest.json."""
    manifest = _document(target / "manifest.json")
    if not _dict(manifest, "nodes"):
        raise ArtifactError(str(target / "manifest.json"), "it is missing, or no manifest; run `dbt build` first")
    results = _document(target / "run_results.json")
    return project(manifest, _document(target / "catalog.json"), results, _document(target / "sources.json"), target)


def project(manifest: Json, catalog: Json, results: Json, sources: Json, target: Path) -> Project:
    """The project in four artifacts; all but the manifest may be empty."""
    head = _dict(manifest, "metadata")
    compiled = {_text(entry, "unique_id"): _text(entry, "compiled_code") for entry in _dicts(results.get("results"))}
    entries = [*_dict(manifest, "nodes").values(), *_dict(manifest, "sources").values()]
    nodes = [
        _node(entry, catalog, compiled, target) for entry in _dicts(entries) if entry.get("resource_type") in _RELATIONS
    ]
    macros = _objects(manifest, "macros")
    tests = [_test(entry) for entry in _dicts(entries) if entry.get("resource_type") == "test"]
    return Project(
        name=_text(head, "project_name") or _package(nodes),
        adapter=_text(head, "adapter_type"),
        dbt_version=_text(head, "dbt_version"),
        time=_time(head.get("generated_at")),
        nodes={node.unique_id: replace(node, macros=_macros(node, manifest, macros)) for node in nodes},
        tests={test.unique_id: test for test in tests},
        exposures=_objects(manifest, "exposures"),
        semantic_models=_objects(manifest, "semantic_models"),
        metrics=_objects(manifest, "metrics"),
        owners={_text(member, "name"): _owner(member) for member in _objects(manifest, "groups").values()},
        invocation=_invocation(results),
        freshness=tuple(_freshness(sources)),
    )


def _document(path: Path) -> Json:
    """The object in a file; empty if the file is absent."""
    try:
        document = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from error
    return document if isinstance(document, dict) else {}


def _node(entry: Json, catalog: Json, compiled: Mapping[str, str], target: Path) -> Node:
    unique_id, kind = _text(entry, "unique_id"), _text(entry, "resource_type")
    config = _dict(entry, "config")
    catalog_entry = _dict(_dict(catalog, "sources" if kind == "source" else "nodes"), unique_id)
    table = _text(entry, "identifier") or _text(entry, "alias") or _text(entry, "name")
    parts = tuple(part for part in (_text(entry, "database"), _text(entry, "schema"), table) if part)
    return Node(
        unique_id=unique_id,
        kind=kind,
        name=_text(entry, "name"),
        package=_text(entry, "package_name"),
        parts=parts,
        relation=_text(entry, "relation_name"),
        path=_text(entry, "original_file_path"),
        description=_text(entry, "description"),
        materialized=_text(config, "materialized"),
        language=_text(entry, "language") or "sql",
        sql=_sql(entry, compiled.get(unique_id, ""), target),
        raw=_text(entry, "raw_code") or _text(entry, "raw_sql"),
        columns=tuple(_columns(_dict(entry, "columns"), _dict(catalog_entry, "columns"))),
        in_catalog=bool(catalog_entry),
        parents=_texts(_dict(entry, "depends_on").get("nodes")),
        tags=_texts(entry.get("tags")),
        meta=_dict(config, "meta") or _dict(entry, "meta"),
        group=_text(entry, "group"),
        config=config,
        contract=_contract(entry),
        checksum=_text(_dict(entry, "checksum"), "checksum"),
    )


def _contract(entry: Json) -> Json:
    """The contract of a model; one that is enforced with its columns, as the project declares them."""
    contract = _dict(entry, "contract")
    if contract.get("enforced") is not True:
        return contract
    declared = [one for one in _dict(entry, "columns").values() if isinstance(one, dict) and _text(one, "name")]
    return contract | {"columns": [_promised_column(one) for one in declared]}


def _promised_column(column: Json) -> Json:
    kinds = [kind for one in _dicts(column.get("constraints")) if (kind := _text(one, "type"))]
    members = {"name": _text(column, "name"), "dataType": _text(column, "data_type"), "constraints": kinds}
    return {key: value for key, value in members.items() if value}


def _macros(node: Node, manifest: Json, macros: Mapping[str, Json]) -> str:
    """The text of the macros of the node's own package that it uses, directly or through others."""
    used, remaining = (
        dict[str, None](),
        [*_texts(_dict(_dict(_dict(manifest, "nodes"), node.unique_id), "depends_on").get("macros"))],
    )
    while remaining:
        name = remaining.pop()
        macro = macros.get(name, {})
        if name not in used and _text(macro, "package_name") == node.package:
            used[name] = None
            remaining += _texts(_dict(macro, "depends_on").get("macros"))
    return "".join(_text(macros[name], "macro_sql") for name in sorted(used))


def _sql(entry: Json, result_sql: str, target: Path) -> str:
    """The compiled SQL, from the manifest, the results or the file; later commands drop it from the first two."""
    sql = _text(entry, "compiled_code") or _text(entry, "compiled_sql") or result_sql
    if sql or _text(entry, "resource_type") not in ("model", "snapshot"):
        return sql
    base = target / "compiled" / _text(entry, "package_name")
    for path in (base / _text(entry, "original_file_path"), base / "models" / _text(entry, "path")):
        if path.suffix == ".sql" and path.is_file() and path.resolve().is_relative_to(target.resolve()):
            return path.read_text("utf-8", errors="replace")
    return ""


def _columns(declared: Json, actual: Json) -> Iterator[Column]:
    """The catalog's columns in their order, with the manifest's descriptions; without a catalog, the manifest's
    columns.
    """
    described = {
        name.lower(): column_entry for name, column_entry in declared.items() if isinstance(column_entry, dict)
    }
    if not actual:
        yield from (_column(_text(value, "name"), _text(value, "data_type"), value) for value in described.values())
        return
    for entry in sorted(
        _dicts(list(actual.values())), key=lambda column_entry: _number(column_entry.get("index")) or 0
    ):
        name = _text(entry, "name")
        yield _column(name, _text(entry, "type"), described.get(name.lower(), {}))


def _column(name: str, type_: str, entry: Json) -> Column:
    config = _dict(entry, "config")
    return Column(
        name=name,
        type=type_,
        description=_text(entry, "description"),
        tags=_texts(entry.get("tags")) or _texts(config.get("tags")),
        meta=_dict(entry, "meta") or _dict(config, "meta"),
    )


def _test(entry: Json) -> Test:
    config, generic = _dict(entry, "config"), _dict(entry, "test_metadata")
    params = {key: value for key, value in _dict(generic, "kwargs").items() if key != "model"}
    parents = _texts(_dict(entry, "depends_on").get("nodes"))
    return Test(
        unique_id=_text(entry, "unique_id"),
        name=_text(generic, "name") or _text(entry, "name"),
        label=_text(entry, "name"),
        path=_text(entry, "original_file_path"),
        node=_text(entry, "attached_node") or (parents[-1] if parents else ""),
        parents=parents,
        column=_text(entry, "column_name") or _text(params, "column_name"),
        severity=(_text(config, "severity") or "error").lower(),
        is_generic=bool(generic),
        params=params,
        config=config,
        sql=_text(entry, "compiled_code") or _text(entry, "compiled_sql") or _text(entry, "raw_code"),
        description=_text(entry, "description"),
    )


def _invocation(results: Json) -> Invocation | None:
    head = _dict(results, "metadata")
    if not head:
        return None
    ended = _time(head.get("generated_at"))
    elapsed = results.get("elapsed_time")
    lasted = int(elapsed * 1_000_000) if isinstance(elapsed, int | float) else 0
    return Invocation(
        id=_text(head, "invocation_id"),
        command=_text(_dict(results, "args"), "which"),
        target=_text(_dict(results, "args"), "target"),
        started=_time(head.get("invocation_started_at")) or ended - lasted,
        ended=ended,
        results=tuple(_result(entry, ended) for entry in _dicts(results.get("results"))),
    )


def _result(entry: Json, default_time: int) -> Result:
    timings = {_text(part, "name"): part for part in _dicts(entry.get("timing"))}
    timing = timings.get("execute") or timings.get("compile") or {}
    response = _dict(entry, "adapter_response")
    started, ended = _time(timing.get("started_at")), _time(timing.get("completed_at"))
    return Result(
        unique_id=_text(entry, "unique_id"),
        status=_text(entry, "status"),
        started=started or ended or default_time,
        ended=ended or started or default_time,
        message=_text(entry, "message"),
        failures=_number(entry.get("failures")),
        rows=_number(response.get("rows_affected")),
        query_id=_text(response, "query_id") or _text(response, "job_id"),
    )


def _freshness(sources: Json) -> Iterator[Freshness]:
    invocation = _text(_dict(sources, "metadata"), "invocation_id")
    for entry in _dicts(sources.get("results")):
        loaded, checked = _time(entry.get("max_loaded_at")), _time(entry.get("snapshotted_at"))
        if loaded and checked:
            yield Freshness(
                unique_id=_text(entry, "unique_id"),
                status=_text(entry, "status"),
                loaded=loaded,
                checked=checked,
                invocation=invocation,
                threshold=_dict(entry, "criteria"),
            )


def _package(nodes: list[Node]) -> str:
    """The project's name if an old manifest lacks it: the package of the first model."""
    return next((node.package for node in nodes if node.kind == "model"), "dbt")


def _owner(group: Json) -> str:
    owner = _dict(group, "owner")
    return _text(owner, "email") or _text(owner, "name")


def _time(value: Any) -> int:
    """Microseconds since 1970 UTC; 0 for other values."""
    try:
        return parse_micros(value)[0] if isinstance(value, str) else 0
    except ValueError:
        return 0


def _dict(entry: Any, key: str) -> Json:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, dict) else {}


def _objects(entry: Json, key: str) -> dict[str, Json]:
    """The members of an object that are objects."""
    return {name: value for name, value in _dict(entry, key).items() if isinstance(value, dict)}


def _text(entry: Json, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    return tuple(text for text in values if isinstance(text, str)) if isinstance(values, list) else ()


def _dicts(value: Any) -> list[Json]:
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
