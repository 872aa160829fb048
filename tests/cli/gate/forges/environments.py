"""The shop in production, staging and development: the same code runs in all three, and names are the same."""

import json
from dataclasses import replace
from typing import Any

from query.worlds.random_worlds import Statement, World
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName

ENVIRONMENTS = ("staging", "dev")
NAMESPACES = {"postgres://prod:5432": "postgres://{}:5432", "bi://prod": "bi://{}", "airflow": "airflow-{}"}


def with_environments(world: World) -> World:
    """A world, and the same in staging and development. Only production's datasets have tiers and certificates."""
    copies = [_copy(world, environment) for environment in ENVIRONMENTS]
    return replace(
        world,
        statements=(*world.statements, *(one for copy in copies for one in copy.statements)),
        facets=(*world.facets, *(one for copy in copies for one in copy.facets)),
    )


def _copy(world: World, environment: str) -> World:
    statements = tuple(_statement(one, environment) for one in world.statements)
    facets = tuple(
        (_node(of, environment), name, text)
        for of, name, text in world.facets
        if name not in ("tags", "whence_tier") and json.loads(text)
    )
    return World(statements=statements, facets=facets)


def _statement(one: Statement, environment: str) -> Statement:
    edges = tuple((_edge(edge, environment), origin) for edge, origin in one.edges)
    number = ENVIRONMENTS.index(environment) + 1
    return replace(one, owner=_node(one.owner, environment), edges=edges, run_id=f"{number}{one.run_id[1:]}")


def _edge(edge: Edge, environment: str) -> Edge:
    return replace(edge, source=_node(edge.source, environment), target=_node(edge.target, environment))


def _node(node: Any, environment: str) -> Any:
    match node:
        case FieldName(dataset, field):
            return FieldName(_node(dataset, environment), field)
        case DatasetName(namespace, name) | JobName(namespace, name):
            return type(node)(NAMESPACES[namespace].format(environment), name)
    return node
