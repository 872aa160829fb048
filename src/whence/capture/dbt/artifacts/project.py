"""A dbt project as values: the content of its artifacts, independent of the dbt version."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whence.openlineage.json.wire import Json

EPHEMERAL = "ephemeral"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the warehouse (catalog.json) with the project's description (manifest.json)."""

    name: str
    type: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    meta: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A model, seed, snapshot or source. `kind` is dbt's resource_type."""

    unique_id: str
    kind: str
    name: str
    package: str
    parts: tuple[str, ...]
    """Database, schema and table as the manifest spells them, without those that are not set."""
    relation: str = ""
    """The quoted name of the table in SQL; empty for an ephemeral model."""
    path: str = ""
    description: str = ""
    materialized: str = ""
    language: str = "sql"
    sql: str = ""
    """Compiled; empty if it was not compiled."""
    raw: str = ""
    """The text as its author wrote it, with Jinja."""
    macros: str = ""
    """The text of the project's own macros that it uses."""
    checksum: str = ""
    """Of a seed: the hash of its file."""
    is_rendered: bool = False
    """Its SQL was rendered here (`rendering.py`), not compiled by dbt."""
    unknown: str = ""
    """The part of its raw text that could not be rendered."""
    columns: tuple[Column, ...] = ()
    in_catalog: bool = False
    parents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    meta: Json = field(default_factory=dict)
    group: str = ""
    config: Json = field(default_factory=dict)
    contract: Json = field(default_factory=dict)

    @property
    def is_ephemeral(self) -> bool:
        """Whether it has no table: its SQL becomes a part of the models that use it."""
        return self.materialized == EPHEMERAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A data test, and the node that it tests. `name`: of its kind, as `not_null`; `label`: its own."""

    unique_id: str
    name: str
    node: str
    parents: tuple[str, ...]
    label: str = ""
    path: str = ""
    column: str = ""
    severity: str = "error"
    is_generic: bool = False
    params: Json = field(default_factory=dict)
    config: Json = field(default_factory=dict)
    sql: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a node in an invocation; times in microseconds since 1970 UTC."""

    unique_id: str
    status: str
    started: int
    ended: int
    message: str = ""
    failures: int | None = None
    rows: int | None = None
    query_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One executed `dbt` command, with its results; empty if there is none. `target`: that of `--target`."""

    id: str
    command: str
    started: int
    ended: int
    results: tuple[Result, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """The age of a source when it was checked; times in microseconds since 1970 UTC."""

    unique_id: str
    status: str
    loaded: int
    checked: int
    invocation: str
    threshold: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project, its members by unique id. `time`: when the manifest was written, microseconds since 1970 UTC."""

    name: str
    adapter: str
    dbt_version: str
    time: int
    nodes: Mapping[str, Node]
    tests: Mapping[str, Test]
    exposures: Mapping[str, Json]
    semantic_models: Mapping[str, Json]
    metrics: Mapping[str, Json]
    owners: Mapping[str, str]
    """The owners of groups: address or name."""
    invocation: Invocation | None = None
    freshness: tuple[Freshness, ...] = ()
