"""An organisation in small, made at random: a plan of it, and the events that it sends. Every job says the same in each
of its runs, so that what holds in the end is what the plan says.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from filling import draft
from whence.log.record import Draft

Json = dict[str, Any]

AT = datetime(2026, 11, 20, 6, tzinfo=UTC)
DAYS = 7
MINUTE = timedelta(minutes=1)
HEAD = {"producer": "https://example.org/estate", "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json"}
FACET = {"_producer": "https://example.org/estate", "_schemaURL": "https://example.org/facet.json"}
SAYS = ("columns", "stated", "inferred")


@dataclass(slots=True, kw_only=True)
class Table:
    """A dataset of the plan; `names` are its own and an alias, if it has one."""

    names: tuple[str, ...]
    type: str = "TABLE"
    certified: bool = False
    origin: bool = False
    terminal: bool = False
    wrong: tuple[str, ...] = ()
    """Datasets that are reported not to be upstream of it."""
    mentioned: list[datetime] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of the plan: how it says what its outputs come from."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    says: str
    streaming: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the plan: which of its events arrive besides RUNNING, and whether what it checked held."""

    job: Job
    start: datetime
    reports_start: bool
    reports_end: bool
    checks: tuple[bool, ...]

    @property
    def times(self) -> dict[str, datetime]:
        """The events that arrive."""
        sent = {"START": self.reports_start, "RUNNING": True, "COMPLETE": self.reports_end}
        return {state: self.start + 5 * place * MINUTE for place, state in enumerate(sent) if sent[state]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A body, and when it came: so long after its eventTime, if it is an event that came for the first time."""

    body: bytes
    at: datetime
    delay: timedelta | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """The plan, and what was received."""

    tables: Mapping[str, Table]
    jobs: tuple[Job, ...]
    runs: tuple[Run, ...]
    received: tuple[Received, ...]

    def drafts(self) -> list[Draft]:
        """What the collector appends."""
        return [replace(draft(one.body), received_at=micros(one.at)) for one in self.received]


def micros(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def estate(seed: int) -> Estate:
    """One at random."""
    random = Random(seed)
    tables = _tables(random)
    runs = [run for job in _jobs(random, list(tables)) for run in _runs(random, job)]
    events = [*_declared(random, tables)]
    for number, run in enumerate(runs):
        events += _sent(random, number, run, tables)
    received = [one for event, time in events for one in _received(random, event, time)]
    received += [_refused(random, number) for number in range(random.randint(0, 20))]
    return Estate(
        tables=tables,
        jobs=tuple(dict.fromkeys(run.job for run in runs)),
        runs=tuple(runs),
        received=tuple(sorted(received, key=lambda one: one.at)),
    )


def _tables(random: Random) -> dict[str, Table]:
    names = [f"t{number}" for number in range(random.randint(8, 30))]
    return {
        name: Table(
            names=(name, f"a{name}") if random.random() < 0.3 else (name,),
            type=random.choice(["TABLE", "TABLE", "TABLE", "dashboard", "MODEL"]),
            certified=random.random() < 0.4,
            origin=random.random() < 0.3,
            terminal=random.random() < 0.2,
            wrong=tuple(random.sample(names, random.choice([0, 0, 1, 3]))),
        )
        for name in names
    }


def _jobs(random: Random, names: list[str]) -> Iterator[Job]:
    for number in range(random.randint(4, 16)):
        yield Job(
            name=f"job:{number}",
            reads=tuple(random.sample(names, random.randint(0, 3))),
            writes=tuple(random.sample(names, random.randint(0, 2))),
            says=random.choice(SAYS),
            streaming=random.random() < 0.2,
        )


def _runs(random: Random, job: Job) -> Iterator[Run]:
    for _ in range(random.randint(0, 4)):
        checks = [random.random() < 0.7 for _ in range(random.randint(0, 3))] if job.reads else []
        yield Run(
            job=job,
            start=AT - timedelta(minutes=random.randint(20, 20_000)),
            reports_start=random.random() < 0.8,
            reports_end=random.random() < 0.8,
            checks=tuple(checks),
        )


def _declared(random: Random, tables: Mapping[str, Table]) -> Iterator[tuple[Json, datetime]]:
    """An event for each name of a dataset; what is asserted stands on one of the names."""
    for table in tables.values():
        facets: Json = {"datasetType": {**FACET, "datasetType": table.type}}
        if table.certified:
            tags = [{"key": "tier", "value": "1"}, {"key": "Certified", "value": "true", "source": "people"}]
            facets["tags"] = {**FACET, "tags": tags}
        elif random.random() < 0.3:  # a certified column is no certified table
            facets["tags"] = {**FACET, "tags": [{"key": "certified", "value": "true", "field": "c"}]}
        if table.origin or table.terminal:
            facets["whence_boundary"] = {**FACET, "origin": table.origin, "terminal": table.terminal}
        reports = [_named(random.choice(tables[name].names)) for name in table.wrong]
        facets["whence_falsePositives"] = {**FACET, "reports": [*reports, {"name": 3}, "?"]}
        said_of = random.choice(table.names)
        for name in table.names:
            time = AT - timedelta(minutes=random.randint(20, 40_000))
            table.mentioned.append(time)
            symlinks = [{**_named(other), "type": "LOCATION"} for other in table.names if other != name]
            own = {"symlinks": {**FACET, "identifiers": symlinks}} | (facets if name == said_of else {})
            yield {"dataset": {**_named(name), "facets": own}}, time


def _sent(random: Random, number: int, run: Run, tables: Mapping[str, Table]) -> Iterator[tuple[Json, datetime]]:
    job = run.job
    for state, time in run.times.items():
        for name in (*job.reads, *job.writes):
            tables[name].mentioned.append(time)
        reads, writes = (
            [_named(random.choice(tables[name].names)) for name in some] for some in (job.reads, job.writes)
        )
        facets = {"jobType": {**FACET, "processingType": "STREAMING" if job.streaming else "BATCH"}}
        if job.says == "stated":
            sources = [{**one, "type": "DATASET"} for one in reads]
            entries = [{**one, "type": "DATASET", "inputs": sources} for one in writes]
            facets["lineage"] = {**FACET, "entries": entries}  # type: ignore[dict-item]  # JSON
        parent = {"run": {"runId": str(UUID(int=7))}, "job": {"namespace": "estate", "name": "nightly"}}
        yield (
            {
                "eventType": state,
                "run": {"runId": str(UUID(int=1000 + number)), "facets": {"parent": {**FACET, **parent}}},
                "job": {"namespace": "estate", "name": job.name, "facets": facets},
                "inputs": _checked(reads, run) if state == "RUNNING" else reads,
                "outputs": [_with_columns(one, reads) for one in writes] if job.says == "columns" else writes,
            },
            time,
        )


def _checked(reads: list[Json], run: Run) -> list[Json]:
    """The first input with what the run found of it."""
    if not run.checks:
        return reads
    checks = [{"assertion": f"check{place}", "success": held} for place, held in enumerate(run.checks)]
    facet = {**FACET, "assertions": [*checks, {"assertion": "nothing said"}]}
    return [{**reads[0], "inputFacets": {"dataQualityAssertions": facet}}, *reads[1:]]


def _with_columns(output: Json, reads: list[Json]) -> Json:
    columns = {"c": {"inputFields": [{**one, "field": "c"} for one in reads]}}
    return {**output, "facets": {"columnLineage": {**FACET, "fields": columns}}}


def _named(name: str) -> Json:
    return {"namespace": "s3a://estate", "name": name}


def _received(random: Random, event: Json, time: datetime) -> Iterator[Received]:
    body = json.dumps({**HEAD, "eventTime": time.isoformat(), **event}).encode()
    delay = timedelta(milliseconds=random.randint(0, 10_000_000))
    yield Received(body=body, at=time + delay, delay=delay)
    if random.random() < 0.1:
        yield Received(body=body, at=time + delay + timedelta(microseconds=1))  # a receipt: it is known of late


def _refused(random: Random, number: int) -> Received:
    at = AT - timedelta(minutes=random.randint(20, 20_000))
    return Received(body=f'{{"eventTime": "never", "run": {number}}}'.encode(), at=at, refused=True)
