"""What SQL lineage is in an OpenLineage event: inputs, outputs with columnLineage 1-2-0, and what could not be known.

`columnLineage` says what flows into columns, and in `dataset` what decides which rows there are. It cannot say that a
table is read of which no column is (`count(*)`): then the explicit lineage facet says all of it once more.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.capture.sql.lineage import Column, Edge, ScriptLineage, StatementLineage, Table, Unknown
from whence.capture.sql.naming import Naming
from whence.capture.sql.relations import STAR
from whence.model import lineage as model
from whence.model.names import DatasetName, FieldName, Node
from whence.openlineage.wire import Json
from whence.openlineage.write import column_lineage, facet, job_lineage, own_facet

EVIDENCE = "whence_columnEvidence"
_SHOWN = 300
"""Characters of an expression or a statement that are shown beside what they explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFacts:
    """What a script says, ready for an event: datasets in order of name, facets by key."""

    inputs: tuple[DatasetName, ...]
    outputs: Mapping[DatasetName, Json]
    """Each with its facets."""
    job_facets: Json
    run_facets: Json
    direct: Mapping[DatasetName, frozenset[str]]
    """The columns of each output that have a source."""


@dataclass(frozen=True, slots=True)
class _Named:
    """An edge between datasets and their fields, and how sure it is."""

    edge: model.Edge
    confidence: float
    reason: str


def sql_facts(text: str, dialect: str, lineage: ScriptLineage, naming: Naming) -> SqlFacts:
    """The facts of a script. What `naming` gives no dataset for is left out; temporary tables are folded away."""
    script = _script(lineage, naming)
    named = tuple(_named(lineage.collapsed, script.names))
    by_output: dict[DatasetName, list[_Named]] = {output: [] for output in sorted(script.outputs)}
    for one in named:
        by_output.get(_whole(one.edge.target), []).append(one)
    return SqlFacts(
        inputs=tuple(sorted(script.inputs)),
        outputs={output: _output_facets(some) for output, some in by_output.items()},
        job_facets={"sql": facet("SQLJobFacet", query=text, dialect=dialect), **_explicit(script, named)},
        run_facets=_errors(text, lineage.statements),
        direct={output: frozenset(_columns(some)) for output, some in by_output.items()},
    )


@dataclass(frozen=True, slots=True)
class _Script:
    """The tables of a script as datasets. `steps`: what each statement reads and writes."""

    names: Mapping[Table, DatasetName | None]
    inputs: frozenset[DatasetName]
    outputs: frozenset[DatasetName]
    steps: tuple[tuple[frozenset[DatasetName], frozenset[DatasetName]], ...]


def _script(lineage: ScriptLineage, naming: Naming) -> _Script:
    reads = {table for one in lineage for table in one.reads}
    writes = {table for one in lineage for table in one.writes}
    sources, targets = _sides(lineage.collapsed)
    names = {table: naming.dataset(table) for table in reads | writes | sources | targets}
    gone = _folded(lineage, writes) - sources - targets

    def datasets(tables: Iterable[Table]) -> frozenset[DatasetName]:
        return frozenset(name for table in tables if table not in gone and (name := names[table]))

    return _Script(
        names=names,
        inputs=datasets(table for table in reads if table not in writes or table in sources),
        outputs=datasets(writes),
        steps=tuple((datasets(one.reads), datasets(one.writes)) for one in lineage),
    )


def _sides(edges: Iterable[Edge]) -> tuple[set[Table], set[Table]]:
    sources, targets = set[Table](), set[Table]()
    for edge in edges:
        sources.add(_table(edge.source))
        targets.add(_table(edge.target))
    return sources, targets


def _folded(lineage: ScriptLineage, writes: set[Table]) -> set[Table]:
    """The tables that a script of several statements writes and passes on: temporary ones, if no edge of it is left."""
    if len(lineage.statements) < 2:
        return set()
    sources, targets = _sides(edge for one in lineage for edge in one.edges)
    return (sources | targets) & writes


def _named(edges: Iterable[Edge], names: Mapping[Table, DatasetName | None]) -> Iterator[_Named]:
    for one in edges:
        source, target = _node(one.source, names), _node(one.target, names)
        if source and target:
            yield _Named(edge_between(source, target, one), one.confidence, one.reason)


