"""What a model's compiled SQL says, column by column, and why the other columns have no source."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from whence.capture.dbt.columns import Spelling, catalog_of, spelling_of, table_of
from whence.capture.dbt.ephemeral import cut
from whence.capture.dbt.names import Names
from whence.capture.dbt.project import Node, Project
from whence.capture.dbt.snapshots import META_COLUMNS, snapshot_edges
from whence.capture.sql import RESULT, Catalog, Edge, ScriptLineage, Span, StatementLineage, Unknown, read_script
from whence.capture.sql.events import EVIDENCE, SqlFacts, sql_facts
from whence.capture.sql.naming import Naming
from whence.openlineage.wire import Json
from whence.openlineage.write import facet, own_facet

_NO_SOURCE = "no_source: it is made of no column, as a constant or count(*) is"
_BUILT = ("model", "snapshot")
_RENDERED = "not_compiled: the model's raw SQL, rendered without dbt"
_RENDERED_IS_WORTH = 0.6
"""Of an edge: variables, macros of the adapter and the state of the warehouse may make other SQL of it."""


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
        """What is known of a node's lineage: of its SQL, else of what it depends on, with a reason for each column."""
        sql = node.sql or self.ephemeral.get(f"__dbt__cte__{node.name}".lower(), "")
        if node.kind not in _BUILT or node.language != "sql" or not sql:
            return _explained(self._declared(node), node, self.names, _why_none(node))
        output = self.names.dataset(node)
        naming = replace(self.naming, own={**self.naming.own, RESULT: output})
        script = self._read(node, sql)
        found = sql_facts(cut(sql).own, self.names.warehouse.dialect, script, naming)
        job_facets = {**found.job_facets, "sql": facet("SQLJobFacet", query=sql, dialect=self.names.warehouse.dialect)}
        return _explained(replace(found, job_facets=job_facets), node, self.names, _why_not(script))

    def _read(self, node: Node, sql: str) -> ScriptLineage:
        """The lineage of the model's own SQL, after views for the ephemeral models that it uses."""
        parts = cut(sql)
        views = "".join(f"create temporary view {name} as {body}\n;\n" for name, body in parts.ephemeral.items())
        read = read_script(views + parts.own, self.names.warehouse.dialect, self.catalog)
        own = [_moved(one, views) for one in read if one.span.start >= len(views)]
        table = table_of(node, self.names.warehouse.dialect) if node.relation else None
        edges = self.spelling.edges((edge for one in own for edge in one.edges), table)
        edges = tuple(map(_doubted, edges)) if node.is_rendered else edges
        extra = snapshot_edges(node, edges) if node.kind == "snapshot" else ()
        own = [replace(one, writes=(*one.writes, RESULT)) for one in own]
        return ScriptLineage(tuple(own), (*edges, *extra))

    def _declared(self, node: Node) -> SqlFacts:
        """Inputs and output alone, as the manifest has them."""
        parents = [self.project.nodes[one] for one in node.parents if one in self.project.nodes]
        inputs = tuple(sorted({self.names.dataset(one) for one in parents}))
        output = self.names.dataset(node)
        return SqlFacts(inputs=inputs, outputs={output: {}}, job_facets={}, run_facets={}, direct={output: frozenset()})


def reader(project: Project, names: Names, columns: Catalog | None = None) -> Reader:
    """A reader that knows the columns of all tables and the SQL of all ephemeral models.

    `columns`: of tables that the artifacts say nothing of.
    """
    dialect = names.warehouse.dialect
    known = catalog_of(project, dialect)
    return Reader(
        project=project,
        names=names,
        catalog=replace(known.completed(columns), defaults=()) if columns else known,
        spelling=spelling_of(project, dialect),
        naming=names.naming(project.nodes),
        ephemeral=dict(_ephemeral(project)),
    )


def _ephemeral(project: Project) -> Iterator[tuple[str, str]]:
    """Ephemeral SQL as it stands in the models that use it, after the ephemeral models that it uses itself."""
    for node in project.nodes.values():
        parts = cut(node.sql).ephemeral
        names = list(parts)
        for number, name in enumerate(names):
            before = ", ".join(f"{one} as ({parts[one]}\n)" for one in names[:number] if one in parts[name])
            yield name, f"with {before} {parts[name]}" if before else parts[name]


def _moved(one: StatementLineage, before: str) -> StatementLineage:
    """The statement with its places counted from after the text `before`."""
    lines = before.count("\n")

    def moved(unknown: Unknown) -> Unknown:
        return replace(unknown, span=_back(unknown.span, len(before), lines))

    return replace(one, span=_back(one.span, len(before), lines), unknowns=tuple(map(moved, one.unknowns)))


def _back(span: Span, characters: int, lines: int) -> Span:
    return Span(span.start - characters, span.end - characters, span.line - lines, span.column)


def _explained(facts: SqlFacts, node: Node, names: Names, why: str) -> SqlFacts:
    """With a reason for every column of the output that has no source."""
    output = names.dataset(node)
    known = {column.lower() for column in facts.direct.get(output, frozenset())}
    bare = [column.name for column in node.columns if column.name.lower() not in known]
    unexplained = [
        {"field": name, "reason": META_COLUMNS.get(name, why) if node.kind == "snapshot" else why} for name in bare
    ]
    sourceless = [one["field"] for one in unexplained if one["reason"] in (_NO_SOURCE, *META_COLUMNS.values())]
    facets = _without_sources(facts.outputs.get(output, {}), sourceless)
    evidence: Json = {**facets.get(EVIDENCE, own_facet("ColumnEvidenceDatasetFacet", method="dbt", doubts=[]))}
    outputs = {**facts.outputs, output: {**facets, EVIDENCE: {**evidence, "unexplained": unexplained}}}
    return replace(facts, outputs=outputs)


def _without_sources(facets: Json, columns: Iterable[str]) -> Json:
    """The facets of an output, if its columnLineage is known with an empty entry for each column without a source."""
    if "columnLineage" not in facets:
        return facets
    fields = {name: {"inputFields": []} for name in columns} | facets["columnLineage"]["fields"]
    return {**facets, "columnLineage": {**facets["columnLineage"], "fields": fields}}


def _why_none(node: Node) -> str:
    if node.kind == "seed":
        return "seed: it is loaded from a file of the project"
    if node.language != "sql":
        return f"not_sql: the model is written in {node.language}"
    if node.unknown:
        return f"not_compiled: only `dbt compile` knows what is in it: {node.unknown}"
    return "not_compiled: the artifacts have no SQL of it; run `dbt compile` or `dbt build`"


def _doubted(edge: Edge) -> Edge:
    """An edge of SQL that dbt did not compile."""
    reason = f"{edge.reason}; {_RENDERED}" if edge.confidence < 1 else _RENDERED
    return replace(edge, confidence=round(edge.confidence * _RENDERED_IS_WORTH, 4), reason=reason)


def _why_not(script: ScriptLineage) -> str:
    """Why a column of SQL that was read has no source."""
    said = {unknown.reason: None for one in script for unknown in one.unknowns}
    if said:
        return ", ".join(said)
    if any(one.status == "failed" for one in script):
        return "statement_not_read"
    return _NO_SOURCE
