"""Dataset names: a node's table in the warehouse is the dataset; the node's own name is an alias of it, which can be
cut.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whence.capture.dbt.artifacts.columns import table_of
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.ephemeral import PREFIX
from whence.capture.dbt.artifacts.project import Node, Project
from whence.capture.sql import Table
from whence.capture.sql.events.naming import Naming, location
from whence.model.names import DatasetName, JobName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import facet

_SUFFIXES = {"snapshot": ".snapshot", "seed": ".seed"}
_FILE = re.compile(r"(?:\w+\()?\s*'((?:[^']|'')+)'")
"""The relation of an external source of dbt-duckdb: a path in quotes, alone or as the first argument of a function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in the events of one project. `tables`: the datasets of nodes, by unique id."""

    warehouse: Warehouse
    project: str
    jobs: str
    """The namespace of jobs."""
    tables: Mapping[str, DatasetName]

    def dataset(self, node: Node) -> DatasetName:
        """The table in the warehouse; of an ephemeral model, the name that its table would have there.

        So two environments of one project stay apart. If another table has that name, the dataset is the model's own
        name.
        """
        return self.tables[node.unique_id]

    def own(self, unique_id: str) -> DatasetName:
        """The dbt name of a node, an exposure or a metric."""
        return DatasetName(f"dbt://{self.project}", unique_id)

    def job(self, node: Node, command: str) -> JobName:
        """The job that builds a node, named as dbt-ol (openlineage-integration-common 1.54) names it."""
        base_name = ".".join((*node.parts[:-1], node.unique_id.removeprefix(f"{node.kind}.")))
        suffixes = {"model": ".run", **_SUFFIXES} if command == "build" else _SUFFIXES
        suffix = suffixes.get(node.kind, "")
        return JobName(
            self.jobs, f"{base_name}.build{suffix}" if command == "build" and suffix else f"{base_name}{suffix}"
        )

    def test_job(self, node: Node, command: str) -> JobName:
        """The job that tests a node, named as dbt-ol names it."""
        base_name = ".".join((*node.parts[:-1], node.unique_id.removeprefix("model.")))
        return JobName(self.jobs, base_name + (".build.test" if command == "build" else ".test"))

    def run_job(self) -> JobName:
        """The job of the project as a whole."""
        return JobName(self.jobs, f"dbt-run-{self.project}")

    def table_of(self, node: Node) -> Json:
        """The facet that makes a node's own name an alias of its table, and defines the displayed name."""
        return _symlinks(self.dataset(node), "TABLE")

    def spellings(self, node: Node) -> Json:
        """The facet that joins dbt-ol's name of a node's dataset, if it differs and belongs to no other table.

        dbt-ol spells tables as the manifest does, and uses a source's name for its table's.
        """
        table_name = node.name if node.kind == "source" else node.parts[-1]
        name = DatasetName(self.warehouse.namespace, ".".join((*node.parts[:-1], table_name)))
        return {} if name in self.tables.values() else _symlinks(name, "DBT_RELATION")

    def naming(self, nodes: Mapping[str, Node]) -> Naming:
        """The naming of tables in compiled SQL: ephemeral models by their CTE."""
        ctes = {f"{PREFIX}{node.name}": self.dataset(node) for node in nodes.values() if node.is_ephemeral}
        dataset_names = {
            Table((spelling,)): name for cte, name in ctes.items() for spelling in (cte, cte.lower(), cte.upper())
        }
        return Naming(namespace=self.warehouse.namespace, own=dict(dataset_names))


def _symlinks(name: DatasetName, kind: str) -> Json:
    identifiers = [{"namespace": name.namespace, "name": name.name, "type": kind}]
    return {"symlinks": facet("SymlinksDatasetFacet", identifiers=identifiers)}


def names(project: Project, warehouse: Warehouse, jobs: str) -> Names:
    """The names of a project whose jobs are in the namespace `jobs`."""
    tables = {id_: _table(node, warehouse) for id_, node in project.nodes.items() if not node.is_ephemeral}
    taken = set(tables.values())
    for id_, node in project.nodes.items():
        if node.is_ephemeral:
            name = _table(node, warehouse)
            tables[id_] = DatasetName(f"dbt://{project.name}", id_) if name in taken else name
    return Names(warehouse=warehouse, project=project.name, jobs=jobs, tables=tables)


def _table(node: Node, warehouse: Warehouse) -> DatasetName:
    """The table as SQL reaches it, the relation's name under the dialect's rules of case; or the file of a source."""
    if file := _file(node):
        return file
    parts = table_of(node, warehouse.dialect).parts if node.relation else node.parts
    return DatasetName(warehouse.namespace, ".".join(parts))


def _file(node: Node) -> DatasetName | None:
    found = _FILE.match(node.relation) if node.kind == "source" else None
    return location(found[1].replace("''", "'")) if found else None
