"""A week of a shop (2026-W47): what its people and its server sent, and when the log received it."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from fixtures.both_logs import records_of
from fixtures.stores_of_events import apply
from whence.govern.assertions import assert_facets, set_tier
from whence.govern.gate.records import approval_facets, verdict_facets
from whence.govern.incidents.current import compute_incidents, read_incidents, read_streaks
from whence.govern.incidents.incident import Incident
from whence.govern.incidents.records import act_event
from whence.govern.slos.declared import evaluate_all
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end
from whence.model.events import RunState
from whence.model.gate_records import approval_dataset, verdict_dataset
from whence.model.names import DatasetName, JobName, RunName
from whence.model.records.incidents import IncidentActRecord
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import PRODUCER, dataset, dataset_event, facet, run_event
from whence.query.answers.instants import instant
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

MINUTE, HOUR, DAY = 60_000_000, 3_600_000_000, 86_400_000_000
WEEK = "2026-W47"
MONDAY = instant("2026-11-16", 0)
SUNDAY_END = MONDAY + 7 * DAY
PROD, STAGING, DEV, HR = (f"postgres://{name}:5432" for name in ("prod", "staging", "dev", "hr"))
ORDERS, REVENUE = DatasetName(PROD, "shop.orders"), DatasetName(PROD, "shop.revenue")
BOARD = DatasetName(PROD, "board\x1b[31m\u202e<b>|`@all`\n")
RATES, PRICES = DatasetName(PROD, "ext.rates"), DatasetName(PROD, "ext.prices")
OLD, COPY = DatasetName(DEV, "old.export"), DatasetName(STAGING, "shop.orders")
SALARIES, PAYROLL = DatasetName(HR, "salaries.secret"), DatasetName(HR, "payroll.secret")
LOAD, BUILD, DRAW = (JobName("airflow", name) for name in ("load", "build", "draw"))
CLONE, EXPORT, PAY = JobName("dev", "clone"), JobName("dev", "export"), JobName("hr", "secret_pay")
SECRETS = ("hr:5432", "salaries", "payroll", "secret")
REPOSITORY = "github.com/shop/pipeline"


class Shop:
    """A log with chosen times of receipt, and the store of it."""

    def __init__(self, engine: Engine, log: Path) -> None:
        self.engine, self.log = engine, SegmentLog(log)
        self.count = 0

    def send(self, at: int, *events: dict[str, Any]) -> None:
        """Events that the log receives at a time (µs). Then the store has them."""
        bodies = [accept(json.dumps(one).encode()) for one in events]
        drafts = [
            Draft(kind=Kind.EVENT, key=bytes.fromhex(one.key), received_at=at, payload=one.payload, owner=one.key)
            for one in bodies
        ]
        writer = self.log.open_writer()
        writer.append(drafts)
        writer.close()
        self.apply(self.engine)

    def apply(self, engine: Engine, seed: int | None = None) -> None:
        """Bring everything into a store; with a seed in another order, and some of it twice."""
        records = records_of(self.log)
        if seed is not None:
            random.Random(seed).shuffle(records)
            records += records[: len(records) // 3]
        apply(engine, records, committed_end(self.log.directory))

    def run(
        self,
        at: int,
        job: JobName,
        inputs: Sequence[DatasetName] = (),
        outputs: Sequence[DatasetName] = (),
        state: RunState = RunState.COMPLETE,
        size: int | None = None,
        column: str = "",
    ) -> None:
        """A run that ends at a time, and of which the log hears a second later."""
        self.count += 1
        name = RunName(f"01890000-0000-7000-8000-{self.count:012}", job)
        written = {"outputStatistics": facet("OutputStatisticsOutputDatasetFacet", rowCount=7, size=size)}
        facets = {}
        if column:
            origin = [{"namespace": one.namespace, "name": one.name, "field": column} for one in inputs]
            fields = {column: {"inputFields": origin}}
            facets = {"columnLineage": facet("ColumnLineageDatasetFacet", fields=fields)}
        ends = [dataset(one, facets=facets, outputFacets={} if size is None else written) for one in outputs]
        self.send(at + 1_000_000, run_event(at, state, name, inputs=list(map(dataset, inputs)), outputs=ends))

    def record(self, at: int) -> None:
        """What the server does: it evaluates objectives, and then incidents, and records what changed."""
        with snapshot(self.engine) as connection:
            events = evaluate_all(StoreCatalog(connection), StoreGraph(connection), at).events
        if events:
            self.send(at, *events)
        with snapshot(self.engine) as connection:
            streaks = read_streaks(connection, at)
            found = compute_incidents(StoreCatalog(connection), StoreGraph(connection), streaks, at).events
        if found:
            self.send(at, *found)

    def incident(self, root: DatasetName, at: int) -> Incident:
        """The incident of a root that began last."""
        with snapshot(self.engine) as connection:
            streaks = read_streaks(connection, at)
            read = read_incidents(StoreCatalog(connection), StoreGraph(connection), streaks, at, is_past=True)
        return [one for one in read.incidents if one.root == root][-1]

    def act(self, root: DatasetName, at: int, kind: str, **members: Any) -> None:
        """What a person does about the incident of a root."""
        found = self.incident(root, at)
        record = IncidentActRecord(incident=found.id, dataset=str(found.root), act=kind, **members)  # type: ignore[arg-type]  # of any kind
        self.send(at, act_event(record, found.root.namespace, at, person_uri("user:ada")))


def freshness(name: DatasetName, hours: str) -> dict[str, Any]:
    """The declaration of an objective with open hours."""
    text = f"""\
