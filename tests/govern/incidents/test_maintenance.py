"""What fails in maintenance notifies nobody before it is over, by the declarations that held."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.govern.incidents.current import read_incidents, read_streaks
from whence.govern.incidents.findings import Finding, FindingKind, findings_at
from whence.govern.incidents.maintenance import defer_notification, maintenance_of
from whence.govern.incidents.states import find_changes
from whence.govern.slos.calendars import Maintenance
from whence.govern.slos.objectives import Objective
from whence.govern.slos.records import Declaration, declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import dataset, run_event
from whence.query.answers.instants import instant
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

PROD, STAGING = (DatasetName(f"postgres://{of}:5432", "shop.orders\x1b[2J") for of in ("prod", "staging"))
NIGHT = "maintenance: [{from: 2026-01-05T22:00Z, until: 2026-01-06T02:00Z, reason: upgrade}]\n"


def at(text: str) -> int:
    return instant(f"2026-01-{text}", 0)


def finding(since: int, until: int | None = None) -> Finding:
    """A failed run of a dataset of tier 1."""
    return Finding(
        id="f", kind=FindingKind.RUN, rule="job:airflow:load", dataset=PROD, since=since, until=until,
        ticket_since=since, page_since=since, notify_rule="a run failed",
    )  # fmt: skip


def window(start: str, end: str) -> Maintenance:
    return Maintenance(start=at(start), end=at(end), reason="upgrade")


@pytest.mark.parametrize(
    ("since", "until", "pages_at"),
    [
        ("05T21:59", None, "05T21:59"),
        ("05T22:00", None, "06T02:00"),
        ("06T01:59", "06T02:00", None),
        ("06T01:59", "06T02:01", "06T02:00"),
        ("06T02:00", None, "06T02:00"),
    ],
)
def test_it_pages_at_the_end_if_it_is_still_wrong(since: str, until: str | None, pages_at: str | None) -> None:
    one = finding(at(since), None if until is None else at(until))
    found = defer_notification(one, [window("05T22:00", "06T02:00"), window("09T22:00", "10T02:00")])
    assert found.page_since == found.ticket_since == (None if pages_at is None else at(pages_at))
    assert (found.since, found.until, found.id) == (one.since, one.until, one.id)


def test_one_window_goes_on_from_another() -> None:
    found = defer_notification(
        finding(at("05T23:00")), [window("05T22:00", "06T02:00"), window("06T01:00", "06T04:00")]
    )
    assert found.page_since == at("06T04:00")
    assert found.notify_rule == "a run failed; in maintenance until 2026-01-06T04:00:00Z"


def test_an_incident_in_maintenance_is_listed_and_pages_nobody_before_its_end() -> None:
    found = defer_notification(finding(at("05T23:00")), [window("05T22:00", "06T02:00")])
    (then,) = findings_at([found], at("06T01:00"))
    assert [(one.state, one.notify) for one in find_changes([then], [])] == [("open", None)]
    changes = [(one.time, one.state, one.notify) for one in find_changes([found], [])]
    assert changes == [(at("05T23:00"), "open", None), (at("06T02:00"), "open", "page")]


def objective(dataset: DatasetName, maintenance: str) -> Objective:
    text = f"""\
version: 1
service: shop
{maintenance}slos:
  - name: columns stay
    dataset: "{dataset}"
    indicator: {{schema: {{}}}}
    objective: {{target: 99%}}
"""
    (found,) = read_slos(text.replace("\x1b", "\\x1b")).objectives
    return found


def declared(time: str, dataset: DatasetName, maintenance: str) -> Declaration:
    one = objective(dataset, maintenance)
    return Declaration(id="s", record=declaration_of(one), dataset=dataset, time=at(time), objective=one)


def test_a_window_that_left_the_file_after_it_had_begun_still_counts() -> None:
    before, staging = declared("04T00:00", PROD, NIGHT), declared("04T00:00", STAGING, "")
    (night,) = before.objective.maintenance if before.objective else ()
    for removed_at, expected in (("07T00:00", [night]), ("05T23:00", [night]), ("05T12:00", [])):
        found = maintenance_of([[before, declared(removed_at, PROD, "")], [staging]])
        assert list(found.get(PROD, ())) == expected
        assert STAGING not in found
    ended = replace(before, time=at("08T00:00"), objective=None)
    assert list(maintenance_of([[before, ended]])[PROD]) == [night]


def notified(store: Engine, time: int) -> dict[DatasetName, tuple[str, str | None]]:
    """The state of the incident of each dataset at a time, and how urgent it is then."""
    with snapshot(store) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        read = read_incidents(catalog, graph, read_streaks(connection, time), time, is_past=True)
    return {one.root: (one.state, one.notify) for one in read.incidents}


def test_a_load_that_fails_in_the_maintenance_of_its_dataset_notifies_nobody_before_the_end(store: Engine) -> None:
    """The same load of staging, which has no maintenance, opens a ticket at once."""
    declaration = declaration_event(
        declaration_of(objective(PROD, NIGHT)), PROD.namespace, at("04T00:00"), person_uri("key:ada")
    )
    runs = {
        place: RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"load {number}"))
        for number, place in enumerate((PROD, STAGING))
    }
    failed = [run_event(at("05T23:00"), RunState.FAIL, run, outputs=[dataset(place)]) for place, run in runs.items()]
    apply_bodies(store, [json.dumps(one).encode() for one in (declaration, *failed)])
    assert notified(store, at("06T01:00")) == {PROD: ("open", None), STAGING: ("open", "ticket")}
    assert notified(store, at("06T02:00")) == {PROD: ("open", "ticket"), STAGING: ("open", "ticket")}
