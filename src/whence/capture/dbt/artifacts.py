"""Reading dbt's `target/` directory: manifest.json (v7 to v12), catalog.json, run_results.json, sources.json.

Every version is read the same way: what is there counts, what is missing or of another shape is taken as not said.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from whence.capture.dbt.project import Column, Freshness, Invocation, Node, Project, Result, Test
from whence.errors import ArtifactError
from whence.openlineage.times import micros
from whence.openlineage.wire import Json

_RELATIONS = ("model", "seed", "snapshot", "source")


def read_project(target: Path) -> Project:
    """The project of a `target/` directory. Raises ArtifactError if there is no manifest.json that can be read."""
    manifest = _document(target / "manifest.json")
    if not _dict(manifest, "nodes"):
        raise ArtifactError(str(target / "manifest.json"), "it is missing, or no manifest; run `dbt build` first")
    results = _document(target / "run_results.json")
    return project(manifest, _document(target / "catalog.json"), results, _document(target / "sources.json"), target)


def project(manifest: Json, catalog: Json, results: Json, sources: Json, target: Path) -> Project:
    """The project that four artifacts tell of; all but the manifest may be empty."""
    head = _dict(manifest, "metadata")
    compiled = {_text(one, "unique_id"): _text(one, "compiled_code") for one in _dicts(results.get("results"))}
    found = [*_dict(manifest, "nodes").values(), *_dict(manifest, "sources").values()]
    nodes = [_node(one, catalog, compiled, target) for one in _dicts(found) if one.get("resource_type") in _RELATIONS]
    macros = _objects(manifest, "macros")
    tests = [_test(one) for one in _dicts(found) if one.get("resource_type") == "test"]
    return Project(
        name=_text(head, "project_name") or _package(nodes),
        adapter=_text(head, "adapter_type"),
        dbt_version=_text(head, "dbt_version"),
        time=_time(head.get("generated_at")),
        nodes={one.unique_id: replace(one, macros=_macros(one, manifest, macros)) for one in nodes},
        tests={one.unique_id: one for one in tests},
        exposures=_objects(manifest, "exposures"),
        semantic_models=_objects(manifest, "semantic_models"),
        metrics=_objects(manifest, "metrics"),
        owners={_text(one, "name"): _owner(one) for one in _objects(manifest, "groups").values()},
        invocation=_invocation(results),
        freshness=tuple(_freshness(sources)),
    )


def _document(path: Path) -> Json:
    """The object in a file; empty if there is none."""
    try:
        document = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from error
    return document if isinstance(document, dict) else {}


def _node(one: Json, catalog: Json, compiled: Mapping[str, str], target: Path) -> Node:
    unique_id, kind = _text(one, "unique_id"), _text(one, "resource_type")
    config = _dict(one, "config")
    described = _dict(_dict(catalog, "sources" if kind == "source" else "nodes"), unique_id)
    table = _text(one, "identifier") or _text(one, "alias") or _text(one, "name")
    parts = tuple(part for part in (_text(one, "database"), _text(one, "schema"), table) if part)
    return Node(
        unique_id=unique_id,
        kind=kind,
        name=_text(one, "name"),
        package=_text(one, "package_name"),
        parts=parts,
        relation=_text(one, "relation_name"),
        path=_text(one, "original_file_path"),
        description=_text(one, "description"),
        materialized=_text(config, "materialized"),
        language=_text(one, "language") or "sql",
        sql=_sql(one, compiled.get(unique_id, ""), target),
        raw=_text(one, "raw_code") or _text(one, "raw_sql"),
        columns=tuple(_columns(_dict(one, "columns"), _dict(described, "columns"))),
        in_catalog=bool(described),
        parents=_texts(_dict(one, "depends_on").get("nodes")),
        tags=_texts(one.get("tags")),
        meta=_dict(config, "meta") or _dict(one, "meta"),
        group=_text(one, "group"),
        config=config,
        contract=_dict(one, "contract"),
    )


def _macros(node: Node, manifest: Json, macros: Mapping[str, Json]) -> str:
    """The macros of the node's own package that it uses, and those that they use."""
    used, left = (
        dict[str, None](),
        [*_texts(_dict(_dict(_dict(manifest, "nodes"), node.unique_id), "depends_on").get("macros"))],
    )
    while left:
        name = left.pop()
        one = macros.get(name, {})
        if name not in used and _text(one, "package_name") == node.package:
            used[name] = None
            left += _texts(_dict(one, "depends_on").get("macros"))
    return "".join(_text(macros[name], "macro_sql") for name in sorted(used))


