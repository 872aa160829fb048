"""Jobs of several habits and the events of their runs, for the tests of the dashboards."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, parent_facet, run_event

HOUR = 3_600_000_000
SPACES = ("alpha", "beta", "gamma")


@dataclass(frozen=True)
class Ran:
    """A run: when it started and ended (µs), how, and within which run. `reports`: that run has events of its own."""

    job: JobName
    began: int
    ended: int
    state: RunState
    within: int = 0
    reports: bool = False


def runs(seed: int, now: int) -> list[Ran]:
    """Jobs of several habits: hourly, by chance, given up, mapped, within others; each run ends well or badly."""
    rng = random.Random(seed)
    runs = []
    for number in range(60):
        job = JobName(rng.choice(SPACES), f"job_{number}")
        at = now - rng.randrange(1, 1_300) * HOUR // 4
        pause = rng.choice((HOUR, 6 * HOUR, 24 * HOUR))
        habit = rng.choice(("alone", "alone", "mapped", "within", "moved"))
        for turn in range(rng.randrange(1, 20)):
            ended = at + rng.randrange(1, HOUR // 2)
            if ended > now:
                break
            within = 0 if habit == "alone" else 1_000 * number + turn + 1
            reports = habit == "within" or (habit == "moved" and turn > 8)
            for copy in range(3 if habit == "mapped" else 1):
                state = rng.choice((RunState.COMPLETE, RunState.COMPLETE, RunState.FAIL, RunState.ABORT))
                runs.append(Ran(job, at + copy, ended, state, within, reports))
            at += pause + rng.randrange(HOUR // 4) if rng.random() < 0.9 else rng.randrange(1, 20) * HOUR
    return runs


def events(one: Ran, number: int) -> Iterator[bytes]:
    run = RunName(f"{number:08x}-0000-4000-8000-000000000001", one.job)
    out = [dataset(DatasetName("db://x", f"{one.job.namespace}.{one.job.name}"))]
    above = RunName(
        f"{one.within:08x}-0000-4000-8000-000000000002", JobName(one.job.namespace, f"{one.job.name}.above")
    )
    facets = {"parent": parent_facet(above)} if one.within else {}
    yield json.dumps(run_event(one.began, RunState.START, run, run_facets=facets, outputs=out)).encode()
    yield json.dumps(run_event(one.ended, one.state, run, run_facets=facets, outputs=out)).encode()
    if one.reports:
        yield json.dumps(run_event(HOUR, RunState.COMPLETE, above)).encode()  # long ago: it is never late itself
