"""A service level is not violated while nobody knows whether the dataset was written, because its source is silent."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.govern.assertions import assert_facets, set_contract
from whence.govern.certification.observations import read_facts
from whence.govern.certification.rules import Requirements, Rule
from whence.govern.contracts.evaluation.answers import contract_history, count_contracts
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.incidents.current import compute_incidents, read_streaks
from whence.govern.incidents.incident import Incident
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, run_event
from whence.store.connection.engine import sqlite_url
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
BEGIN = 1_790_000_000_000_000 // HOUR * HOUR
ORDERS = DatasetName("postgres://prod:5432", "shop.orders")
LOAD, RATES, BOARD = (JobName("airflow", name) for name in ("load", "rates", "board"))
LAST = 60
"""The hour after which nothing is heard of the source: 1.25 h later its jobs are late."""


def ran(job: JobName, hour: float) -> bytes:
    """A run that took no time; `load` writes the orders."""
    run = RunName(f"01890000-0000-7000-8000-{int(hour * 60):012}", job)
    outputs = [dataset(ORDERS)] if job == LOAD else []
    return json.dumps(run_event(BEGIN + int(hour * HOUR), RunState.COMPLETE, run, outputs=outputs)).encode()


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Orders that are promised to be at most 4 h old, and a source whose three jobs ran every hour."""
    opened = open_migrated(sqlite_url(tmp_path / "store.db"))
    levels = [{"property": "freshness", "value": 4, "unit": "h"}]
    contract = assert_facets(ORDERS, BEGIN, "https://ada", set_contract("1.0.0", serviceLevels=levels))
    apply_bodies(opened, [json.dumps(contract).encode()])
    apply_bodies(opened, [ran(job, hour) for hour in range(1, LAST + 1) for job in (LOAD, RATES, BOARD)])
    return opened


def outcome(engine: Engine, hour: float) -> tuple[str, str, int]:
    """What the contract says of freshness, why, and how many contracts are violated."""
    now = BEGIN + int(hour * HOUR)
    with snapshot(engine) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        found = contract_history(catalog, graph, ORDERS, None, now)["evaluation"]
        assert found is not None
        (rule,) = found["rules"]
        return rule["outcome"], rule["reason"] or "", count_contracts(catalog, graph, now).violated


def incidents(engine: Engine, hour: float) -> list[Incident]:
    """The incidents at an hour, as a server computes and records them."""
    now = BEGIN + int(hour * HOUR)
    with snapshot(engine) as connection:
        found = compute_incidents(StoreCatalog(connection), StoreGraph(connection), read_streaks(connection, now), now)
    apply_bodies(engine, [json.dumps(one).encode() for one in found.events])
    return list(found.read.incidents)


def kinds(several: Iterable[Incident], hour: float) -> list[tuple[str, bool]]:
    now = BEGIN + int(hour * HOUR)
    return sorted((str(each.kind), each.is_open_at(now)) for one in several for each in one.findings)


def changes(engine: Engine, hour: float) -> list[tuple[str, float]]:
    with snapshot(engine) as connection:
        graph = StoreGraph(connection)
        contracts = EvaluatedContracts(StoreCatalog(connection), graph)
        found = contracts.changes(node_id(ORDERS), BEGIN + HOUR, BEGIN + int(hour * HOUR)).found
        return [(one.change, round((one.time - BEGIN) / HOUR, 3)) for one in found]


def test_a_level_is_not_judged_in_the_silence_and_the_silence_is_the_incident(engine: Engine) -> None:
    assert outcome(engine, LAST + 3) == ("holds", "", 0)
    assert incidents(engine, LAST + 3) == []
    state, reason, violated = outcome(engine, LAST + 6)
    assert (state, violated) == ("not evaluated", 0)
    assert reason.startswith("its source has been silent since 2026-")
    (silent,) = incidents(engine, LAST + 6)
    assert (silent.root, kinds([silent], LAST + 6)) == (ORDERS, [("capture", True)])
    assert silent.opened_by.reason == reason
    assert changes(engine, LAST + 6) == []


def test_a_certification_does_not_lapse_in_the_silence(engine: Engine) -> None:
    """Of the dataset under all its names: it is not known whether the contract holds."""
    wanted = Requirements(owner=False, contract=True, lineage=None, objectives=None, checks=False)
    rule = Rule(name="gold", namespaces=(ORDERS.namespace,), requirements=wanted)

    def judged(hour: float) -> tuple[int, int]:
        now = BEGIN + int(hour * HOUR)
        with snapshot(engine) as connection:
            facts = read_facts(StoreCatalog(connection), StoreGraph(connection), {ORDERS: [rule]}, now, None)
        held = facts[ORDERS].contract
        assert held is not None
        return held.violations or 0, held.unevaluated

    assert judged(LAST + 3) == (0, 0)
    assert judged(LAST + 6) == (0, 1)
    apply_bodies(engine, [ran(one, LAST + 8) for one in (RATES, BOARD)])
    assert judged(LAST + 9) == (1, 0)


def test_once_the_source_reports_again_what_is_not_written_is_late_from_then_on(engine: Engine) -> None:
    (silent,) = incidents(engine, LAST + 6)
    apply_bodies(engine, [ran(RATES, LAST + 8), ran(BOARD, LAST + 8)])
    assert outcome(engine, LAST + 9)[0] == "violated"
    found = incidents(engine, LAST + 9)
    assert kinds(found, LAST + 9) == [("capture", False), ("contract", True)]
    assert silent.id in {one.id for one in found}
    (late,) = (each for one in found for each in one.findings if str(each.kind) == "contract")
    assert late.since == BEGIN + (LAST + 8) * HOUR
    assert changes(engine, LAST + 9) == [("violated", LAST + 8.0)]
    apply_bodies(engine, [ran(LOAD, LAST + 10)])
    assert outcome(engine, LAST + 11)[0] == "holds"
    assert kinds(incidents(engine, LAST + 11), LAST + 11) == [("capture", False), ("contract", False)]


def test_a_write_after_the_silence_leaves_no_violation_behind(engine: Engine) -> None:
    incidents(engine, LAST + 6)
    apply_bodies(engine, [ran(job, LAST + 8) for job in (LOAD, RATES, BOARD)])
    assert kinds(incidents(engine, LAST + 9), LAST + 9) == [("capture", False)]
    assert changes(engine, LAST + 9) == []


def test_a_job_that_stops_alone_is_late(engine: Engine) -> None:
    apply_bodies(engine, [ran(job, hour) for hour in range(LAST + 1, LAST + 7) for job in (RATES, BOARD)])
    assert outcome(engine, LAST + 6) == ("violated", "", 1)
    assert kinds(incidents(engine, LAST + 6), LAST + 6) == [("contract", True)]
