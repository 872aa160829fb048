"""A dbt project as OpenLineage events: what is declared, then what ran.

Declared: a dataset event for each source, seed and ephemeral model's table, a job event for each model, dataset events
for what is downstream of them. Ran: runs of models, of tests, of the whole command.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.capture.dbt.assertions import assertion_events, freshness_events
from whence.capture.dbt.columns import folded
from whence.capture.dbt.commit import Commit
from whence.capture.dbt.connection import Warehouse
from whence.capture.dbt.facets import dataset_facets, job_facets
from whence.capture.dbt.lineage import Reader, reader
from whence.capture.dbt.names import Names, names
from whence.capture.dbt.project import Invocation, Node, Project, Result
from whence.capture.dbt.rendering import rendered
from whence.capture.dbt.runs import attempt_events, attempt_of, has_run, invocation_events, invocation_run
from whence.capture.dbt.semantics import semantic_events
from whence.capture.sql import Catalog
from whence.capture.sql.events import SqlFacts
from whence.model.events import RunState
from whence.openlineage.wire import Json
from whence.openlineage.write import dataset, dataset_event, facet, job_event


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """What the events of one project are written with."""

    project: Project
    names: Names
    reader: Reader
    commit: Commit | None

    def declared(self, node: Node, facts: SqlFacts | None) -> Json:
        if facts is None:
            return dataset_event(self.project.time, self.names.dataset(node), facets=self._dataset_facets(node))
        return job_event(
            self.project.time,
            self.names.job(node, self._command()),
            facets={**self._job_facets(node), **facts.job_facets},
            inputs=[dataset(one) for one in facts.inputs],
            outputs=self._outputs(node, facts),
        )

    def ran(self, node: Node, facts: SqlFacts, result: Result, invocation: Invocation) -> Iterator[Json]:
        attempt = attempt_of(node, result, self.names, invocation)
        if attempt is None:
            return
        done = attempt.state is RunState.COMPLETE
        statistics = (
            facet("OutputStatisticsOutputDatasetFacet", rowCount=result.rows) if result.rows is not None else None
        )
        more = {"outputFacets": {"outputStatistics": statistics}} if statistics else {}
        yield from attempt_events(
            attempt,
            invocation,
            invocation_run(self.names, invocation),
            run_facets={**facts.run_facets, **self._query(result)},
            job_facets={**self._job_facets(node), **facts.job_facets},
            inputs=[dataset(one) for one in facts.inputs],
            outputs=self._outputs(node, facts, **more) if done else [],
        )

    def _outputs(self, node: Node, facts: SqlFacts, **more: Json) -> list[Json]:
        facets = self._dataset_facets(node)
        return [dataset(name, facets={**facets, **found}, **more) for name, found in facts.outputs.items()]

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
) -> Iterator[Json]:
    """All events of a project, in an order in which they make sense; the same for the same artifacts.

    `columns`: of tables that the artifacts say nothing of.
    """
    project = folded(rendered(project), warehouse.dialect)
    named = names(project, warehouse, jobs)
    reading = reader(project, named, columns)
    writer = _Writer(project=project, names=named, reader=reading, commit=commit)
    built = {one.unique_id: reading.facts(one) for one in project.nodes.values() if one.kind != "source"}
    for node in project.nodes.values():
        yield writer.declared(node, built.get(node.unique_id))
        if not node.is_ephemeral:
            yield dataset_event(project.time, named.own(node.unique_id), facets=named.table_of(node))
    yield from semantic_events(reading)
    yield from freshness_events(project, named)
    if project.invocation and has_run(project.invocation):
        yield from _run_events(writer, built, project.invocation)


def _run_events(writer: _Writer, built: dict[str, SqlFacts], invocation: Invocation) -> Iterator[Json]:
    yield from invocation_events(writer.project, writer.names, invocation)
    for result in invocation.results:
        if result.unique_id in built:
            yield from writer.ran(writer.project.nodes[result.unique_id], built[result.unique_id], result, invocation)
    within = invocation_run(writer.names, invocation)
    yield from assertion_events(writer.project, writer.names, invocation, within)