version: 1
service: shop
calendars: {{office: {{timeZone: Europe/Berlin, open: {{mon-fri: "{hours}"}}}}}}
slos:
  - name: {json.dumps(f"{name.name.partition(chr(27))[0]} is fresh")}
    dataset: {json.dumps(str(name))}
    indicator: {{freshness: {{limit: 26h}}}}
    calendar: office
    objective: {{target: 90%}}
    alerting: [{{factor: 4, longWindow: 2h, shortWindow: 1h, notify: page}}]
"""
    (found,) = read_slos(text).objectives
    return declaration_event(declaration_of(found), name.namespace, MONDAY - 20 * DAY, person_uri("user:ada"))


def tell(shop: Shop) -> None:
    """The story. Orders fail on Tuesday, and revenue is late; salaries fail on Thursday."""
    start = MONDAY - 40 * DAY
    for at in (start, MONDAY - 2 * DAY):
        shop.run(at, LOAD, [RATES], [ORDERS], column="total")
        shop.run(at + HOUR, BUILD, [ORDERS, SALARIES], [REVENUE])
        shop.run(at + HOUR, PAY, [], [SALARIES])
        shop.run(at + 2 * HOUR, DRAW, [REVENUE], [BOARD])
    shop.run(start, EXPORT, [ORDERS], [OLD], size=2_500_000_000)
    shop.run(start, PAY, [SALARIES], [PAYROLL], size=7_000_000)
    shop.run(start, CLONE, [ORDERS], [COPY])
    for name, tier in ((ORDERS, 1), (REVENUE, 1), (SALARIES, 1), (COPY, 3)):
        facets = {"whence_tier": set_tier(tier)}
        if name == ORDERS:
            tags = [{"key": "domain", "value": "sales|\u202e`x`", "source": "USER"}]
            facets["tags"] = facet("TagsDatasetFacet", tags=tags)
        if name == SALARIES:
            facets["tags"] = facet("TagsDatasetFacet", tags=[{"key": "domain", "value": "secret people"}])
        shop.send(MONDAY - 20 * DAY, dataset_event(MONDAY - 20 * DAY, name, facets=facets))
    shop.send(MONDAY - 20 * DAY, freshness(REVENUE, "08:00-18:00"), freshness(SALARIES, "00:00-24:00"))
    shop.record(MONDAY - 20 * DAY + HOUR)
    for day in range(-1, 1):
        _good_day(shop, MONDAY + day * DAY)
    _tuesday(shop, MONDAY + DAY)
    for day in range(2, 7):
        _good_day(shop, MONDAY + day * DAY, is_paid=day not in (3, 4))
    shop.run(MONDAY + 2 * DAY + 8 * HOUR, BUILD, [ORDERS, SALARIES, PRICES], [REVENUE], column="amount")
    _thursday(shop, MONDAY + 3 * DAY)
    _gates(shop, MONDAY + 2 * DAY)
    shop.record(SUNDAY_END - HOUR)


def _good_day(shop: Shop, day: int, *, is_paid: bool = True) -> None:
    shop.run(day + 5 * HOUR, LOAD, [RATES], [ORDERS], column="total")
    if is_paid:
        shop.run(day + 5 * HOUR + 10 * MINUTE, PAY, [], [SALARIES])
    shop.run(day + 6 * HOUR, BUILD, [ORDERS, SALARIES], [REVENUE])
    shop.run(day + 7 * HOUR, DRAW, [REVENUE], [BOARD])
    shop.record(day + 7 * HOUR + MINUTE)


def _tuesday(shop: Shop, day: int) -> None:
    """The load fails at 5:00, which is noticed at 5:10, explained at 5:25, and mended at 12:30; revenue at 13:00."""
    shop.run(day + 5 * HOUR, LOAD, [RATES], state=RunState.FAIL)
    shop.record(day + 5 * HOUR + 10 * MINUTE)
    shop.act(ORDERS, day + 5 * HOUR + 25 * MINUTE, "confirm", cause=str(LOAD), text="secret words")
    shop.record(day + 9 * HOUR)
    shop.run(day + 12 * HOUR + 30 * MINUTE, LOAD, [RATES], [ORDERS], column="total")
    shop.run(day + 13 * HOUR, BUILD, [ORDERS, SALARIES], [REVENUE])
    shop.record(day + 13 * HOUR + MINUTE)


def _thursday(shop: Shop, day: int) -> None:
    """Payment fails, and nobody says why; salaries are late from 7:10 on, until Saturday."""
    shop.run(day + 5 * HOUR, PAY, state=RunState.FAIL)
    shop.record(day + 5 * HOUR + 2 * MINUTE)
    shop.record(day + 9 * HOUR)


def _gates(shop: Shop, day: int) -> None:
    """A blocked and a passing commit in the week, an approval, and a verdict of the week before."""
    verdicts = (("1" * 40, "blocked", day), ("2" * 40, "pass", day + HOUR), ("3" * 40, "pass", MONDAY - DAY))
    for commit, verdict, at in verdicts:
        facets = verdict_facets({"verdict": verdict, "commit": commit, "notices": ["secret salaries"]})
        shop.send(at, assert_facets(verdict_dataset(REPOSITORY, commit), at, PRODUCER, facets))
    approval = approval_dataset(REPOSITORY, "1" * 40, "user:ben")
    shop.send(day, assert_facets(approval, day, person_uri("user:ben"), approval_facets(approves=True)))
