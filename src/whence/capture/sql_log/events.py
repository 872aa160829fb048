"""A logged query as run events: its user, its times, its reads, writes and flows, and its position in the log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

from openlineage.client.uuid import generate_static_uuid

from whence.capture.sql import RESULT, Catalog, ScriptLineage, Table, read_script
from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.events.events import SqlFacts, shorten, sql_facts
from whence.capture.sql.events.naming import Naming
from whence.capture.sql_log.fingerprint import fingerprint
from whence.capture.sql_log.query import Parts, Query, Reported
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import column_lineage, dataset, facet, job_event, own_facet, run_event

_SCHEMAS = {"postgres": "public", "redshift": "public", "snowflake": "PUBLIC", "duckdb": "main", "tsql": "dbo"}
_TWO_PARTS = ("mysql", "hive", "spark", "clickhouse", "teradata", "sqlite", "oracle")
_SYSTEM = frozenset({"pg_catalog", "information_schema", "pg_toast"})
_CACHED_TEXT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Defaults for what the log omits. `time`: of queries without one, microseconds since 1970 UTC."""

    dialect: str
    namespace: str
    """The namespace of datasets: the database's."""
    jobs: str
    """The namespace of jobs."""
    time: int
    database: str = ""
    schema: str = ""
    catalog: Catalog = field(default_factory=lambda: Catalog(tables={}))

    def defaults(self, query: Query) -> Parts:
        """The prefix of a query's bare table names; parts are empty where unknown."""
        database, schema = query.database or self.database, query.schema or self.schema
        if self.dialect in _TWO_PARTS:
            return (schema or database,)
        return (database, schema or _SCHEMAS.get(self.dialect, ""))


def query_events(query: Query, settings: Settings) -> list[Json]:
    """The START and end events of the query's run; empty if it touches no user data. Raises DialectError."""
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
            inputs=[dataset(name) for name in facts.inputs],
            outputs=outputs,
        ),
    ]


def script_event(text: str, name: str, settings: Settings) -> Json:
    """The job event of an SQL file. The job has the name of the file, and no run is known."""
    naming = Naming(namespace=settings.namespace, defaults=settings.defaults(_ANY_QUERY))
    catalog = _with_defaults(settings.catalog, naming.defaults)
    facts = sql_facts(text, settings.dialect, read_script(text, settings.dialect, catalog), naming)
    kind = facet("JobTypeJobFacet", processingType="BATCH", integration=settings.dialect.upper(), jobType="SCRIPT")
    errors = {
        f"whence_{key}": value for key, value in facts.run_facets.items()
    }  # a job event has no run that could carry them
    return job_event(
        settings.time,
        JobName(settings.jobs, name),
        facets={"jobType": kind, **facts.job_facets, **errors},
        inputs=[dataset(name) for name in facts.inputs],
        outputs=[dataset(name, facets=facets) for name, facets in facts.outputs.items()],
    )


_ANY_QUERY = Query(text="", place="", ended=0)


def _facts(query: Query, settings: Settings) -> SqlFacts | None:
    """The facts of a query's text. The engine's report is used if there is no text, or the text yields no columns."""
    naming = _naming(query, settings)
    reported = _reported_facts(query.reported, settings) if query.reported.inputs or query.reported.outputs else None
    if not query.text.strip():
        return reported
    script = _read_text(query.text, settings, naming.defaults)
    if query.destination:
        script = replace(
            script, statements=tuple(replace(statement, writes=(*statement.writes, RESULT)) for statement in script)
        )
    if not any(statement.reads or statement.writes or statement.status == "failed" for statement in script):
        return reported
    facts = sql_facts(query.text, settings.dialect, script, naming)
    if not (facts.inputs or facts.outputs or facts.run_facets):
        return reported
    if (
        reported
        and reported.outputs
        and not any(facts.direct.values())
        and (any(reported.direct.values()) or not facts.outputs)
    ):
        return replace(reported, job_facets=facts.job_facets, run_facets=facts.run_facets)
    return facts


def _read_text(text: str, settings: Settings, defaults: Parts) -> ScriptLineage:
    read = _read_cached if len(text) <= _CACHED_TEXT else _read_uncached
    script = read(text, settings.dialect, _SessionCatalog(settings.catalog, defaults))
    if len(script.statements) == 1:  # keep temporary tables: later queries of the session read them
        return replace(script, collapsed=script.statements[0].edges)
    return script


