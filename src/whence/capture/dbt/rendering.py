"""A project whose models were not all compiled: what can be rendered of them is, and marked so."""

from collections.abc import Iterator
from dataclasses import replace

from whence.capture.dbt.ephemeral import PREFIX
from whence.capture.dbt.jinja import Raw, render_all
from whence.capture.dbt.project import Node, Project


def rendered(project: Project) -> Project:
    """The project with SQL for the models that have only their raw text; starts a process only if there are any."""
    wanted = [node for node in project.nodes.values() if _is_raw(node)]
    if not wanted:
        return project
    found = render_all(_raw(node, project) for node in wanted)
    nodes = {
        name: replace(node, sql=found[name].sql, is_rendered=bool(found[name].sql), unknown=found[name].unknown)
        if name in found
        else node
        for name, node in project.nodes.items()
    }
    return replace(project, nodes=nodes)


def _is_raw(node: Node) -> bool:
    return node.kind in ("model", "snapshot") and node.language == "sql" and bool(node.raw) and not node.sql


def _raw(node: Node, project: Project) -> Raw:
    parents = [project.nodes[one] for one in (*node.parents, node.unique_id) if one in project.nodes]
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
    """How a model calls another node; of a version, dbt's id ends with it."""
    parts = node.unique_id.split(".")
    if node.kind == "source":
        yield ("source", parts[2], node.name)
        return
    for names in ((node.name,), (node.package, node.name)):
        yield ("ref", *names)
        if len(parts) == 4:
            yield ("ref", *names, parts[3])
