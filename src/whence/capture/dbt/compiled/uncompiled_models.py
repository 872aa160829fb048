"""Rendering of the models that dbt did not compile; they are marked as rendered."""

from collections.abc import Iterator
from dataclasses import replace

from whence.capture.dbt.artifacts.ephemeral import PREFIX
from whence.capture.dbt.artifacts.project import Node, Project
from whence.capture.dbt.compiled.jinja_rendering import Raw, render_all


def render_uncompiled(project: Project) -> Project:
    """Add rendered SQL to the models that have only raw text. Starts a process only if there are any."""
    raw_nodes = [node for node in project.nodes.values() if _is_raw(node)]
    if not raw_nodes:
        return project
    results = render_all(_raw(node, project) for node in raw_nodes)
    nodes = {
        name: replace(node, sql=results[name].sql, is_rendered=bool(results[name].sql), unknown=results[name].unknown)
        if name in results
        else node
        for name, node in project.nodes.items()
    }
    return replace(project, nodes=nodes)


def _is_raw(node: Node) -> bool:
    return node.kind in ("model", "snapshot") and node.language == "sql" and bool(node.raw) and not node.sql


def _raw(node: Node, project: Project) -> Raw:
    parents = [project.nodes[unique_id] for unique_id in (*node.parents, node.unique_id) if unique_id in project.nodes]
    return Raw(
        id=node.unique_id,
        text=node.raw,
        this=node.relation,
        relations={key: _table(parent) for parent in parents for key in _keys(parent)},
        incremental=node.materialized == "incremental",
        config=node.config,
        macros=node.macros,
    )


def _table(node: Node) -> str:
    return f"{PREFIX}{node.name}" if node.is_ephemeral else node.relation


def _keys(node: Node) -> Iterator[tuple[str, ...]]:
    """The names by which a model refers to another node; a versioned node's id ends with its version."""
    parts = node.unique_id.split(".")
    if node.kind == "source":
        yield ("source", parts[2], node.name)
        return
    for names in ((node.name,), (node.package, node.name)):
        yield ("ref", *names)
        if len(parts) == 4:
            yield ("ref", *names, parts[3])
