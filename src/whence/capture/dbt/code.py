"""A dbt project as code, for comparing two versions of it (docs/explanation/fingerprint.md)."""

import json
from collections.abc import Iterator, Mapping

from whence.capture.dbt.artifacts.columns import fold_columns
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.ephemeral import PREFIX, split_ephemeral
from whence.capture.dbt.artifacts.names import Names, names
from whence.capture.dbt.artifacts.project import Node, Project
from whence.capture.dbt.compiled.declared_keys import declared_keys
from whence.capture.dbt.compiled.uncompiled_models import render_uncompiled
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode

_SETTINGS = (
    "unique_key",
    "incremental_strategy",
    "incremental_predicates",
    "merge_update_columns",
    "merge_exclude_columns",
    "strategy",
    "updated_at",
    "check_cols",
    "invalidate_hard_deletes",
    "hard_deletes",
    "pre-hook",
    "post-hook",
    "sql_header",
)
"""Settings that decide on the rows of a table, beside its query."""


def project_code(project: Project, warehouse: Warehouse) -> ProjectCode:
    """The code of a project: compiled SQL, else rendered, and what decides on data beside it."""
    project = fold_columns(render_uncompiled(project), warehouse.dialect)
    datasets = names(project, warehouse, "dbt")
    codes = [
        _code(node, project, datasets)
        for node in project.nodes.values()
        if node.kind != "source" and (node.relation or node.is_ephemeral)
    ]
    return ProjectCode(
        dialect=warehouse.dialect,
        namespace=warehouse.namespace,
        codes=tuple(codes),
        columns=dict(_columns(project)),
        keys=declared_keys(project, warehouse.dialect),
        types=dict(_types(project)),
    )


def _types(project: Project) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The types of the columns of sources, as the warehouse has them."""
    for node in project.nodes.values():
        if node.kind == "source" and node.relation and node.in_catalog:
            yield node.relation, {column.name: column.type for column in node.columns if column.type}


def _columns(project: Project) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns of tables whose columns are all known: from the warehouse, or from an enforced contract."""
    for node in project.nodes.values():
        is_known = node.in_catalog or node.contract.get("enforced") is True
        if node.relation and node.columns and is_known:
            yield node.relation, tuple(column.name for column in node.columns)


def _code(node: Node, project: Project, datasets: Names) -> Code:
    parts = split_ephemeral(node.sql)
    is_sql = node.kind in ("model", "snapshot") and node.language == "sql"
    return Code(
        file=node.path,
        sql=parts.own if is_sql else "",
        content=_content(node, parts.own),
        kind="sql" if is_sql else "seed" if node.kind == "seed" else "python",
        builds=datasets.dataset(node),
        table=_table(node),
        parents=tuple(_table(project.nodes[name]) for name in node.parents if name in project.nodes),
        materialized="snapshot" if node.kind == "snapshot" else node.materialized,
        on_schema_change=str(node.config.get("on_schema_change") or "ignore"),
        columns=tuple(column.name for column in node.columns),
        settings={name: _json(node.config[name]) for name in _SETTINGS if node.config.get(name)},
        metadata=_metadata(node),
        source=node.raw,
    )


def _content(node: Node, sql: str) -> str:
    """What identifies the data that a node makes. A model without SQL counts as its text and its macros."""
    if node.kind == "seed":
        return node.checksum or node.raw
    if node.language != "sql":
        return f"{node.raw}\0{node.macros}"
    return sql or f"{node.raw}\0{node.macros}\0{node.unknown}"


def _table(node: Node) -> str:
    """The node's name in the SQL of others; that of an ephemeral model is its common table expression's."""
    return f"{PREFIX}{node.name}" if node.is_ephemeral else node.relation


def _metadata(node: Node) -> Mapping[str, str]:
    columns = {column.name: [column.description, *column.tags] for column in node.columns}
    return {
        "description": node.description,
        "tags": ", ".join(sorted(node.tags)),
        "meta": _json(node.meta) if node.meta else "",
        "group": node.group,
        "descriptions of columns": _json(columns) if any(any(texts) for texts in columns.values()) else "",
    }


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
