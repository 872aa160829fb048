"""A dbt project as values: what its artifacts say, whatever version of dbt wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whence.openlineage.wire import Json

EPHEMERAL = "ephemeral"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the warehouse has it (catalog.json) and as the project describes it (manifest.json)."""

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
    """The table's name as SQL has it, quoted; empty of an ephemeral model."""
    path: str = ""
    description: str = ""
    materialized: str = ""
    language: str = "sql"
    sql: str = ""
    """Compiled; empty if it was not compiled."""
    raw: str = ""
    """As its author wrote it, with Jinja."""
    macros: str = ""
    """The text of the project's own macros that it uses."""
    is_rendered: bool = False
    """Its SQL was not compiled by dbt but rendered here (`rendering.py`)."""
    unknown: str = ""
    """What in its raw text could not be rendered."""
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
        """It has no table: its SQL becomes a part of the models that use it."""
        return self.materialized == EPHEMERAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A data test, and the node that it is about."""

    unique_id: str
    name: str
    node: str
    parents: tuple[str, ...]
    column: str = ""
    severity: str = "error"
    is_generic: bool = False
    params: Json = field(default_factory=dict)
    config: Json = field(default_factory=dict)
    sql: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a node in an invocation; times in microseconds since 1970 UTC."""

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
    """One `dbt` command that ran, with its results; empty if the artifacts tell of none."""

    id: str
    command: str
    started: int
    ended: int
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How old a source was when it was looked at; times in microseconds since 1970 UTC."""

    unique_id: str
    status: str
    loaded: int
    checked: int
    invocation: str
    threshold: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All of it, by unique id. `time`: when the manifest was written, microseconds since 1970 UTC."""

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
    """Of groups: the owner's address or name."""
    invocation: Invocation | None = None
    freshness: tuple[Freshness, ...] = ()
