"""The column lineage of a model's compiled SQL, and the reasons that other columns have no source."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from whence.capture.dbt.artifacts.columns import Spelling, catalog_of, spelling_of, table_of
from whence.capture.dbt.artifacts.ephemeral import split_ephemeral
from whence.capture.dbt.artifacts.names import Names
from whence.capture.dbt.artifacts.project import Node, Project
from whence.capture.dbt.compiled.snapshots import META_COLUMNS, snapshot_edges
from whence.capture.sql import RESULT, Catalog, Edge, ScriptLineage, Span, StatementLineage, Unknown, read_script
from whence.capture.sql.events.events import EVIDENCE, SqlFacts, sql_facts
from whence.capture.sql.events.naming import Naming
from whence.openlineage.json.wire import Json
from whence.openlineage.write import facet, own_facet

_NO_SOURCE = "no_source: it is made of no column, as a constant or count(*) is"
_BUILT = ("model", "snapshot")
_RENDERED = "not_compiled: the model's raw SQL, rendered without dbt"
_RENDERED_CONFIDENCE = 0.6
"""A factor for rendered SQL: variables, adapter macros and the warehouse's state may yield other SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads the models of one project. `ephemeral`: the SQL of ephemeral models by the name of their CTE."""

    project: Project
    names: Names
    catalog: Catalog
    spelling: Spelling
    naming: Naming
    ephemeral: Mapping[str, str]

    def facts(self, node: Node) -> SqlFacts:
        """The lineage of a node from its SQL, else from its dependencies, with a reason for each column without a
        source.
        """
        sql = node.sql or self.ephemeral.get(f"__dbt__cte__{node.name}".lower(), "")
        if node.kind not in _BUILT or node.language != "sql" or not sql:
            return _with_reasons(self._declared(node), node, self.names, _reason_without_sql(node))
        output = self.names.dataset(node)
        naming = replace(self.naming, own={**self.naming.own, RESULT: output})
        script = self._read(node, sql)
        sql_lineage = sql_facts(split_ephemeral(sql).own, self.names.warehouse.dialect, script, naming)
        job_facets = {
            **sql_lineage.job_facets,
            "sql": facet("SQLJobFacet", query=sql, dialect=self.names.warehouse.dialect),
        }
        return _with_reasons(replace(sql_lineage, job_facets=job_facets), node, self.names, _reason_of_sql(script))

    def _read(self, node: Node, sql: str) -> ScriptLineage:
        """Read the lineage of the model's own SQL, after views for the ephemeral models that it uses."""
        parts = split_ephemeral(sql)
        views = "".join(f"create temporary view {name} as {body}\n;\n" for name, body in parts.ephemeral.items())
        script = read_script(views + parts.own, self.names.warehouse.dialect, self.catalog)
        statements = [_shift_statement(statement, views) for statement in script if statement.span.start >= len(views)]
        table = table_of(node, self.names.warehouse.dialect) if node.relation else None
        edges = self.spelling.edges((edge for statement in statements for edge in statement.edges), table)
        edges = tuple(map(_lower_rendered_confidence, edges)) if node.is_rendered else edges
        extra = snapshot_edges(node, edges) if node.kind == "snapshot" else ()
        statements = [replace(statement, writes=(*statement.writes, RESULT)) for statement in statements]
        return ScriptLineage(tuple(statements), (*edges, *extra))

    def _declared(self, node: Node) -> SqlFacts:
        """The inputs and the output in the manifest, without columns."""
        parents = [self.project.nodes[parent] for parent in node.parents if parent in self.project.nodes]
        inputs = tuple(sorted({self.names.dataset(parent) for parent in parents}))
        output = self.names.dataset(node)
        return SqlFacts(inputs=inputs, outputs={output: {}}, job_facets={}, run_facets={}, direct={output: frozenset()})


