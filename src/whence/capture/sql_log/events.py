"""A logged query as run events: who ran it, when, what it read, wrote and moved, and where the log says so."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

from openlineage.client.uuid import generate_static_uuid

from whence.capture.sql import RESULT, Catalog, ScriptLineage, Table, read_script
from whence.capture.sql.dialects import dialect_of
from whence.capture.sql.events import SqlFacts, shortened, sql_facts
from whence.capture.sql.naming import Naming
from whence.capture.sql_log.fingerprint import fingerprint
from whence.capture.sql_log.query import Parts, Query, Reported
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.wire import Json
from whence.openlineage.write import column_lineage, dataset, facet, job_event, own_facet, run_event

_SCHEMAS = {"postgres": "public", "redshift": "public", "snowflake": "PUBLIC", "duckdb": "main", "tsql": "dbo"}
_TWO_PARTS = ("mysql", "hive", "spark", "clickhouse", "teradata", "sqlite", "oracle")
_SYSTEM = frozenset({"pg_catalog", "information_schema", "pg_toast"})
_CACHED_TEXT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the log itself does not say. `time`: of queries without one, microseconds since 1970 UTC."""

    dialect: str
    namespace: str
    """Of datasets: the database's."""
    jobs: str
    """The namespace of jobs."""
    time: int
    database: str = ""
    schema: str = ""
    catalog: Catalog = field(default_factory=lambda: Catalog(tables={}))

    def defaults(self, query: Query) -> Parts:
        """What stands before a bare table name of a query, empty where nobody says it."""
        database, schema = query.database or self.database, query.schema or self.schema
        if self.dialect in _TWO_PARTS:
            return (schema or database,)
        return (database, schema or _SCHEMAS.get(self.dialect, ""))


def query_events(query: Query, settings: Settings) -> list[Json]:
    """START and end of the query's run; nothing for one that touches no data of users. Raises DialectError."""
    if query.dialect:
        settings = replace(settings, dialect=dialect_of(query.dialect).name)
    facts = _facts(query, settings)
    if facts is None:
        return []
    ended = query.ended or settings.time
    started = min(query.started or ended, ended)
    run = RunName(_run_id(query, started, settings), _job(query, facts, settings))
    kind = facet("JobTypeJobFacet", processingType="BATCH", integration=settings.dialect.upper(), jobType="QUERY")
    job_facets = {"jobType": kind, **facts.job_facets}
    run_facets = {**facts.run_facets, **_run_facets(query, settings)}
    outputs = [] if query.state is not RunState.COMPLETE else _outputs(query, facts)
    return [
        run_event(started, RunState.START, run, job_facets={"jobType": kind}),
        run_event(
            ended,
            query.state,
            run,
            run_facets=run_facets,
            job_facets=job_facets,
            inputs=[dataset(one) for one in facts.inputs],
            outputs=outputs,
        ),
    ]


def script_event(text: str, name: str, settings: Settings) -> Json:
    """What a file of SQL declares: a job called as the file. It did not run, as far as anybody knows."""
    naming = Naming(namespace=settings.namespace, defaults=settings.defaults(_NOBODY))
    catalog = _searched(settings.catalog, naming.defaults)
    facts = sql_facts(text, settings.dialect, read_script(text, settings.dialect, catalog), naming)
    kind = facet("JobTypeJobFacet", processingType="BATCH", integration=settings.dialect.upper(), jobType="SCRIPT")
    errors = {f"whence_{key}": one for key, one in facts.run_facets.items()}  # a job event has no run to be partial
    return job_event(
        settings.time,
        JobName(settings.jobs, name),
        facets={"jobType": kind, **facts.job_facets, **errors},
        inputs=[dataset(one) for one in facts.inputs],
        outputs=[dataset(one, facets=facets) for one, facets in facts.outputs.items()],
    )


_NOBODY = Query(text="", place="", ended=0)


def _facts(query: Query, settings: Settings) -> SqlFacts | None:
    """What the text says; what the engine says where there is no text, or the text says nothing of columns."""
    naming = _naming(query, settings)
    told = _told(query.reported, settings) if query.reported.inputs or query.reported.outputs else None
    if not query.text.strip():
        return told
    script = _read(query.text, settings, naming.defaults)
    if query.destination:
        script = replace(script, statements=tuple(replace(one, writes=(*one.writes, RESULT)) for one in script))
    if not any(one.reads or one.writes or one.status == "failed" for one in script):
        return told
    facts = sql_facts(query.text, settings.dialect, script, naming)
    if not (facts.inputs or facts.outputs or facts.run_facets):
        return told
    if told and told.outputs and not any(facts.direct.values()) and (any(told.direct.values()) or not facts.outputs):
        return replace(told, job_facets=facts.job_facets, run_facets=facts.run_facets)
    return facts


