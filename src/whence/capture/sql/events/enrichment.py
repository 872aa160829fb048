"""The lineage of an event's own SQL, in terms of the event's own datasets (sql.md, "Live enrichment"). It is pure: it
depends on the event alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from whence import __version__
from whence.capture.sql.dialects.dialects import DIALECTS, Dialect, dialect_of
from whence.capture.sql.events.datasets import EventCatalog, EventDataset, fields_of, match_dataset, spelling_of
from whence.capture.sql.events.ddl import only_defines
from whence.capture.sql.events.events import describe_unknown, edge_between, shorten
from whence.capture.sql.events.foreign_sql import Claims, find_contradiction
from whence.capture.sql.lineage import RESULT, Budget, Column, ScriptLineage, Table
from whence.capture.sql.lineage import Edge as SqlEdge
from whence.capture.sql.provenance.relations import STAR
from whence.capture.sql.scripts.script import read_script
from whence.errors import DialectError
from whence.model.lineage import Edge, Parsed
from whence.model.names import DatasetName, FieldName, Node

BUDGET = Budget(seconds=5, tokens=50_000, edges=5_000)
"""Small, so that words and edges end a reading long before its time does: time is no property of the event."""
CHARACTERS = 200_000
"""Longer texts are not read."""
_SHOWN = 20
UNRELATED = "unrelated"

_BY_SCHEME = {
    "awsathena": "trino",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "presto": "trino",
    "postgresql": "postgres",
} | {name: name for name in DIALECTS if name not in ("generic", "tsql")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSql:
    """The SQL of an event, and the event's datasets. `has_whole_schemas`: the event lists all columns of its
    outputs.
    """

    query: str
    dialect: str
    inputs: tuple[EventDataset, ...]
    outputs: tuple[EventDataset, ...]
    has_whole_schemas: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLineage:
    """The lineage of an event's SQL.

    `status`: `parsed`: complete, `partial`, `failed`: nothing was read, `unrelated`: the text of another job.
    `problems` are the unknown parts with their positions; `unmatched` are tables of the SQL that match no dataset of
    the event. Both lists are truncated.
    """

    status: str
    outputs: Mapping[DatasetName, Parsed]
    problems: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    only_defines: bool = False
    """The SQL only creates, alters, truncates or drops tables."""

    @property
    def is_complete(self) -> bool:
        """Whether no part of the SQL was left out."""
        return self.status == "parsed"


@cache
def reader() -> str:
    """The versions of Whence and of its parser."""
    return f"whence {__version__}, sqlglot {version('sqlglot')}"


def dialect_named(words: Iterable[str], namespaces: Iterable[str]) -> str:
    """The dialect of the first word that names one, else of the scheme of a namespace, else `generic`.

    >>> dialect_named(["AIRFLOW"], ["postgres://db:5432"])
    'postgres'
    """
    for word in filter(str.strip, words):
        try:
            return dialect_of(word).name
        except DialectError:
            continue
    schemes = (namespace.partition("://")[0].lower() for namespace in namespaces)
    return next((_BY_SCHEME[scheme] for scheme in schemes if scheme in _BY_SCHEME), "generic")


def read_event_sql(reported: ReportedSql) -> EventLineage:
    """Read the lineage of an event's SQL. Never raises: the answer holds the problems."""
    if len(reported.query) > CHARACTERS:
        return _failed(f"budget_spent: the text has more than {CHARACTERS:,} characters")
    dialect = dialect_of(reported.dialect)
    try:
        catalog = EventCatalog({}, inputs=reported.inputs, outputs=reported.outputs, dialect=dialect)
        return _resolve_script(reported, dialect, read_script(reported.query, reported.dialect, catalog, BUDGET))
    except Exception as failure:  # lineage never breaks the pipeline (promise 6)
        return _failed(f"could not be read: {type(failure).__name__}")


def _failed(problem: str) -> EventLineage:
    return EventLineage(status="failed", outputs={}, problems=(problem,))


def _resolve_script(reported: ReportedSql, dialect: Dialect, script: ScriptLineage) -> EventLineage:
    problems = [*_problems(script)]
    if len(script.collapsed) > BUDGET.edges:
        return _failed(f"budget_spent: more than {BUDGET.edges:,} edges")
    names = _Names(reported, dialect, script)
    if reason := find_contradiction(names.claims(script)):
        return EventLineage(status=UNRELATED, outputs={}, problems=(shorten(reason),), unmatched=names.unmatched)
    edges = [edge for one in script.collapsed for edge in names.edges(one)]
    by_output: dict[DatasetName, list[Edge]] = {}
    for edge in edges:
        by_output.setdefault(_dataset_of(edge.target), []).append(edge)
    is_complete = not problems and not names.unmatched
    return EventLineage(
        status="parsed" if is_complete else "partial" if edges else "failed",
        outputs=_group_by_output(by_output, is_complete, is_whole=is_complete and not names.is_part),
        problems=tuple(problems[:_SHOWN]),
        unmatched=names.unmatched,
        only_defines=only_defines(script, reported.query),
    )


