"""The catalog against plain Python over the same events, on each kind of store."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

import pytest
from sqlalchemy import Engine

from bench.workloads.events import Noise, arrivals
from fixtures.stores_of_events import apply_bodies
from whence.govern.assertions import assert_facets, make_end_facets
from whence.model.catalog import (
    REGISTRY,
    Entry,
    EntryFilter,
    EventFilter,
    NameSearch,
    RegistryKind,
    Window,
    entry_sort_key,
)
from whence.model.events import EventKind, RunEvent, RunState
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import dataset, dataset_event, job_event, run_event
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog

NOISE = Noise(duplicates=0.05, late=0.2, malformed=0)


@dataclass
class Truth:
    """What a list of events says, told without a database."""

    datasets: set[DatasetName] = field(default_factory=set)
    jobs: set[JobName] = field(default_factory=set)
    times: dict[str, int] = field(default_factory=dict)
    runs: dict[JobName, dict[str, int]] = field(default_factory=dict)
    writes: dict[DatasetName, dict[str, int]] = field(default_factory=dict)
    states: Counter[RunState] = field(default_factory=Counter)


def truth(bodies: list[bytes]) -> Truth:
    found = Truth()
    for value in {accepted.key: accepted for accepted in map(accept, bodies)}.values():
        event = value.event
        found.times[value.key] = event.time
        assert isinstance(event, RunEvent)
        found.states[event.state] += 1
        found.jobs |= {event.job.name, *(run.job for run in (event.run.parent, event.run.root) if run)}
        found.datasets |= {
            name for io in (*event.inputs, *event.outputs) for name in (io.name, *(s.name for s in io.symlinks))
        }
        runs = found.runs.setdefault(event.job.name, {})
        runs[event.run.name.run_id] = max(event.time, runs.get(event.run.name.run_id, 0))
        for output in event.outputs:
            writes = found.writes.setdefault(output.name, {})
            writes[event.run.name.run_id] = max(event.time, writes.get(event.run.name.run_id, 0))
    return found


@pytest.fixture(scope="module")
def bodies() -> list[bytes]:
    return [arrival.body for arrival in islice(arrivals(seed=5, jobs=12, days=3, noise=NOISE), 250)]


@pytest.fixture
def catalog(store: Engine, bodies: list[bytes]) -> Iterator[StoreCatalog]:
    apply_bodies(store, bodies)
    with reading(store) as connection:
        yield StoreCatalog(connection)


def test_lists_pages_and_totals_are_those_of_the_events(catalog: StoreCatalog, bodies: list[bytes]) -> None:
    reported = truth(bodies)
    for kind, names in ((Kind.DATASET, reported.datasets), (Kind.JOB, reported.jobs)):
        spaces = sorted({name.namespace for name in names})
        assert list(catalog.namespaces(kind)) == spaces
        for namespace in (None, *spaces):
            wanted = EntryFilter(namespace=namespace)
            expected = {name for name in names if namespace in (None, name.namespace)}
            assert catalog.count(kind, wanted) == len(expected)
            by_offset = [
                item
                for at in range(0, len(expected) + 3, 3)
                for item in catalog.listed(kind, wanted, Window(limit=3, offset=at))
            ]
            assert [one.name for one in by_offset] == sorted(expected)
            after = None
            by_key: list[Entry] = []
            while page := catalog.listed(kind, wanted, Window(limit=2, after=after)):
                by_key += page
                after = entry_sort_key(page[-1])
            assert by_key == by_offset


def test_runs_of_jobs_newest_first(catalog: StoreCatalog, bodies: list[bytes]) -> None:
    reported = truth(bodies)
    latest, newest = (catalog.latest_runs([node_id(job) for job in reported.runs], limit) for limit in (2, 1))
    assert newest.keys() == latest.keys()
    for job, runs in reported.runs.items():
        found = [run for at in (0, 2, 4) for run in catalog.runs_of(node_id(job), Window(limit=2, offset=at))]
        expected = sorted(runs.values(), reverse=True)
        assert [one.seen_to for one in found] == expected[:6]
        assert catalog.count_runs(node_id(job)) == len(runs)
        assert [one.seen_to for one in latest[node_id(job)]] == expected[:2]
        assert list(newest[node_id(job)]) == found[:1]
        for first, second in pairwise(found):
            assert list(catalog.runs_of(node_id(job), Window(limit=1, after=(first.seen_to or 0, first.id)))) == [
                second
            ]


def test_writes_of_datasets_newest_first(catalog: StoreCatalog, bodies: list[bytes]) -> None:
    reported = truth(bodies)
    last = catalog.last_writes([node_id(name) for name in reported.datasets])
    assert last.keys() == {node_id(name) for name in reported.writes}
    times = catalog.last_write_times([node_id(name) for name in reported.datasets])
    assert times == {dataset_id: write.time for dataset_id, write in last.items()}
    for name, runs in reported.writes.items():
        found = catalog.writes(node_id(name), Window(limit=100))
        assert sorted((one.run.name.run_id, one.time) for one in found) == sorted(runs.items())
        assert [one.time for one in found] == sorted(runs.values(), reverse=True)
        assert catalog.count_writes(node_id(name)) == len(runs)
        assert last[node_id(name)].time == found[0].time
        assert catalog.write(node_id(name), found[-1].run.id) == found[-1]
    each = [one for name in reported.writes for one in catalog.writes(node_id(name), Window(limit=100))]
    newest = sorted(each, key=lambda one: (-one.time, -one.run.id, one.dataset_id))
    ids = [node_id(name) for name in reported.datasets]
    assert list(catalog.writes_of_all(ids, Window(limit=1_000))) == newest
    assert list(catalog.writes_of_all(ids, Window(limit=2, offset=1))) == newest[1:3]
    assert not catalog.writes_of_all([], Window(limit=1))


def test_events_by_time(catalog: StoreCatalog, bodies: list[bytes]) -> None:
    reported = truth(bodies)
    period = EventFilter(after=0, before=1 << 62)
    found = catalog.events(period, Window(limit=1_000))
    assert {one.key: one.time for one in found} == reported.times
    assert [one.time for one in found] == sorted(reported.times.values(), reverse=True)
    assert catalog.count_events(period) == len(reported.times)
    times = sorted(reported.times.values())
    middle = times[len(times) // 2]
    early = EventFilter(after=0, before=middle, newest=False)
    assert [event.time for event in catalog.events(early, Window(limit=1_000))] == [
        time for time in times if time < middle
    ]
    assert catalog.count_events(EventFilter(after=middle, before=1 << 62)) == sum(time >= middle for time in times)
    assert catalog.count_events(EventFilter(after=0, before=1 << 62, kinds=(EventKind.JOB,))) == 0
    assert dict(catalog.states([(0, 1 << 62)])[0]) == dict(reported.states)


def test_search_finds_what_contains_the_text(catalog: StoreCatalog, bodies: list[bytes]) -> None:
    reported = truth(bodies)
    names: set[DatasetName | JobName] = {*reported.datasets, *reported.jobs}
    for text in ("a", "ORD", "%", "_", "zzz"):
        expected = [name for name in names if text.lower() in name.name.lower()]
        found, total = catalog.find(NameSearch(text=text, kinds=(Kind.DATASET, Kind.JOB)), Window(limit=1_000))
        assert {one.name for one in found} == set(expected)
        assert total == len(expected)
        paged, again = catalog.find(NameSearch(text=text, kinds=(Kind.DATASET, Kind.JOB)), Window(limit=2, offset=1))
        assert (list(paged), again) == (list(found[1:3]), total)


LONG = "é:/%#" * 800


def test_names_of_any_length_and_kind(store: Engine) -> None:
    names = [DatasetName("n", LONG + end) for end in ("a", "b")] + [
        DatasetName("x" * 300, "1"),
        DatasetName("x" * 301, "1"),
    ]
    jobs = [JobName(LONG, LONG)]
    events = [dataset_event(5, name, facets={}) for name in names] + [job_event(5, jobs[0])]
    apply_bodies(store, [json.dumps(event).encode() for event in events])
    with reading(store) as connection:
        catalog = StoreCatalog(connection)
        assert catalog.namespaces(Kind.DATASET) == ["n", "x" * 300, "x" * 301]
        assert catalog.namespaces(Kind.JOB) == [LONG]
        assert catalog.count(Kind.DATASET, EntryFilter(namespace="x" * 300)) == 1
        assert {item.name for item in catalog.listed(Kind.DATASET, EntryFilter(namespace="n"), Window(limit=9))} == set(
            names[:2]
        )
        assert [item.name for item in catalog.listed(Kind.JOB, EntryFilter(namespace=LONG), Window(limit=9))] == jobs


def test_the_deleted_and_the_registry_are_not_listed(store: Engine) -> None:
    orders, gone, back = DatasetName("n", "orders"), DatasetName("n", "gone"), DatasetName("m", "back")
    job = JobName("n", "job")
    events = [
        *(dataset_event(5, name, facets={}) for name in (orders, gone, back, RegistryKind.TAG.dataset_of("PII"))),
        job_event(5, job, outputs=[dataset(orders)]),
        *(assert_facets(name, 6, "urn:me", make_end_facets(name)) for name in (gone, back, job)),
    ]
    apply_bodies(store, [json.dumps(one).encode() for one in events])
    with reading(store) as connection:
        catalog = StoreCatalog(connection)
        assert [item.name for item in catalog.listed(Kind.DATASET, EntryFilter(), Window(limit=9))] == [orders]
        assert (catalog.count(Kind.DATASET, EntryFilter()), catalog.count(Kind.JOB, EntryFilter())) == (1, 0)
        assert (list(catalog.namespaces(Kind.DATASET)), list(catalog.namespaces(Kind.JOB))) == (["n"], [])
        assert catalog.deleted([node_id(one) for one in (orders, gone, back, job)]) == {
            node_id(one) for one in (gone, back, job)
        }
        assert [entry.name for entry in catalog.registered(RegistryKind.TAG)] == [RegistryKind.TAG.dataset_of("PII")]
        assert catalog.known(Kind.DATASET, [5, 6]) == [0, 3]
    apply_bodies(store, [json.dumps(dataset_event(7, back, facets={})).encode()], first=50)
    with reading(store) as connection:
        catalog = StoreCatalog(connection)
        assert [item.name for item in catalog.listed(Kind.DATASET, EntryFilter(), Window(limit=9))] == [back, orders]
        assert REGISTRY not in catalog.namespaces(Kind.DATASET)


def test_jobs_by_the_state_of_their_last_run(store: Engine) -> None:
    ids = [f"0190b3a1-0000-7000-8000-00000000000{number}" for number in range(4)]
    ends = [
        ("a", 0, 1, RunState.FAIL),
        ("a", 1, 2, RunState.COMPLETE),
        ("b", 2, 3, RunState.FAIL),
        ("c", 3, 4, RunState.START),
    ]
    events = [run_event(time, state, RunName(ids[place], JobName("n", name))) for name, place, time, state in ends]
    apply_bodies(store, [json.dumps(one).encode() for one in events])
    with reading(store) as connection:
        catalog = StoreCatalog(connection)
        for states, expected in (
            ({RunState.FAIL}, ["b"]),
            ({RunState.COMPLETE, RunState.START}, ["a", "c"]),
            (set(), ["a", "b", "c"]),
        ):
            wanted = EntryFilter(namespace="n", states=frozenset(states))
            assert [item.name.name for item in catalog.listed(Kind.JOB, wanted, Window(limit=9))] == expected
            assert catalog.count(Kind.JOB, wanted) == len(expected)
        newest = catalog.listed(Kind.JOB, EntryFilter(latest=True), Window(limit=9))
        assert [one.name.name for one in newest] == ["c", "b", "a"]
