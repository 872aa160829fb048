"""The lineage of an event's own SQL, in terms of the event's own datasets (docs/sql.md, "Live enrichment"). Pure: it
depends on nothing but the event.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from whence import __version__
from whence.capture.sql.datasets import EventCatalog, EventDataset, dataset_of, fields_of, spelled
from whence.capture.sql.ddl import only_defines
from whence.capture.sql.dialects import DIALECTS, Dialect, dialect_of
from whence.capture.sql.events import edge_between, said, shortened
from whence.capture.sql.lineage import RESULT, Budget, Column, ScriptLineage, Table
from whence.capture.sql.lineage import Edge as SqlEdge
from whence.capture.sql.relations import STAR
from whence.capture.sql.relevance import Claims, contradiction
from whence.capture.sql.script import read_script
from whence.errors import DialectError
from whence.model.lineage import Edge, Parsed
from whence.model.names import DatasetName, FieldName, Node

BUDGET = Budget(seconds=5, tokens=50_000, edges=5_000)
"""Small, so that words and edges end a reading long before its time does: time is no property of the event."""
CHARACTERS = 200_000
"""Of a longer text nothing is read."""
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
class Asked:
    """The SQL of an event, and the datasets that the event names. `has_whole_schemas`: with all columns of outputs."""

    query: str
    dialect: str
    inputs: tuple[EventDataset, ...]
    outputs: tuple[EventDataset, ...]
    has_whole_schemas: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLineage:
    """What an event's SQL says of its outputs, and what it does not.

    `status`: `parsed` all of it, `partial`, `failed` nothing, `unrelated` another job's text. `problems` say what is
    not known, and where; `unmatched` are tables of the SQL that are none of the event's datasets. Both begin the lists.
    """

    status: str
    outputs: Mapping[DatasetName, Parsed]
    problems: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    only_defines: bool = False
    """The SQL creates, alters, truncates or drops tables, and nothing else."""

    @property
    def is_complete(self) -> bool:
        """Nothing of the SQL was left out."""
        return self.status == "parsed"


@cache
def reader() -> str:
    """Who read it: Whence's version, and the parser's."""
    return f"whence {__version__}, sqlglot {version('sqlglot')}"


def dialect_named(words: Iterable[str], namespaces: Iterable[str]) -> str:
    """The dialect by the first of these words that names one, else by the scheme of a namespace, else `generic`.

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


def read_asked(asked: Asked) -> EventLineage:
    """The lineage of an event's SQL. Never raises: what cannot be read is in the answer."""
    if len(asked.query) > CHARACTERS:
        return _failed(f"budget_spent: the text has more than {CHARACTERS:,} characters")
    dialect = dialect_of(asked.dialect)
    try:
        catalog = EventCatalog({}, (), {}, asked.inputs, asked.outputs, dialect)
        return _resolved(asked, dialect, read_script(asked.query, asked.dialect, catalog, BUDGET))
    except Exception as failure:  # lineage never breaks the pipeline (promise 6)
        return _failed(f"could not be read: {type(failure).__name__}")


def _failed(problem: str) -> EventLineage:
    return EventLineage(status="failed", outputs={}, problems=(problem,))


def _resolved(asked: Asked, dialect: Dialect, script: ScriptLineage) -> EventLineage:
    problems = [*_problems(script)]
    if len(script.collapsed) > BUDGET.edges:
        return _failed(f"budget_spent: more than {BUDGET.edges:,} edges")
    names = _Names(asked, dialect, script)
    if reason := contradiction(names.claims(script)):
        return EventLineage(status=UNRELATED, outputs={}, problems=(shortened(reason),), unmatched=names.unmatched)
    edges = [edge for one in script.collapsed for edge in names.edges(one)]
    by_output: dict[DatasetName, list[Edge]] = {}
    for edge in edges:
        by_output.setdefault(_whole(edge.target), []).append(edge)
    is_complete = not problems and not names.unmatched
    return EventLineage(
        status="parsed" if is_complete else "partial" if edges else "failed",
        outputs=_explaining(by_output, is_complete, is_whole=is_complete and not names.is_part),
        problems=tuple(problems[:_SHOWN]),
        unmatched=names.unmatched,
        only_defines=only_defines(script, asked.query),
    )


