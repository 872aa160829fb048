"""A dbt project as OpenLineage events: the declarations, then the runs.

Declarations: a dataset event for each source, seed and ephemeral model's table, a job event for each model, dataset
events for their downstream. Runs: of models, of tests, of the whole command.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.capture.dbt.artifacts.columns import fold_columns
from whence.capture.dbt.artifacts.commit import Commit
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.names import Names, names
from whence.capture.dbt.artifacts.project import Invocation, Node, Project, Result
from whence.capture.dbt.assertions import assertion_events, freshness_events
from whence.capture.dbt.compiled.lineage import Reader, reader
from whence.capture.dbt.compiled.uncompiled_models import render_uncompiled
from whence.capture.dbt.facets import dataset_facets, job_facets
from whence.capture.dbt.runs import attempt_events, attempt_of, has_run, invocation_events, invocation_run
from whence.capture.dbt.semantics import semantic_events
from whence.capture.sql import Catalog
from whence.capture.sql.events.events import SqlFacts
from whence.model.events import RunState
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset, dataset_event, facet, job_event
from whence_client.events.runs import RunRef


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Writes the events of one project."""

    project: Project
    names: Names
    reader: Reader
    commit: Commit | None

    def declaration_event(self, node: Node, facts: SqlFacts | None) -> Json:
        if facts is None:
            return dataset_event(self.project.time, self.names.dataset(node), facets=self._dataset_facets(node))
        return job_event(
            self.project.time,
            self.names.job(node, self._command()),
            facets={**self._job_facets(node), **facts.job_facets},
            inputs=[dataset(name) for name in facts.inputs],
            outputs=self._outputs(node, facts),
        )

    def run_events(self, node: Node, facts: SqlFacts, result: Result, invocation: Invocation) -> Iterator[Json]:
        attempt = attempt_of(node, result, self.names, invocation)
        if attempt is None:
            return
        is_complete = attempt.state is RunState.COMPLETE
        statistics = (
            facet("OutputStatisticsOutputDatasetFacet", rowCount=result.rows) if result.rows is not None else None
        )
        output_facets = {"outputFacets": {"outputStatistics": statistics}} if statistics else {}
        yield from attempt_events(
            attempt,
            invocation,
            invocation_run(self.names, invocation),
            run_facets={**facts.run_facets, **self._query(result)},
            job_facets={**self._job_facets(node), **facts.job_facets},
            inputs=[dataset(name) for name in facts.inputs],
            outputs=self._outputs(node, facts, **output_facets) if is_complete else [],
        )

    def _outputs(self, node: Node, facts: SqlFacts, **members: Json) -> list[Json]:
        facets = self._dataset_facets(node)
        return [
            dataset(name, facets={**facets, **lineage_facets}, **members)
            for name, lineage_facets in facts.outputs.items()
        ]

    def _dataset_facets(self, node: Node) -> Json:
        return dataset_facets(node, self.names, self.project.owners)

    def _job_facets(self, node: Node) -> Json:
        return job_facets(node, self.project.owners, self.commit)

    def _command(self) -> str:
        return self.project.invocation.command if self.project.invocation else ""

    def _query(self, result: Result) -> Json:
        if not result.query_id:
            return {}
        source = self.names.warehouse.namespace
        return {"externalQuery": facet("ExternalQueryRunFacet", externalQueryId=result.query_id, source=source)}


def project_events(
    project: Project,
    warehouse: Warehouse,
    jobs: str = "dbt",
    commit: Commit | None = None,
    columns: Catalog | None = None,
    parent: RunRef | None = None,
) -> Iterator[Json]:
    """Yield all events of a project, declarations first; the same for the same artifacts.

    `columns`: the columns of tables that the artifacts lack. `parent`: the run that dbt's command is a part of.
    """
    project = fold_columns(render_uncompiled(project), warehouse.dialect)
    project_names = names(project, warehouse, jobs)
    sql_reader = reader(project, project_names, columns)
    writer = _Writer(project=project, names=project_names, reader=sql_reader, commit=commit)
    built = {node.unique_id: sql_reader.facts(node) for node in project.nodes.values() if node.kind != "source"}
    for node in project.nodes.values():
        yield writer.declaration_event(node, built.get(node.unique_id))
        if project_names.dataset(node) != project_names.own(node.unique_id):
            yield dataset_event(project.time, project_names.own(node.unique_id), facets=project_names.table_of(node))
    yield from semantic_events(sql_reader)
    yield from freshness_events(project, project_names)
    if project.invocation and has_run(project.invocation):
        yield from invocation_events(project, project_names, project.invocation, parent)
        yield from _run_events(writer, built, project.invocation)


def _run_events(writer: _Writer, built: dict[str, SqlFacts], invocation: Invocation) -> Iterator[Json]:
    for result in invocation.results:
        if result.unique_id in built:
            yield from writer.run_events(
                writer.project.nodes[result.unique_id], built[result.unique_id], result, invocation
            )
    command_run = invocation_run(writer.names, invocation)
    yield from assertion_events(writer.project, writer.names, invocation, command_run)
