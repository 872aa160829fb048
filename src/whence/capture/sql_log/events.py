"""A logged query as run events: its user, its times, its reads, writes and flows, and its position in the log."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

from openlineage.client.uuid import generate_static_uuid

from whence.capture.sql import RESULT, Catalog, ScriptLineage, Table, read_script
from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.events.events import SqlFacts, shorten, sql_facts
from whence.capture.sql.events.naming import Naming
from whence.capture.sql_log.fingerprint import fingerprint
from whence.capture.sql_log.query import Parts, Query
from whence.capture.sql_log.reported import combine_facts, reported_facts
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset, facet, job_event, own_facet, run_event
from whence_client.events.ids import run_id

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
    naming = Naming(namespace=settings.namespace, defaults=settings.defaults(ANY_QUERY))
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


ANY_QUERY = Query(text="", place="", ended=0)
"""One that names neither database nor schema."""


def _facts(query: Query, settings: Settings) -> SqlFacts | None:
    """The facts of a query's text, with those that the engine reports. None if both have no data."""
    naming = _naming(query, settings)
    reported = reported_facts(query.reported, naming)
    if not query.text.strip():
        return reported
    script = _read_text(query, settings, naming.defaults)
    if query.destination:
        script = replace(
            script, statements=tuple(replace(statement, writes=(*statement.writes, RESULT)) for statement in script)
        )
    if not any(statement.reads or statement.writes or statement.status == "failed" for statement in script):
        return reported
    facts = sql_facts(query.text, settings.dialect, script, naming)
    if not (facts.inputs or facts.outputs or facts.run_facets):
        return reported
    is_whole = all(statement.status == "parsed" for statement in script)
    is_direct = query.reported.is_direct
    return combine_facts(facts, reported, is_whole=is_whole, is_direct=is_direct) if reported else facts


def _read_text(query: Query, settings: Settings, defaults: Parts) -> ScriptLineage:
    read = _read_cached if len(query.text) <= _CACHED_TEXT else _read_uncached
    known = _SessionCatalog(settings.catalog, defaults, query.reported.columns)
    script = read(query.text, settings.dialect, known)
    if len(script.statements) == 1:  # keep temporary tables: later queries of the session read them
        return replace(script, collapsed=script.statements[0].edges)
    return script


@dataclass(frozen=True, slots=True, eq=False)
class _SessionCatalog:
    """A catalog, the prefix of bare names, and the columns that the engine reports for one query.

    Catalogs compare by identity, which makes a cheap cache key.
    """

    catalog: Catalog
    defaults: Parts
    reported: tuple[tuple[Parts, tuple[str, ...]], ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SessionCatalog) and (
            self.catalog is other.catalog and (self.defaults, self.reported) == (other.defaults, other.reported)
        )

    def __hash__(self) -> int:
        return hash((id(self.catalog), self.defaults, self.reported))


def _read_uncached(text: str, dialect: str, known: _SessionCatalog) -> ScriptLineage:
    catalog = _with_defaults(known.catalog, known.defaults)
    reported = {Table(parts): columns for parts, columns in known.reported}
    return read_script(text, dialect, replace(catalog, reported=reported) if reported else catalog)


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


def _outputs(query: Query, facts: SqlFacts) -> list[Json]:
    written = facet("OutputStatisticsOutputDatasetFacet", rowCount=query.rows) if query.rows is not None else None
    output_facets = {"outputFacets": {"outputStatistics": written}} if written and len(facts.outputs) == 1 else {}
    return [dataset(output, facets=dict(facets), **output_facets) for output, facets in facts.outputs.items()]


def _job(query: Query, facts: SqlFacts, settings: Settings) -> JobName:
    """The job of a query. All queries of one shape are one job, named after the table they write, or else read."""
    if query.job:
        return JobName(settings.jobs, query.job)
    table = next(iter(facts.outputs), None) or next(iter(facts.inputs), None)
    subject = table.name.rpartition(".")[2].rpartition("/")[2] if table else "unknown"
    verb = "write" if facts.outputs else "read"
    shape = fingerprint(query.text or verb, _tables_of_job(query, facts, settings))
    return JobName(settings.jobs, f"{verb}.{subject}.{shape}")


def _tables_of_job(query: Query, facts: SqlFacts, settings: Settings) -> list[str]:
    """The tables that a job writes, or else reads. The files of a text are left out: their names have dates."""
    if not query.text:
        return [str(name) for name in (*facts.inputs, *facts.outputs)]
    named = (name for name in facts.outputs or facts.inputs if name.namespace == settings.namespace)
    return [name.name.replace(f"temp-{query.session}.", "temp.") for name in named]


def _run_id(query: Query, started: int, settings: Settings) -> str:
    """The run id of a query: that of the engine's own id, whoever reads it, or else of all that the log has."""
    if query.execution:
        return run_id(settings.namespace, *query.execution)
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