def edge_between(source: Node, target: Node, one: Edge) -> model.Edge:
    """An edge of SQL between two datasets or fields. Where it names no column, it says that the dataset flows.

    The condition of an edge to a dataset stays out: its literals change from run to run, and may be somebody's data.
    """
    if isinstance(source, DatasetName) or (isinstance(target, DatasetName) and one.type == "DIRECT"):
        return model.Edge(source=_whole(source), target=_whole(target), type=one.type)
    text = "" if isinstance(target, DatasetName) else shortened(one.expression).replace("\0", "\ufffd")
    how = {"type": one.type, "subtype": one.subtype}
    return model.Edge(source=source, target=target, **how, masking=one.masking, description=text)


def _node(end: Column | Table, names: Mapping[Table, DatasetName | None]) -> Node | None:
    dataset = names[_table(end)]
    return FieldName(dataset, end.name) if dataset and isinstance(end, Column) and end.name != STAR else dataset


def _output_facets(named: Iterable[_Named]) -> Json:
    fine = [one for one in named if isinstance(one.edge.source, FieldName)]
    if not fine:
        return {}
    doubts = [_doubt(one) for one in fine if one.confidence < 1]
    facets = {"columnLineage": column_lineage(one.edge for one in fine)}
    return {**facets, EVIDENCE: own_facet("ColumnEvidenceDatasetFacet", method="sql", doubts=doubts)}


def _doubt(one: _Named) -> Json:
    source, target = one.edge.source, one.edge.target
    dataset = _whole(source)
    return {
        "field": target.field if isinstance(target, FieldName) else None,
        "namespace": dataset.namespace,
        "name": dataset.name,
        "inputField": source.field if isinstance(source, FieldName) else None,
        "confidence": one.confidence,
        "reason": one.reason,
    }


def _explicit(script: _Script, named: tuple[_Named, ...]) -> Json:
    """The explicit lineage facet, where a table is read that columnLineage cannot name; else nothing."""
    edges = [one.edge for one in named]
    fine = {_whole(edge.target) for edge in edges if isinstance(edge.source, FieldName)}
    said = {(_whole(edge.source), _whole(edge.target)) for edge in edges}
    bare = [
        model.Edge(source=source, target=target)
        for reads, writes in script.steps
        for target in sorted(writes & fine)
        for source in sorted(reads)
        if (source, target) not in said and source != target
    ]
    whole = any(isinstance(edge.source, DatasetName) and edge.target in fine for edge in edges)
    return {"lineage": job_lineage([*edges, *bare])} if bare or whole else {}


def _errors(text: str, statements: tuple[StatementLineage, ...]) -> Json:
    """The extractionError facet, if anything of the script could not be known."""
    errors = [error for number, one in enumerate(statements) for error in _errors_of(text, number, one)]
    if not errors:
        return {}
    failed = len({error["taskNumber"] for error in errors})
    members = {"totalTasks": len(statements), "failedTasks": failed, "errors": errors}
    return {"extractionError": facet("ExtractionErrorRunFacet", **members)}


def _errors_of(text: str, number: int, one: StatementLineage) -> Iterator[Json]:
    task = {"task": shortened(text[one.span.start : one.span.end]), "taskNumber": number}
    if one.error:
        yield {"errorMessage": f"{one.error} (line {one.span.line})", **task}
    for unknown in one.unknowns:
        yield {"errorMessage": said(unknown), **task}


def said(unknown: Unknown) -> str:
    """What is not known and where, in one line: `column_not_found: zz (line 3, column 7)`."""
    return f"{unknown.reason}: {unknown.name} (line {unknown.span.line}, column {unknown.span.column})"


def shortened(text: str) -> str:
    """The beginning of a text that is only shown."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _columns(named: Iterable[_Named]) -> Iterator[str]:
    for one in named:
        if one.edge.type == "DIRECT" and isinstance(one.edge.target, FieldName):
            yield one.edge.target.field


def _table(end: Column | Table) -> Table:
    return end.table if isinstance(end, Column) else end


def _whole(node: Node) -> DatasetName:
    match node:
        case FieldName(dataset, _):
            return dataset
        case DatasetName():
            return node
    raise AssertionError("SQL has no edges of jobs")
