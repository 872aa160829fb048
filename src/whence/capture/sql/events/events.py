"""SQL lineage as parts of an OpenLineage event: inputs, outputs with columnLineage 1-2-0, and the unknown parts.

`columnLineage` describes the flow into columns, and in `dataset` the influences on the rows. It cannot describe a table
that is read without any column (`count(*)`). Then the explicit lineage facet repeats all edges.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture.sql.events.naming import Naming
from whence.capture.sql.lineage import Column, Edge, ScriptLineage, StatementLineage, Table, Unknown
from whence.capture.sql.provenance.relations import STAR
from whence.model import lineage as model
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.json.wire import Json
from whence.openlineage.write import column_lineage, facet, job_lineage, own_facet

EVIDENCE = "whence_columnEvidence"
_SHOWN = 300
"""Characters shown of an expression or a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFacts:
    """The lineage of a script in event form: datasets in order of name, facets by key."""

    inputs: tuple[DatasetName, ...]
    outputs: Mapping[DatasetName, Json]
    """The outputs with their facets."""
    job_facets: Json
    run_facets: Json
    direct: Mapping[DatasetName, frozenset[str]]
    """The columns of each output that have a source."""


@dataclass(frozen=True, slots=True)
class _Named:
    """An edge between datasets or fields, with its confidence."""

    edge: model.Edge
    confidence: float
    reason: str


def sql_facts(text: str, dialect: str, lineage: ScriptLineage, naming: Naming) -> SqlFacts:
    """The facts of a script. Tables without a dataset in `naming` are left out; temporary tables are folded away."""
    script = _script(lineage, naming)
    named_edges = tuple(_named_edges(lineage.collapsed, script.names))
    by_output: dict[DatasetName, list[_Named]] = {output: [] for output in sorted(script.outputs)}
    for column in named_edges:
        by_output.get(_dataset_of(column.edge.target), []).append(column)
    return SqlFacts(
        inputs=tuple(sorted(script.inputs)),
        outputs={output: _output_facets(edges) for output, edges in by_output.items()},
        job_facets={"sql": facet("SQLJobFacet", query=text, dialect=dialect), **_explicit_lineage(script, named_edges)},
        run_facets=_errors(text, lineage.statements),
        direct={output: frozenset(_columns(edges)) for output, edges in by_output.items()},
    )


@dataclass(frozen=True, slots=True)
class _Script:
    """The tables of a script as datasets. `steps`: the reads and writes of each statement."""

    names: Mapping[Table, DatasetName | None]
    inputs: frozenset[DatasetName]
    outputs: frozenset[DatasetName]
    steps: tuple[tuple[frozenset[DatasetName], frozenset[DatasetName]], ...]


def _script(lineage: ScriptLineage, naming: Naming) -> _Script:
    reads = {table for statement in lineage for table in statement.reads}
    writes = {table for statement in lineage for table in statement.writes}
    sources, targets = _sides(lineage.collapsed)
    names = {table: naming.dataset(table) for table in reads | writes | sources | targets}
    folded = _folded_tables(lineage, writes) - sources - targets

    def datasets(tables: Iterable[Table]) -> frozenset[DatasetName]:
        return frozenset(name for table in tables if table not in folded and (name := names[table]))

    return _Script(
        names=names,
        inputs=datasets(table for table in reads if table not in writes or table in sources),
        outputs=datasets(writes),
        steps=tuple((datasets(statement.reads), datasets(statement.writes)) for statement in lineage),
    )


def _sides(edges: Iterable[Edge]) -> tuple[set[Table], set[Table]]:
    sources, targets = set[Table](), set[Table]()
    for edge in edges:
        sources.add(_table(edge.source))
        targets.add(_table(edge.target))
    return sources, targets


def _folded_tables(lineage: ScriptLineage, writes: set[Table]) -> set[Table]:
    """The tables that a script of several statements writes and passes on: temporary ones, if no edge of them
    remains.
    """
    if len(lineage.statements) < 2:
        return set()
    sources, targets = _sides(edge for statement in lineage for edge in statement.edges)
    return (sources | targets) & writes


def _named_edges(edges: Iterable[Edge], names: Mapping[Table, DatasetName | None]) -> Iterator[_Named]:
    for edge in edges:
        source, target = _node(edge.source, names), _node(edge.target, names)
        if source and target:
            yield _Named(edge_between(source, target, edge), edge.confidence, edge.reason)