@dataclass(frozen=True, slots=True, eq=False)
class _SessionCatalog:
    """A catalog and the prefix of bare names. Catalogs compare by identity, which makes a cheap cache key."""

    catalog: Catalog
    defaults: Parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SessionCatalog) and (
            self.catalog is other.catalog and self.defaults == other.defaults
        )

    def __hash__(self) -> int:
        return hash((id(self.catalog), self.defaults))


def _read_uncached(text: str, dialect: str, known: _SessionCatalog) -> ScriptLineage:
    return read_script(text, dialect, _with_defaults(known.catalog, known.defaults))


def _with_defaults(catalog: Catalog, defaults: Parts) -> Catalog:
    """The catalog of a session in this database and schema."""
    path = tuple(filter(None, defaults))
    return replace(catalog, defaults=(path,) if path else ())


# Logs contain the same text many times.
_read_cached = lru_cache(maxsize=4_096)(_read_uncached)


def _naming(query: Query, settings: Settings) -> Naming:
    """The naming of a query's tables: temporary ones by their session; the engine's catalogs have no names."""
    defaults = settings.defaults(query)
    dataset_names: dict[Table, DatasetName | None] = {}
    if query.destination:
        dataset_names[RESULT] = DatasetName(settings.namespace, ".".join(query.destination))
    path = tuple(filter(None, defaults))
    for name in query.temporary:
        full_name = ".".join(filter(None, (defaults[0], f"temp-{query.session}", name)))
        for spelling in (name, name.lower(), name.upper()):  # as the dialect folds it
            dataset_names |= {
                Table(parts): DatasetName(settings.namespace, full_name) for parts in ((spelling,), (*path, spelling))
            }
    return Naming(namespace=settings.namespace, defaults=defaults, own=dataset_names, hidden=_SYSTEM)


def _reported_facts(reported: Reported, settings: Settings) -> SqlFacts:
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
        outputs={
            output: {"columnLineage": column_lineage(output_edges)} if output_edges else {}
            for output, output_edges in sorted(edges.items())
        },
        job_facets={},
        run_facets={},
        direct={output: frozenset(_fields(output_edges)) for output, output_edges in edges.items()},
    )


def _fields(edges: list[Edge]) -> Iterator[str]:
    return (edge.target.field for edge in edges if isinstance(edge.target, FieldName))


def _outputs(query: Query, facts: SqlFacts) -> list[Json]:
    written = facet("OutputStatisticsOutputDatasetFacet", rowCount=query.rows) if query.rows is not None else None
    output_facets = {"outputFacets": {"outputStatistics": written}} if written and len(facts.outputs) == 1 else {}
    return [dataset(output, facets=dict(facets), **output_facets) for output, facets in facts.outputs.items()]


def _job(query: Query, facts: SqlFacts, settings: Settings) -> JobName:
    """The job of a query. All queries of one shape are one job, named after the table they write, or else read."""
    table = next(iter(facts.outputs), None) or next(iter(facts.inputs), None)
    subject = table.name.rpartition(".")[2].rpartition("/")[2] if table else "unknown"
    verb = "write" if facts.outputs else "read"
    shape = fingerprint(query.text or "|".join([verb, *(name.name for name in (*facts.inputs, *facts.outputs))]))
    return JobName(settings.jobs, f"{verb}.{subject}.{shape}")


def _run_id(query: Query, started: int, settings: Settings) -> str:
    """The run id of a query, the same in every file that contains it: sending a log again changes nothing."""
    identity = (settings.namespace, query.session, query.user, query.query_id, str(query.ended), query.text)
    at = datetime.fromtimestamp(started / 1_000_000, UTC)
    return str(generate_static_uuid(at, "\0".join(identity).encode("utf-8", "surrogatepass")))


def _run_facets(query: Query, settings: Settings) -> Json:
    members: Mapping[str, object] = {
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
        "whence_query": own_facet(
            "QueryRunFacet", **{key: value for key, value in members.items() if value not in ("", None)}
        )
    }
    if query.query_id:
        external = facet("ExternalQueryRunFacet", externalQueryId=query.query_id, source=settings.namespace)
        facets["externalQuery"] = external
    if query.error:
        facets["errorMessage"] = facet("ErrorMessageRunFacet", message=shorten(query.error), programmingLanguage="SQL")
    return facets