def _read(text: str, settings: Settings, defaults: Parts) -> ScriptLineage:
    read = _read_once if len(text) <= _CACHED_TEXT else _read_any
    script = read(text, settings.dialect, _Known(settings.catalog, defaults))
    if len(script.statements) == 1:  # a temporary table that one query makes is read by the session's next ones
        return replace(script, collapsed=script.statements[0].edges)
    return script


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A catalog and what stands before bare names. Catalogs are compared by identity: cheap as a key of the cache."""

    catalog: Catalog
    defaults: Parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and (self.catalog is other.catalog and self.defaults == other.defaults)

    def __hash__(self) -> int:
        return hash((id(self.catalog), self.defaults))


def _read_any(text: str, dialect: str, known: _Known) -> ScriptLineage:
    return read_script(text, dialect, _searched(known.catalog, known.defaults))


def _searched(catalog: Catalog, defaults: Parts) -> Catalog:
    """The catalog of a session in this database and schema."""
    known = tuple(filter(None, defaults))
    return replace(catalog, defaults=(known,) if known else ())


# Logs repeat themselves: the same text comes again and again.
_read_once = lru_cache(maxsize=4_096)(_read_any)


def _naming(query: Query, settings: Settings) -> Naming:
    """How the tables of a query are named: temporary ones by their session, catalogs of the engine not at all."""
    defaults = settings.defaults(query)
    own: dict[Table, DatasetName | None] = {}
    if query.destination:
        own[RESULT] = DatasetName(settings.namespace, ".".join(query.destination))
    path = tuple(filter(None, defaults))
    for name in query.temporary:
        whole = ".".join(filter(None, (defaults[0], f"temp-{query.session}", name)))
        for spelt in (name, name.lower(), name.upper()):  # as the dialect folds it
            own |= {Table(parts): DatasetName(settings.namespace, whole) for parts in ((spelt,), (*path, spelt))}
    return Naming(namespace=settings.namespace, defaults=defaults, own=own, hidden=_SYSTEM)


def _told(reported: Reported, settings: Settings) -> SqlFacts:
    """The facts that the engine reports."""

    def name(parts: Parts) -> DatasetName:
        return DatasetName(settings.namespace, ".".join(parts))

    edges: dict[DatasetName, list[Edge]] = {name(parts): [] for parts in reported.outputs}
    for flow in reported.flows:
        source, target = FieldName(name(flow.source), flow.source_column), name(flow.target)
        edge = Edge(source=source, target=FieldName(target, flow.target_column), type="DIRECT")
        edges.setdefault(target, []).append(edge)
    return SqlFacts(
        inputs=tuple(sorted({name(parts) for parts in reported.inputs})),
        outputs={one: {"columnLineage": column_lineage(some)} if some else {} for one, some in sorted(edges.items())},
        job_facets={},
        run_facets={},
        direct={one: frozenset(_fields(some)) for one, some in edges.items()},
    )


def _fields(edges: list[Edge]) -> Iterator[str]:
    return (edge.target.field for edge in edges if isinstance(edge.target, FieldName))


def _outputs(query: Query, facts: SqlFacts) -> list[Json]:
    written = facet("OutputStatisticsOutputDatasetFacet", rowCount=query.rows) if query.rows is not None else None
    more = {"outputFacets": {"outputStatistics": written}} if written and len(facts.outputs) == 1 else {}
    return [dataset(one, facets=dict(facets), **more) for one, facets in facts.outputs.items()]


def _job(query: Query, facts: SqlFacts, settings: Settings) -> JobName:
    """All queries of one shape are one job, called by what it writes, or else reads."""
    end = next(iter(facts.outputs), None) or next(iter(facts.inputs), None)
    subject = end.name.rpartition(".")[2].rpartition("/")[2] if end else "unknown"
    verb = "write" if facts.outputs else "read"
    shape = fingerprint(query.text or "|".join([verb, *(one.name for one in (*facts.inputs, *facts.outputs))]))
    return JobName(settings.jobs, f"{verb}.{subject}.{shape}")


def _run_id(query: Query, started: int, settings: Settings) -> str:
    """The same for the same query in whichever file it is found: sending a log again changes nothing."""
    who = (settings.namespace, query.session, query.user, query.query_id, str(query.ended), query.text)
    at = datetime.fromtimestamp(started / 1_000_000, UTC)
    return str(generate_static_uuid(at, "\0".join(who).encode("utf-8", "surrogatepass")))


def _run_facets(query: Query, settings: Settings) -> Json:
    said: Mapping[str, object] = {
        "user": query.user,
        "database": query.database,
        "schema": query.schema,
        "session": query.session,
        "application": query.application,
        "rows": query.rows,
        "calls": query.calls,
        "place": query.place,
    }
    facets = {
        "whence_query": own_facet("QueryRunFacet", **{key: one for key, one in said.items() if one not in ("", None)})
    }
    if query.query_id:
        external = facet("ExternalQueryRunFacet", externalQueryId=query.query_id, source=settings.namespace)
        facets["externalQuery"] = external
    if query.error:
        facets["errorMessage"] = facet(
            "ErrorMessageRunFacet", message=shortened(query.error), programmingLanguage="SQL"
        )
    return facets
