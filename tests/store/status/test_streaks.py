"""Streaks of failed runs and of failed checks, as of random times, in stores that events reached in any order."""

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import reading
from whence.store.status.check_streaks import read_check_streaks
from whence.store.status.failure_streaks import DAY, LAPSE, read_failure_streaks

JOBS = (JobName("prod", "load"), JobName("dev", "load"), JobName("staging", "x'\x1b[2J\u202e"))
ORDERS = DatasetName("postgres://prod:5432", "orders")
Result = tuple[int, int, bool]
"""When, in which run (an id), and whether it was good."""


def checked(name: str, *, success: bool, severity: str = "error") -> dict[str, Any]:
    assertion = {"assertion": name, "column": "id", "success": success, "severity": severity, "actual": "7"}
    return facet("DataQualityAssertionsDatasetFacet", assertions=[assertion])


def random_events(rng: random.Random) -> Iterator[tuple[JobName, int, RunState, bool | None]]:
    """Runs of 40 days: of which job, when, what became of it, and whether its check held, if it has one."""
    days = sorted(rng.sample(range(40 * 24), 60))
    for hour in days:
        state = rng.choice((RunState.COMPLETE, RunState.FAIL, RunState.FAIL, RunState.ABORT, RunState.RUNNING))
        yield rng.choice(JOBS), DAY * 20_000 + hour * DAY // 24, state, rng.choice((None, True, False, False))


def expected(results: Iterable[Result], since: int, at: int) -> set[tuple[int, int, bool, int, int | None]]:
    """Good run before, first failed run, whether it lapsed, when it began, and when it ended: failure by failure."""
    known = sorted(one for one in results if one[0] <= at)
    found = {}
    for place in (place for place, one in enumerate(known) if not one[2]):
        first = place
        while first and not known[first - 1][2] and known[first][0] <= known[first - 1][0] + LAPSE:
            first -= 1
        goods = [one for one in known[:first] if one[2]]
        lapsed = first > 0 and not known[first - 1][2]
        last = place
        while last + 1 < len(known) and not known[last + 1][2] and known[last + 1][0] <= known[last][0] + LAPSE:
            last += 1
        after = known[last + 1][0] if last + 1 < len(known) else at + 1
        until = min(after, known[last][0] + LAPSE)
        if known[last][0] > since:
            good = goods[-1][1] if goods else 0
            found[known[first][1]] = (good, known[first][1], lapsed, known[first][0], until if until <= at else None)
    return set(found.values())


def test_streaks_are_those_of_the_runs(store: Engine) -> None:
    rng = random.Random("streaks")
    runs: dict[JobName, list[Result]] = {job: [] for job in JOBS}
    checks: list[Result] = []
    bodies = []
    for number, (job, time, state, held) in enumerate(random_events(rng)):
        run = RunName(f"01890000-0000-7000-8000-{number:012}", job)
        facets = {} if held is None else {"dataQualityAssertions": checked("unique", success=held)}
        warned = {"dataQualityAssertions": checked("fresh", success=False, severity="WARN")}
        others = [dataset(ORDERS, inputFacets=facets)] if facets else [dataset(ORDERS, inputFacets=warned)]
        bodies.append(json.dumps(run_event(time, state, run, inputs=others)).encode())
        if state is not RunState.RUNNING:
            runs[job].append((time, node_id(run), state is RunState.COMPLETE))
        if held is not None:
            checks.append((time, node_id(run), held))
    rng.shuffle(bodies)
    apply_bodies(store, bodies)
    seen = 0
    with reading(store) as connection:
        for at in (DAY * 20_000 + rng.randrange(50 * 24) * DAY // 24 for _ in range(25)):
            since = at - rng.randrange(1, 30) * DAY
            failed = read_failure_streaks(connection, since, at)
            assert failed.are_all
            for job, results in runs.items():
                of_job = {
                    (o.good, o.first, o.lapsed, o.since, o.until) for o in failed.found if o.job_id == node_id(job)
                }
                assert of_job == expected(results, since, at), (job, at)
                seen += len(of_job)
            found = read_check_streaks(connection, since, at).found
            assert {(one.dataset_id, one.name, one.column) for one in found} <= {(node_id(ORDERS), "unique", "id")}
            assert {(o.good, o.first, o.lapsed, o.since, o.until) for o in found} == expected(checks, since, at), at
            seen += len(found)
    assert seen > 100
