"""Names: a node's table in the warehouse is the dataset; the node's own name is an alias of it, which can be cut."""

from collections.abc import Mapping
from dataclasses import dataclass

from whence.capture.dbt.columns import table_of
from whence.capture.dbt.connection import Warehouse
from whence.capture.dbt.ephemeral import PREFIX
from whence.capture.dbt.project import Node, Project
from whence.capture.sql import Table
from whence.capture.sql.naming import Naming
from whence.model.names import DatasetName, JobName
from whence.openlineage.wire import Json
from whence.openlineage.write import facet

_SUFFIXES = {"snapshot": ".snapshot", "seed": ".seed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in events of one project. `tables`: the datasets of nodes, by unique id."""

    warehouse: Warehouse
    project: str
    jobs: str
    """The namespace of jobs."""
    tables: Mapping[str, DatasetName]

    def dataset(self, node: Node) -> DatasetName:
        """The table in the warehouse; of an ephemeral model, which has none, its name in dbt."""
        return self.tables[node.unique_id]

    def own(self, unique_id: str) -> DatasetName:
        """What dbt calls a node, an exposure, a metric."""
        return DatasetName(f"dbt://{self.project}", unique_id)

    def job(self, node: Node, command: str) -> JobName:
        """The job that builds a node, called as dbt-ol (openlineage-integration-common 1.54) calls it."""
        whole = ".".join((*node.parts[:-1], node.unique_id.removeprefix(f"{node.kind}.")))
        ends = {"model": ".run", **_SUFFIXES} if command == "build" else _SUFFIXES
        end = ends.get(node.kind, "")
        return JobName(self.jobs, f"{whole}.build{end}" if command == "build" and end else f"{whole}{end}")

    def test_job(self, node: Node, command: str) -> JobName:
        """The job that tests a node, called as dbt-ol calls it."""
        whole = ".".join((*node.parts[:-1], node.unique_id.removeprefix("model.")))
        return JobName(self.jobs, whole + (".build.test" if command == "build" else ".test"))

    def run_job(self) -> JobName:
        """The job that is the project as a whole."""
        return JobName(self.jobs, f"dbt-run-{self.project}")

    def table_of(self, node: Node) -> Json:
        """The facet of the node's own name that makes its table the same dataset, and the name that is shown."""
        return _symlinks(self.dataset(node), "TABLE")

    def spellings(self, node: Node) -> Json:
        """The facet that joins what dbt-ol calls a node's dataset, where that is another name and no other table's.

        It spells tables as the manifest does, takes a source's name for its table's, an ephemeral model for a table.
        """
        called = node.name if node.kind == "source" else node.parts[-1]
        name = DatasetName(self.warehouse.namespace, ".".join((*node.parts[:-1], called)))
        return {} if name in self.tables.values() else _symlinks(name, "DBT_RELATION")

    def naming(self, nodes: Mapping[str, Node]) -> Naming:
        """How tables in compiled SQL are named: ephemeral models by their CTE."""
        ctes = {f"{PREFIX}{one.name}": self.dataset(one) for one in nodes.values() if one.is_ephemeral}
        own = {Table((spelt,)): name for cte, name in ctes.items() for spelt in (cte, cte.lower(), cte.upper())}
        return Naming(namespace=self.warehouse.namespace, own=dict(own))


def _symlinks(name: DatasetName, kind: str) -> Json:
    identifiers = [{"namespace": name.namespace, "name": name.name, "type": kind}]
    return {"symlinks": facet("SymlinksDatasetFacet", identifiers=identifiers)}


def names(project: Project, warehouse: Warehouse, jobs: str) -> Names:
    """The names of a project whose jobs are in the namespace `jobs`."""
    own = f"dbt://{project.name}"
    tables = {
        unique_id: DatasetName(own, unique_id) if one.is_ephemeral else _table(one, warehouse)
        for unique_id, one in project.nodes.items()
    }
    return Names(warehouse=warehouse, project=project.name, jobs=jobs, tables=tables)


def _table(node: Node, warehouse: Warehouse) -> DatasetName:
    """The table as SQL reaches it: the relation's name under the dialect's rules of case."""
    parts = table_of(node, warehouse.dialect).parts if node.relation else node.parts
    return DatasetName(warehouse.namespace, ".".join(parts))
