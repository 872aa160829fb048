"""A workload like a real one: layered tables, daily jobs, column lineage, failures; late, repeated and broken events.

Deterministic by seed. A job's event is written once as a template; each run only fills in its ids and times.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Literal
from uuid import UUID

Json = dict[str, Any]

PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FIRST_DAY = datetime(2026, 1, 1, 2, tzinfo=UTC)
LAYERS = ("bronze", "silver", "gold", "features")
WORDS = (
    "customer",
    "order",
    "invoice",
    "click",
    "ticket",
    "payment",
    "session",
    "product",
    "refund",
    "campaign",
    "churn",
    "usage",
)
COLUMNS = (
    "id",
    "name",
    "amount",
    "created_at",
    "country",
    "status",
    "score",
    "email_hash",
    "quantity",
    "segment",
    "channel",
    "ratio",
)
TYPES = ("string", "bigint", "double", "timestamp", "decimal(18,2)", "boolean")
DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
INDIRECT = ("FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Shares, of all events, of what makes a real stream hard."""

    duplicates: float = 0.02
    late: float = 0.05
    malformed: float = 0.001


@dataclass(frozen=True, slots=True)
class Arrival:
    """A body on the wire, and what it is to the ledger."""

    body: bytes
    kind: Literal["event", "duplicate", "malformed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A dataset and its columns (name, type)."""

    namespace: str
    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(slots=True, kw_only=True)
class Job:
    """One daily job: its run event as text with @RUN@, @PARENT@, @STATE@, @TIME@, @DAY@ and @ROWS@ to fill in.

    From the day `changed` on it is the second text: the job then reads less.
    """

    templates: tuple[str, str]
    changed: int
    minute: int
    failures: float
    writes: Table = field(repr=False)


def bodies(seed: int = 0, jobs: int = 200, days: int = 30) -> Iterator[bytes]:
    """Clean events, in order of time: START, sometimes RUNNING, and COMPLETE or FAIL; about 10 kB each."""
    random = Random(seed)
    fleet = _fleet(random, jobs)
    for day in range(days):
        for job in fleet:
            yield from _run(random, job, day)


def arrivals(seed: int = 0, jobs: int = 200, days: int = 30, noise: Noise | None = None) -> Iterator[Arrival]:
    """The same events as they arrive: some late by up to a thousand others, some twice, some broken."""
    noise, random = noise or Noise(), Random(seed + 1)
    waiting: list[tuple[int, bytes]] = []
    for place, body in enumerate(bodies(seed, jobs, days)):
        if random.random() < noise.late:
            waiting.append((place + random.randrange(1, 1_000), body))
        else:
            yield Arrival(body, "event")
        if random.random() < noise.duplicates:
            yield Arrival(body, "duplicate")
        if random.random() < noise.malformed:
            yield Arrival(broken(random, body), "malformed")
        due = [one for one in waiting if one[0] <= place]
        if due:
            waiting = [one for one in waiting if one[0] > place]
            yield from (Arrival(body, "event") for _, body in due)
    yield from (Arrival(body, "event") for _, body in waiting)


def _fleet(random: Random, jobs: int) -> list[Job]:
    tables = [_table(random, "s3://landing", f"crm/{word}", 5, 20) for word in WORDS]
    fleet: list[Job] = []
    for number in range(jobs):
        layer = LAYERS[min(number * len(LAYERS) // jobs, len(LAYERS) - 1)]
        name = f"{layer}.{random.choice(WORDS)}_{random.choice(WORDS)}_{number}"
        reads = random.sample(tables[-40:], random.choice((1, 1, 2, 2, 3)))
        writes = _table(random, "hive://metastore:9083", name, 5, 50)
        templates = (_template(random, name, reads, writes), _template(random, name, reads[:1], writes))
        changed = random.randrange(5, 30) if random.random() < 0.1 else 10**9
        fleet.append(
            Job(
                templates=templates,
                changed=changed,
                minute=number * 240 // jobs,
                failures=random.choice((0, 0, 0.02, 0.2)),
                writes=writes,
            )
        )
        tables.append(writes)
    return fleet


def _table(random: Random, namespace: str, name: str, least: int, most: int) -> Table:
    columns = tuple(
        (f"{random.choice(COLUMNS)}_{place}", random.choice(TYPES))
        for place in range(least + int((most + 1 - least) * random.random() ** 4))
    )
    return Table(namespace=namespace, name=name, columns=columns)


def _run(random: Random, job: Job, day: int) -> Iterator[bytes]:
    template = job.templates[day >= job.changed]
    start = FIRST_DAY + timedelta(days=day, minutes=job.minute, milliseconds=random.randrange(50_000))
    ended = start + timedelta(seconds=random.randrange(20, 900))
    ids = template.replace("@RUN@", _run_id(random, start)).replace("@PARENT@", _dag_run_id(day))
    ids = ids.replace("@DAY@", f"{start:%Y-%m-%d}")
    last = "FAIL" if random.random() < job.failures else "COMPLETE"
    states = [("START", start), (last, ended)]
    if random.random() < 0.2:
        states.insert(1, ("RUNNING", start + (ended - start) / 2))
    for state, at in states:
        rows = "0" if state == "START" else str(random.randrange(10**7))
        yield (
            ids.replace("@STATE@", state)
            .replace("@TIME@", f"{at:%Y-%m-%dT%H:%M:%S.%f}Z")
            .replace("@ROWS@", rows)
            .encode()
        )


def _run_id(random: Random, start: datetime) -> str:
    """A UUIDv7, as the Spark listener makes them."""
    millis = int(start.timestamp() * 1_000)
    bits = millis << 80 | 7 << 76 | random.getrandbits(12) << 64 | 2 << 62 | random.getrandbits(62)
    return str(UUID(int=bits))


def _dag_run_id(day: int) -> str:
    return str(UUID(int=(0x019B << 112) | (7 << 76) | (2 << 62) | day))


def _template(random: Random, name: str, reads: list[Table], writes: Table) -> str:
    dag = {"run": {"runId": "@PARENT@"}, "job": {"namespace": "airflow", "name": "lakehouse_daily"}}
    run_facets = {
        "parent": _facet("ParentRunFacet", dag | {"root": dag}),
        "nominalTime": _facet("NominalTimeRunFacet", {"nominalStartTime": "@DAY@T00:00:00Z"}),
        "processing_engine": _facet(
            "ProcessingEngineRunFacet", {"version": "4.0.0", "name": "spark", "openlineageAdapterVersion": "1.53.0"}
        ),
        "spark_properties": _facet(
            "SparkPropertiesFacet", {"properties": {"spark.master": "yarn", "spark.app.name": name}}
        ),
    }
    job_facets = {
        "jobType": _facet("JobTypeJobFacet", {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"}),
        "sql": _facet("SQLJobFacet", {"query": _query(reads, writes), "dialect": "spark"}),
    }
    event = {
        "eventType": "@STATE@",
        "eventTime": "@TIME@",
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
        "run": {"runId": "@RUN@", "facets": run_facets},
        "job": {"namespace": "spark", "name": f"lakehouse.{name}", "facets": job_facets},
        "inputs": [_dataset(table) for table in reads],
        "outputs": [_output(random, reads, writes)],
    }
    return json.dumps(event, separators=(",", ":")).replace('"@ROWS@"', "@ROWS@")


def _facet(name: str, content: Json) -> Json:
    return {
        "_producer": PRODUCER,
        "_schemaURL": f"https://openlineage.io/spec/facets/1-0-0/{name}.json#/$defs/{name}",
    } | content


def _dataset(table: Table) -> Json:
    columns = [{"name": name, "type": kind} for name, kind in table.columns]
    facets = {"schema": _facet("SchemaDatasetFacet", {"fields": columns})}
    if table.namespace.startswith("hive"):
        link = {"namespace": "s3://lake", "name": "warehouse/" + table.name.replace(".", "/"), "type": "LOCATION"}
        facets["symlinks"] = _facet("SymlinksDatasetFacet", {"identifiers": [link]})
    return {"namespace": table.namespace, "name": table.name, "facets": facets}


def _output(random: Random, reads: list[Table], writes: Table) -> Json:
    output = _dataset(writes)
    fields = {
        name: {
            "inputFields": [_input_field(random, reads, "DIRECT", DIRECT) for _ in range(random.choice((1, 1, 1, 2)))]
        }
        for name, _ in writes.columns
    }
    influences = [_input_field(random, reads, "INDIRECT", INDIRECT) for _ in range(random.randint(0, 3))]
    if random.random() < 0.15:  # Spark's older form: a copy under every column
        lineage: Json = {
            "fields": {name: {"inputFields": one["inputFields"] + influences} for name, one in fields.items()}
        }
    else:
        lineage = {"fields": fields, "dataset": influences}
    output["facets"]["columnLineage"] = _facet("ColumnLineageDatasetFacet", lineage)
    output["outputFacets"] = {"outputStatistics": _facet("OutputStatisticsOutputDatasetFacet", {"rowCount": "@ROWS@"})}
    return output


def _input_field(random: Random, reads: list[Table], kind: str, subtypes: tuple[str, ...]) -> Json:
    table = random.choice(reads)
    how = {"type": kind, "subtype": random.choice(subtypes), "description": "", "masking": random.random() < 0.02}
    return {
        "namespace": table.namespace,
        "name": table.name,
        "field": random.choice(table.columns)[0],
        "transformations": [how],
    }


def _query(reads: list[Table], writes: Table) -> str:
    selected = ",\n  ".join(f"coalesce(t.{name}, cast(null as {kind})) as {name}" for name, kind in writes.columns)
    joins = "\n".join(
        f"left join {table.name.replace('/', '.')} as j{place} on j{place}.id = t.id"
        for place, table in enumerate(reads[1:])
    )
    source = reads[0].name.replace("/", ".")
    return f"insert overwrite {writes.name}\nselect\n  {selected}\nfrom {source} as t\n{joins}\nwhere t.day = '@DAY@'"


def broken(random: Random, body: bytes) -> bytes:
    """A body that is no event any more, in one of four ways."""
    kind = random.randrange(4)
    if kind == 0:
        return body[: random.randrange(1, len(body))]
    if kind == 1:
        return body.replace(b'"runId":"', b'"runId":"not-a-', 1)
    if kind == 2:
        return body.replace(b'"eventTime":"2', b'"eventTime":"yesterday 2', 1)
    return body.replace(b'"job":{"namespace":"spark",', b'"job":{', 1)
