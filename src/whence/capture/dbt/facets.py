"""Facets of a dataset or a job besides its lineage: columns, owners, tags, meta, contract, file."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from whence.capture.dbt.artifacts.commit import Commit
from whence.capture.dbt.artifacts.names import Names
from whence.capture.dbt.artifacts.project import Column, Node
from whence.openlineage.facets.facet_keys import DBT
from whence.openlineage.json.wire import Json
from whence.openlineage.write import facet, own_facet

_VIEWS = {"view": {"datasetType": "VIEW"}, "materialized_view": {"datasetType": "VIEW", "subType": "MATERIALIZED"}}


def dataset_facets(node: Node, names: Names, owners: Mapping[str, str]) -> Json:
    """The facets of a node's table. `owners`: the owners of groups, by name."""
    facets = {
        **names.spellings(node),
        "datasetType": facet("DatasetTypeDatasetFacet", **_type(node, names)),
        **_documentation("DocumentationDatasetFacet", node.description),
        **ownership(_owners(node, owners)),
        **tags(node.tags, node.meta, node.columns),
        DBT: own_facet("DbtDatasetFacet", **_dbt_members(node)),
    }
    if node.columns:
        facets["schema"] = facet("SchemaDatasetFacet", fields=[_field(column) for column in node.columns])
    if node.kind == "seed":
        facets["whence_boundary"] = own_facet("BoundaryDatasetFacet", origin=True)
    return facets


def job_facets(node: Node, owners: Mapping[str, str], commit: Commit | None) -> Json:
    """The facets of the job that builds a node."""
    kind = {"processingType": "BATCH", "integration": "DBT", "jobType": node.kind.upper()}
    members = [{"name": name, "type": role} for name, role in _owners(node, owners)]
    return {
        "jobType": facet("JobTypeJobFacet", **kind),
        **_documentation("DocumentationJobFacet", node.description),
        **({"ownership": facet("OwnershipJobFacet", owners=members)} if members else {}),
        **source_code(node.path, commit),
    }


def source_code(path: str, commit: Commit | None) -> Json:
    """The source code facet with file and commit; empty if either is unknown."""
    if not (commit and path):
        return {}
    repository_path = f"{commit.prefix}{path}"
    members = {"type": "git", "url": commit.url_of(repository_path), "path": repository_path, "version": commit.sha}
    optional = {"repoUrl": commit.repository, "branch": commit.branch}
    known_members = {key: value for key, value in optional.items() if value}
    return {"sourceCodeLocation": facet("SourceCodeLocationJobFacet", **members, **known_members)}


def ownership(owners: Iterable[tuple[str, str]]) -> Json:
    """The ownership facet of (name, type) pairs; nothing if there are none."""
    members = [{"name": name, "type": kind} for name, kind in owners]
    return {"ownership": facet("OwnershipDatasetFacet", owners=members)} if members else {}


def tags(names: Iterable[str], meta: Json, columns: Iterable[Column] = ()) -> Json:
    """The tags facet: dbt's tags with the value `true`, its meta with their values; tags of columns have a field."""
    tag_members = [
        *_tags(names, meta),
        *({**tag, "field": column.name} for column in columns for tag in _tags(column.tags, column.meta)),
    ]
    return {"tags": facet("TagsDatasetFacet", tags=tag_members)} if tag_members else {}


def _tags(names: Iterable[str], meta: Json) -> Iterator[Json]:
    yield from ({"key": name, "value": "true", "source": "DBT"} for name in dict.fromkeys(names))
    for key, value in meta.items():
        yield {"key": key, "value": _value(value), "source": "DBT_META"}


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _type(node: Node, names: Names) -> Json:
    if node.kind == "source" and names.dataset(node).namespace != names.warehouse.namespace:
        return {"datasetType": "FILE"}
    if node.is_ephemeral:
        return {"datasetType": "VIEW", "subType": "TEMPORARY"}
    return _VIEWS.get(node.materialized, {"datasetType": "TABLE"}) if node.kind == "model" else {"datasetType": "TABLE"}


def _field(column: Column) -> Json:
    members = {"name": column.name, "type": column.type, "description": column.description}
    return {key: value for key, value in members.items() if value}


def _documentation(kind: str, description: str) -> Json:
    return {"documentation": facet(kind, description=description)} if description else {}


def _owners(node: Node, owners: Mapping[str, str]) -> list[tuple[str, str]]:
    """The owners in `meta.owner`, and of the node's group."""
    owner = node.meta.get("owner")
    candidates = owner if isinstance(owner, list) else [owner]
    owner_pairs = [(name, "OWNER") for name in candidates if isinstance(name, str) and name]
    group = owners.get(node.group)
    return [*owner_pairs, (group, "GROUP")] if group else owner_pairs


def _dbt_members(node: Node) -> Json:
    """The members of the facet for dbt's own terms."""
    option_names = ("unique_key", "strategy", "incremental_strategy", "on_schema_change", "access")
    config = {key: node.config[key] for key in option_names if node.config.get(key) is not None}
    members: Json = {
        "uniqueId": node.unique_id,
        "materialized": node.materialized,
        "group": node.group,
        "meta": node.meta,
        "config": config,
        "contract": _contract(node),
    }
    return {key: value for key, value in members.items() if value}


def _contract(node: Node) -> Json | None:
    """The contract that dbt enforces, with the columns that it promises."""
    if node.contract.get("enforced") is not True:
        return None
    known = {key: node.contract.get(key) for key in ("checksum", "columns")}
    return {"enforced": True, **{key: value for key, value in known.items() if value}}