def edge_between(source: Node, target: Node, edge: Edge) -> model.Edge:
    """An edge of SQL between two datasets or fields. Without a column it states that the dataset flows.

    The condition of an edge to a dataset stays out: its literals change from run to run, and may be personal data.
    """
    if isinstance(source, DatasetName) or (isinstance(target, DatasetName) and edge.type == "DIRECT"):
        return model.Edge(source=_dataset_of(source), target=_dataset_of(target), type=edge.type)
    text = "" if isinstance(target, DatasetName) else shorten(edge.expression).replace("\0", "\ufffd")
    kind = {"type": edge.type, "subtype": edge.subtype}
    return model.Edge(source=source, target=target, **kind, masking=edge.masking, description=text)


def _node(end: Column | Table, names: Mapping[Table, DatasetName | None]) -> Node | None:
    dataset = names[_table(end)]
    return FieldName(dataset, end.name) if dataset and isinstance(end, Column) and end.name != STAR else dataset


def _output_facets(named_edges: Iterable[_Named]) -> Json:
    column_edges = [output for output in named_edges if isinstance(output.edge.source, FieldName)]
    if not column_edges:
        return {}
    doubts = [_doubt(named_edge) for named_edge in column_edges if named_edge.confidence < 1]
    facets = {"columnLineage": column_lineage(named_edge.edge for named_edge in column_edges)}
    return {**facets, EVIDENCE: own_facet("ColumnEvidenceDatasetFacet", method="sql", doubts=doubts)}


def _doubt(named_edge: _Named) -> Json:
    source, target = named_edge.edge.source, named_edge.edge.target
    dataset = _dataset_of(source)
    return {
        "field": target.field if isinstance(target, FieldName) else None,
        "namespace": dataset.namespace,
        "name": dataset.name,
        "inputField": source.field if isinstance(source, FieldName) else None,
        "confidence": named_edge.confidence,
        "reason": named_edge.reason,
    }


def _explicit_lineage(script: _Script, named_edges: tuple[_Named, ...]) -> Json:
    """The explicit lineage facet, if a table is read that columnLineage cannot name; else empty."""
    edges = [output.edge for output in named_edges]
    column_targets = {_dataset_of(edge.target) for edge in edges if isinstance(edge.source, FieldName)}
    known_pairs = {(_dataset_of(edge.source), _dataset_of(edge.target)) for edge in edges}
    row_edges = [
        model.Edge(source=source, target=target)
        for reads, writes in script.steps
        for target in sorted(writes & column_targets)
        for source in sorted(reads)
        if (source, target) not in known_pairs and source != target
    ]
    has_dataset_edge = any(isinstance(edge.source, DatasetName) and edge.target in column_targets for edge in edges)
    return {"lineage": job_lineage([*edges, *row_edges])} if row_edges or has_dataset_edge else {}


def _errors(text: str, statements: tuple[StatementLineage, ...]) -> Json:
    """The extractionError facet, if parts of the script are unknown."""
    errors = [
        error for number, statement in enumerate(statements) for error in _statement_errors(text, number, statement)
    ]
    if not errors:
        return {}
    failed = len({error["taskNumber"] for error in errors})
    members = {"totalTasks": len(statements), "failedTasks": failed, "errors": errors}
    return {"extractionError": facet("ExtractionErrorRunFacet", **members)}


def _statement_errors(text: str, number: int, statement: StatementLineage) -> Iterator[Json]:
    task = {"task": shorten(text[statement.span.start : statement.span.end]), "taskNumber": number}
    if statement.error:
        yield {"errorMessage": f"{statement.error} (line {statement.span.line})", **task}
    for unknown in statement.unknowns:
        yield {"errorMessage": describe_unknown(unknown), **task}


def describe_unknown(unknown: Unknown) -> str:
    """An unknown and its position in one line: `column_not_found: zz (line 3, column 7)`."""
    return f"{unknown.reason}: {unknown.name} (line {unknown.span.line}, column {unknown.span.column})"


def shorten(text: str) -> str:
    """The beginning of a text for display."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _columns(named_edges: Iterable[_Named]) -> Iterator[str]:
    for output in named_edges:
        if output.edge.type == "DIRECT" and isinstance(output.edge.target, FieldName):
            yield output.edge.target.field


def _table(end: Column | Table) -> Table:
    return end.table if isinstance(end, Column) else end


def _dataset_of(node: Node) -> DatasetName:
    match node:
        case FieldName(dataset, _):
            return dataset
        case DatasetName():
            return node
    raise AssertionError("SQL lineage contains no edges between jobs")
