"""The story behind an API, to look at: `PYTHONPATH=src:tests python -m ui.stories.serve 8123`.

With `--keys` it asks for keys, and prints some.
"""

import dataclasses
import json
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import sin
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake
from sqlalchemy import Engine, select

from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply, applying
from ui.stories.datasets import FEATURES
from ui.stories.objectives import declared
from ui.stories.rules import DAY, rules
from ui.stories.story import NOW, REFUSED, bodies
from whence.api.policies.recording import evaluate_declared_rules
from whence.api.server.serve import serve
from whence.api.settings import Settings
from whence.api.slos.recording import evaluate_store
from whence.derive.delta.table import table_uri
from whence.derive.kpis.series import kpis
from whence.derive.lineage_tables.schema import KPI
from whence.errors import EventError
from whence.govern.grants import KeyRequest, make_key
from whence.govern.lineage_baselines.current import accept_upstream
from whence.govern.lineage_baselines.records import baseline_event
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import Role
from whence.model.blast_radius import COUNTED
from whence.model.ids import node_id
from whence.model.names import JobName
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import person_uri
from whence.query.answers.values import Question
from whence.query.questions.impact import impact
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.graph import blast_radius as blast
from whence.store.schema.tables import job
from whence.store.security.database import open_security, security_url, write_security
from whence.store.snapshots.graph import StoreGraph

DAYS = 60


def prepared(base: Path) -> Settings:
    """A data directory whose log, store and tables have the story."""
    log, store = base / "data" / "log", sqlite_url(base / "store.db")
    fill(SegmentLog(log), [*bodies(), *(json.dumps(one).encode() for one in (*declared(NOW), *rules(NOW)))])
    _refuse(SegmentLog(log))
    engine = open_migrated(store)
    end = committed_end(log)
    apply(engine, list(read_records(log, start_position(log), end)), end)
    _record(engine, log, evaluate_declared_rules(engine, NOW - 3 * DAY).events)
    _record(engine, log, [*evaluate_declared_rules(engine, NOW).events, *evaluate_store(engine, NOW).events])
    _accept_lineage(engine, log)
    _count_downstream(engine)
    engine.dispose()
    settings = Settings(data=base / "data", store_url=store, open=True)
    write_deltalake(table_uri(settings.tables, "kpi"), pa.Table.from_pylist(list(_measured()), KPI.plain))
    return settings


def _record(engine: Engine, log: Path, events: Sequence[Mapping[str, Any]]) -> None:
    begin = committed_end(log)
    fill(SegmentLog(log), [json.dumps(one).encode() for one in events])
    apply(engine, list(read_records(log, begin, committed_end(log))), committed_end(log))


def _accept_lineage(engine: Engine, log: Path) -> None:
    with reading(engine) as connection:
        record = accept_upstream(StoreGraph(connection), FEATURES, "reviewed")
    _record(engine, log, [baseline_event(record, FEATURES.namespace, NOW, person_uri("ada"))])


def _refuse(log: SegmentLog) -> None:
    writer = log.open_writer()
    writer.append([_refused(body, NOW - 3_000_000_000 // (1 + place)) for place, body in enumerate(REFUSED)])
    writer.close()


def _refused(body: bytes, at: int) -> Draft:
    try:
        accept(body)
    except EventError as error:
        return make_quarantine_draft(body, error, at)
    raise AssertionError("it was taken")


def _count_downstream(engine: Engine) -> None:
    """What the pipeline's scheduled job counts with Spark, for the jobs of a small graph."""
    generation = blast.begin(engine)
    with reading(engine) as connection:
        graph = StoreGraph(connection)
        names = [JobName(space, name) for space, name in connection.execute(select(job.c.namespace, job.c.name))]
        progress = next(iter(graph.reached()))
        rows = [_radius(graph, name) for name in names]
    blast.write_rows(engine, generation, rows)
    made = blast.Generation(generation, f"log={progress}", NOW, 0.0, "")
    blast.publish(engine, made, len(rows))


def _radius(graph: StoreGraph, name: JobName) -> list[int]:
    found = impact(graph, name, Question())
    kinds = {"datasets": "dataset", "fields": "field", "jobs": "job"}
    of_type = {"dashboards": "DASHBOARD", "models": "MODEL"}
    counts = [
        found.counts.by_kind.get(kinds[one], 0) if one in kinds else found.counts.by_type.get(of_type[one], 0)
        for one in COUNTED
    ]
    return [node_id(name), *counts, 0]


def _measured() -> Iterator[dict[str, Any]]:
    """Two months of measuring: shares that grow, waits that shrink."""
    last = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=6)
    for day in range(DAYS):
        grown = day / (DAYS - 1)
        for place, one in enumerate(kpis()):
            wave = 0.012 * sin(day / 3 + place)
            share = min(1.0, 0.58 + 0.03 * (place % 5) + 0.3 * grown + wave)
            value = {
                "ratio": 1 - share if one.name.endswith(("_rate",)) else share,
                "seconds": 40 * (1.4 - grown) * (1 + place) * (1 + 4 * wave),
                "nodes": round(8 + 5 * grown),
                "score": share,
            }[one.unit]
            whole = 400 + 3 * day
            yield {
                "measured_at": last - timedelta(days=DAYS - 1 - day),
                "name": one.name,
                "value": value,
                "unit": one.unit,
                "numerator": round(value * whole) if one.unit == "ratio" else value,
                "denominator": whole,
            }


PEOPLE = {
    "root": (Role.ADMIN, "*"),
    "ada": (Role.STEWARD, "*"),
    "guest": (Role.READER, "snowflake://*"),
    "nobody": (None, "*"),
}
"""Whose keys there are: what role, and where."""


def keys(settings: Settings) -> Mapping[str, str]:
    """A key for each of them."""
    engine = open_security(security_url(settings.store_url))
    with write_security(engine) as connection:
        made = {
            name: make_key(connection, KeyRequest(name=name, role=role, namespaces=where), time.time_ns() // 1_000).text
            for name, (role, where) in PEOPLE.items()
        }
    engine.dispose()
    return made


def main(port: int, *, guarded: bool) -> None:
    """Serve until it is stopped; what is written meanwhile comes into the store."""
    with tempfile.TemporaryDirectory(prefix="whence-ui-") as directory:
        settings = dataclasses.replace(prepared(Path(directory)), open=not guarded)
        for name, key in keys(settings).items() if guarded else ():
            sys.stdout.write(f"{name} {key}\n")
        engine = open_store(settings.store_url)
        with applying(engine, settings.data / "log"):
            serve(settings, socket.create_server(("127.0.0.1", port)))
        engine.dispose()


if __name__ == "__main__":
    main(int(sys.argv[1]), guarded="--keys" in sys.argv)