def _explaining(
    by_output: Mapping[DatasetName, list[Edge]], is_complete: bool, *, is_whole: bool
) -> dict[DatasetName, Parsed]:
    """An input is explained where it flows in; and if all of the SQL was read, where it flows elsewhere."""
    sources = {output: frozenset(_whole(edge.source) for edge in edges) for output, edges in by_output.items()}
    everywhere = frozenset[DatasetName]().union(*sources.values()) if is_complete else frozenset[DatasetName]()
    return {
        output: Parsed(
            edges=tuple(sorted(set(edges), key=_texts)),
            explained=sources[output] | everywhere,
            is_whole=is_whole,
        )
        for output, edges in by_output.items()
    }


def _problems(script: ScriptLineage) -> Iterator[str]:
    for one in script:
        if one.error:
            yield shortened(f"{one.error} (line {one.span.line})")
        yield from (shortened(said(unknown)) for unknown in one.unknowns)


class _Names:
    """The tables of a script as datasets of its event. What is none of them is noted."""

    def __init__(self, asked: Asked, dialect: Dialect, script: ScriptLineage) -> None:
        self._asked, self._dialect = asked, dialect
        self._spellings = fields_of((*asked.inputs, *asked.outputs))
        self._unmatched = set[str]()
        written = {table for one in script for table in one.writes}
        self._is_query = not written and sum(one.kind == "select" for one in script) == 1
        lasting = {_table(end) for edge in script.collapsed for end in (edge.source, edge.target)}
        folded = written - lasting if len(script.statements) > 1 else set[Table]()
        read = {table for one in script for table in one.reads} - folded
        self._sources = {table: self._source(table) for table in sorted(read | lasting - written, key=str)}
        targets = {_table(edge.target) for edge in script.collapsed} | (written - folded)
        self._targets = {table: self._target(table) for table in sorted(targets, key=str)}

    @property
    def is_part(self) -> bool:
        """The text may be a part of the job: a DataFrame goes on where a SELECT of Spark ends."""
        return self._is_query and self._asked.has_whole_schemas

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The first of the tables that are no datasets of the event."""
        return tuple(sorted(self._unmatched)[:_SHOWN])

    def claims(self, script: ScriptLineage) -> Claims:
        """What the script names, to be compared with the event."""
        return Claims(
            sources=self._sources,
            targets=self._targets,
            edges=script.collapsed,
            outputs=self._asked.outputs,
            result=self._targets.get(RESULT),
            has_whole_schemas=self._asked.has_whole_schemas,
        )

    def edges(self, edge: SqlEdge) -> Iterator[Edge]:
        """The edge between datasets or fields; none, if an end of it is no dataset of the event."""
        whole = self._sources.get(_table(edge.source)) or self._targets.get(_table(edge.source))
        into = self._targets.get(_table(edge.target))
        if whole is None or into is None:
            return
        yield edge_between(self._node(edge.source, whole), self._node(edge.target, into), edge)

    def _source(self, table: Table) -> DatasetName | None:
        if table == RESULT:
            return None
        found = dataset_of(table, self._asked.inputs, self._dialect) or dataset_of(
            table, self._asked.outputs, self._dialect
        )
        return self._noted(table, found)

    def _target(self, table: Table) -> DatasetName | None:
        if table == RESULT:  # what the one SELECT gives can only go where the event's one output is
            return self._asked.outputs[0].name if self._is_query and len(self._asked.outputs) == 1 else None
        return self._noted(table, dataset_of(table, self._asked.outputs, self._dialect))

    def _noted(self, table: Table, found: DatasetName | None) -> DatasetName | None:
        if found is None:
            self._unmatched.add(shortened(str(table)))
        return found

    def _node(self, end: Column | Table, dataset: DatasetName) -> Node:
        if isinstance(end, Table) or end.name == STAR or "\0" in end.name:
            return dataset
        return FieldName(dataset, spelled(end.name, self._spellings[dataset], self._dialect))


def _table(end: Column | Table) -> Table:
    return end.table if isinstance(end, Column) else end


def _whole(node: Node) -> DatasetName:
    whole = node.dataset if isinstance(node, FieldName) else node
    assert isinstance(whole, DatasetName), "SQL has no edges of jobs"
    return whole


def _texts(edge: Edge) -> tuple[str, ...]:
    return (str(edge.source), str(edge.target), edge.type, edge.subtype, str(edge.masking), edge.description)