def _group_by_output(
    by_output: Mapping[DatasetName, list[Edge]], is_complete: bool, *, is_whole: bool
) -> dict[DatasetName, Parsed]:
    """Group edges by output. An input is explained where it flows in, and if all SQL was read, where it flows
    elsewhere.
    """
    sources = {output: frozenset(_dataset_of(edge.source) for edge in edges) for output, edges in by_output.items()}
    everywhere = frozenset[DatasetName]().union(*sources.values()) if is_complete else frozenset[DatasetName]()
    return {
        output: Parsed(
            edges=tuple(sorted(set(edges), key=_edge_key)),
            explained=sources[output] | everywhere,
            is_whole=is_whole,
        )
        for output, edges in by_output.items()
    }


def _problems(script: ScriptLineage) -> Iterator[str]:
    for statement in script:
        if statement.error:
            yield shorten(f"{statement.error} (line {statement.span.line})")
        yield from (shorten(describe_unknown(unknown)) for unknown in statement.unknowns)


class _Names:
    """The datasets of a script's tables. Collects the tables without one."""

    def __init__(self, reported: ReportedSql, dialect: Dialect, script: ScriptLineage) -> None:
        self._reported, self._dialect = reported, dialect
        self._spellings = fields_of((*reported.inputs, *reported.outputs))
        self._unmatched = set[str]()
        written = {table for statement in script for table in statement.writes}
        self._is_query = not written and sum(statement.kind == "select" for statement in script) == 1
        lasting = {_table(end) for edge in script.collapsed for end in (edge.source, edge.target)}
        folded = written - lasting if len(script.statements) > 1 else set[Table]()
        read = {table for statement in script for table in statement.reads} - folded
        self._sources = {table: self._source(table) for table in sorted(read | lasting - written, key=str)}
        targets = {_table(edge.target) for edge in script.collapsed} | (written - folded)
        self._targets = {table: self._target(table) for table in sorted(targets, key=str)}

    @property
    def is_part(self) -> bool:
        """Whether the text may be a part of the job: a DataFrame continues where a SELECT of Spark ends."""
        return self._is_query and self._reported.has_whole_schemas

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The first tables that match no dataset of the event."""
        return tuple(sorted(self._unmatched)[:_SHOWN])

    def claims(self, script: ScriptLineage) -> Claims:
        """The names in the script, for comparison with the event."""
        return Claims(
            sources=self._sources,
            targets=self._targets,
            edges=script.collapsed,
            outputs=self._reported.outputs,
            result=self._targets.get(RESULT),
            has_whole_schemas=self._reported.has_whole_schemas,
        )

    def edges(self, edge: SqlEdge) -> Iterator[Edge]:
        """The edge between datasets or fields; none if an end of it is no dataset of the event."""
        source = self._sources.get(_table(edge.source)) or self._targets.get(_table(edge.source))
        target = self._targets.get(_table(edge.target))
        if source is None or target is None:
            return
        yield edge_between(self._node(edge.source, source), self._node(edge.target, target), edge)

    def _source(self, table: Table) -> DatasetName | None:
        if table == RESULT:
            return None
        dataset = match_dataset(table, self._reported.inputs, self._dialect) or match_dataset(
            table, self._reported.outputs, self._dialect
        )
        return self._note_unmatched(table, dataset)

    def _target(self, table: Table) -> DatasetName | None:
        if table == RESULT:  # the result of the only SELECT can only go to the event's only output
            return self._reported.outputs[0].name if self._is_query and len(self._reported.outputs) == 1 else None
        return self._note_unmatched(table, match_dataset(table, self._reported.outputs, self._dialect))

    def _note_unmatched(self, table: Table, dataset: DatasetName | None) -> DatasetName | None:
        if dataset is None:
            self._unmatched.add(shorten(str(table)))
        return dataset

    def _node(self, end: Column | Table, dataset: DatasetName) -> Node:
        if isinstance(end, Table) or end.name == STAR or "\0" in end.name:
            return dataset
        return FieldName(dataset, spelling_of(end.name, self._spellings[dataset], self._dialect))


def _table(end: Column | Table) -> Table:
    return end.table if isinstance(end, Column) else end


def _dataset_of(node: Node) -> DatasetName:
    dataset = node.dataset if isinstance(node, FieldName) else node
    assert isinstance(dataset, DatasetName), "SQL lineage contains no edges between jobs"
    return dataset


def _edge_key(edge: Edge) -> tuple[str, ...]:
    return (str(edge.source), str(edge.target), edge.type, edge.subtype, str(edge.masking), edge.description)