def _sql(one: Json, ran: str, target: Path) -> str:
    """Compiled SQL: of the manifest, the results or the file; later commands drop it from the former two."""
    found = _text(one, "compiled_code") or _text(one, "compiled_sql") or ran
    if found or _text(one, "resource_type") not in ("model", "snapshot"):
        return found
    base = target / "compiled" / _text(one, "package_name")
    for path in (base / _text(one, "original_file_path"), base / "models" / _text(one, "path")):
        if path.suffix == ".sql" and path.is_file() and path.resolve().is_relative_to(target.resolve()):
            return path.read_text("utf-8", errors="replace")
    return ""


def _columns(declared: Json, actual: Json) -> Iterator[Column]:
    """The catalog's columns in their order with what the manifest says of them; without a catalog the manifest's."""
    said = {name.lower(): one for name, one in declared.items() if isinstance(one, dict)}
    if not actual:
        yield from (_column(_text(one, "name"), _text(one, "data_type"), one) for one in said.values())
        return
    for one in sorted(_dicts(list(actual.values())), key=lambda one: _number(one.get("index")) or 0):
        name = _text(one, "name")
        yield _column(name, _text(one, "type"), said.get(name.lower(), {}))


def _column(name: str, type_: str, said: Json) -> Column:
    config = _dict(said, "config")
    return Column(
        name=name,
        type=type_,
        description=_text(said, "description"),
        tags=_texts(said.get("tags")) or _texts(config.get("tags")),
        meta=_dict(said, "meta") or _dict(config, "meta"),
    )


def _test(one: Json) -> Test:
    config, generic = _dict(one, "config"), _dict(one, "test_metadata")
    params = {key: value for key, value in _dict(generic, "kwargs").items() if key != "model"}
    parents = _texts(_dict(one, "depends_on").get("nodes"))
    return Test(
        unique_id=_text(one, "unique_id"),
        name=_text(generic, "name") or _text(one, "name"),
        node=_text(one, "attached_node") or (parents[-1] if parents else ""),
        parents=parents,
        column=_text(one, "column_name") or _text(params, "column_name"),
        severity=(_text(config, "severity") or "error").lower(),
        is_generic=bool(generic),
        params=params,
        config=config,
        sql=_text(one, "compiled_code") or _text(one, "compiled_sql") or _text(one, "raw_code"),
        description=_text(one, "description"),
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
        started=_time(head.get("invocation_started_at")) or ended - lasted,
        ended=ended,
        results=tuple(_result(one, ended) for one in _dicts(results.get("results"))),
    )


def _result(one: Json, otherwise: int) -> Result:
    timings = {_text(part, "name"): part for part in _dicts(one.get("timing"))}
    timing = timings.get("execute") or timings.get("compile") or {}
    said = _dict(one, "adapter_response")
    started, ended = _time(timing.get("started_at")), _time(timing.get("completed_at"))
    return Result(
        unique_id=_text(one, "unique_id"),
        status=_text(one, "status"),
        started=started or ended or otherwise,
        ended=ended or started or otherwise,
        message=_text(one, "message"),
        failures=_number(one.get("failures")),
        rows=_number(said.get("rows_affected")),
        query_id=_text(said, "query_id") or _text(said, "job_id"),
    )


def _freshness(sources: Json) -> Iterator[Freshness]:
    invocation = _text(_dict(sources, "metadata"), "invocation_id")
    for one in _dicts(sources.get("results")):
        loaded, checked = _time(one.get("max_loaded_at")), _time(one.get("snapshotted_at"))
        if loaded and checked:
            yield Freshness(
                unique_id=_text(one, "unique_id"),
                status=_text(one, "status"),
                loaded=loaded,
                checked=checked,
                invocation=invocation,
                threshold=_dict(one, "criteria"),
            )


def _package(nodes: list[Node]) -> str:
    """The project's name, where an old manifest does not say it: that of the first model."""
    return next((one.package for one in nodes if one.kind == "model"), "dbt")


def _owner(group: Json) -> str:
    owner = _dict(group, "owner")
    return _text(owner, "email") or _text(owner, "name")


def _time(value: Any) -> int:
    """Microseconds since 1970 UTC; 0 if the value is no time."""
    try:
        return micros(value)[0] if isinstance(value, str) else 0
    except ValueError:
        return 0


def _dict(one: Any, key: str) -> Json:
    value = one.get(key) if isinstance(one, dict) else None
    return value if isinstance(value, dict) else {}


def _objects(one: Json, key: str) -> dict[str, Json]:
    """The members of an object that are objects."""
    return {name: value for name, value in _dict(one, key).items() if isinstance(value, dict)}


def _text(one: Json, key: str) -> str:
    value = one.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    some = [value] if isinstance(value, str) else value
    return tuple(one for one in some if isinstance(one, str)) if isinstance(some, list) else ()


def _dicts(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
