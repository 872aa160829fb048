"""The benches' workload is what it says: repeatable, about 10 kB an event, and the same events however they arrive."""

import json
from collections import Counter

from bench.workloads.events import Noise, arrivals, bodies
from oracle import dump


def test_same_seed_same_events() -> None:
    assert list(bodies(seed=3, jobs=12, days=3)) == list(bodies(seed=3, jobs=12, days=3))
    assert list(bodies(seed=3, jobs=12, days=3)) != list(bodies(seed=4, jobs=12, days=3))


def test_events_are_about_10_kb() -> None:
    sizes = [len(body) for body in bodies(jobs=200, days=2)]
    assert 8_000 < sum(sizes) / len(sizes) < 13_000


def test_what_arrives_means_the_same() -> None:
    arrived = list(arrivals(seed=5, jobs=12, days=6, noise=Noise(duplicates=0.2, late=0.3, malformed=0.1)))
    kinds = Counter(one.kind for one in arrived)
    assert min(kinds[kind] for kind in ("event", "duplicate", "malformed")) > 0
    good = [one.body for one in arrived if one.kind != "malformed"]
    clean = list(bodies(seed=5, jobs=12, days=6))
    assert kinds["event"] == len(clean)
    assert good[: len(clean)] != clean
    assert dump(good) == dump(clean)


def test_a_changed_job_changes_its_history() -> None:
    lines = map(json.loads, dump(bodies(seed=5, jobs=30, days=10)))
    ended = [line for line in lines if line.get("derived") == "validity_interval" and line["to"] is not None]
    assert ended