def reader(project: Project, names: Names, columns: Catalog | None = None) -> Reader:
    """Create a reader with the columns of all tables and the SQL of all ephemeral models.

    `columns`: the columns of tables that the artifacts lack.
    """
    dialect = names.warehouse.dialect
    known = catalog_of(project, dialect)
    return Reader(
        project=project,
        names=names,
        catalog=replace(known.with_missing_tables(columns), defaults=()) if columns else known,
        spelling=spelling_of(project, dialect),
        naming=names.naming(project.nodes),
        ephemeral=dict(_ephemeral(project)),
    )


def _ephemeral(project: Project) -> Iterator[tuple[str, str]]:
    """The SQL of ephemeral models inside the models that use it, after the ephemeral models that it uses itself."""
    for node in project.nodes.values():
        parts = split_ephemeral(node.sql).ephemeral
        names = list(parts)
        for number, name in enumerate(names):
            preceding = ", ".join(f"{other} as ({parts[other]}\n)" for other in names[:number] if other in parts[name])
            yield name, f"with {preceding} {parts[name]}" if preceding else parts[name]


def _shift_statement(statement: StatementLineage, before: str) -> StatementLineage:
    """Shift the positions of a statement back by the text `before`."""
    lines = before.count("\n")

    def shift(unknown: Unknown) -> Unknown:
        return replace(unknown, span=_shift_span(unknown.span, len(before), lines))

    return replace(
        statement, span=_shift_span(statement.span, len(before), lines), unknowns=tuple(map(shift, statement.unknowns))
    )


def _shift_span(span: Span, characters: int, lines: int) -> Span:
    return Span(span.start - characters, span.end - characters, span.line - lines, span.column)


def _with_reasons(facts: SqlFacts, node: Node, names: Names, reason: str) -> SqlFacts:
    """Add a reason for every column of the output that has no source."""
    output = names.dataset(node)
    known = {column.lower() for column in facts.direct.get(output, frozenset())}
    names_without_source = [column.name for column in node.columns if column.name.lower() not in known]
    unexplained = [
        {"field": name, "reason": META_COLUMNS.get(name, reason) if node.kind == "snapshot" else reason}
        for name in names_without_source
    ]
    sourceless = [column["field"] for column in unexplained if column["reason"] in (_NO_SOURCE, *META_COLUMNS.values())]
    facets = _without_sources(facts.outputs.get(output, {}), sourceless)
    evidence: Json = {**facets.get(EVIDENCE, own_facet("ColumnEvidenceDatasetFacet", method="dbt", doubts=[]))}
    outputs = {**facts.outputs, output: {**facets, EVIDENCE: {**evidence, "unexplained": unexplained}}}
    return replace(facts, outputs=outputs)


def _without_sources(facets: Json, columns: Iterable[str]) -> Json:
    """The facets of an output; its columnLineage, if present, gets an empty entry for each column without a source."""
    if "columnLineage" not in facets:
        return facets
    fields = {name: {"inputFields": []} for name in columns} | facets["columnLineage"]["fields"]
    return {**facets, "columnLineage": {**facets["columnLineage"], "fields": fields}}


def _reason_without_sql(node: Node) -> str:
    if node.kind == "seed":
        return "seed: it is loaded from a file of the project"
    if node.language != "sql":
        return f"not_sql: the model is written in {node.language}"
    if node.unknown:
        return f"not_compiled: only `dbt compile` knows what is in it: {node.unknown}"
    return "not_compiled: the artifacts have no SQL of it; run `dbt compile` or `dbt build`"


def _lower_rendered_confidence(edge: Edge) -> Edge:
    """Lower the confidence of an edge of SQL that dbt did not compile."""
    reason = f"{edge.reason}; {_RENDERED}" if edge.confidence < 1 else _RENDERED
    return replace(edge, confidence=round(edge.confidence * _RENDERED_CONFIDENCE, 4), reason=reason)


def _reason_of_sql(script: ScriptLineage) -> str:
    """The reason that a column of parsed SQL has no source."""
    reasons = {unknown.reason: None for statement in script for unknown in statement.unknowns}
    if reasons:
        return ", ".join(reasons)
    if any(statement.status == "failed" for statement in script):
        return "statement_not_read"
    return _NO_SOURCE
