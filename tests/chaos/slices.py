"""What the producers of one schedule say, and how it arrives: a small workload in namespaces of its own, by clocks that
are wrong, and its arrivals repeated, reordered, late and broken.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from bench.workloads.events import Arrival, bodies, broken
from generators.arrivals import body as written

Json = dict[str, Any]

MARK = re.compile(r"chaos[0-9]{4}")
"""What all names of a schedule carry, so that the lines of its state can be told from others'."""

RIGHT = timedelta()
SKEWS = (
    *(RIGHT, RIGHT, RIGHT),
    *(timedelta(seconds=-2), timedelta(seconds=90), timedelta(hours=-3), timedelta(hours=5)),
    *(timedelta(days=-4), timedelta(days=2), timedelta(days=700)),
)
"""How far the clocks of hosts are off."""

NAMES = {
    "s3://landing": "s3://{}-landing",
    "hive://metastore:9083": "hive://{}:9083",
    "s3://lake": "s3://{}-lake",
    '"namespace":"airflow"': '"namespace":"{}-airflow"',
    '"namespace":"spark"': '"namespace":"{}-spark"',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The events of one schedule in order of time, each once; and all that arrives, in the order in which it does."""

    mark: str
    in_order: tuple[bytes, ...]
    arrivals: tuple[Arrival, ...]


def slice_of(seed: int) -> Slice:
    """The slice of a seed: some 40 to 100 arrivals."""
    random, mark = Random(f"slice {seed}"), f"chaos{seed:04}"
    events = list(_skewed(random, _events(random, seed)))
    bodies = [json.dumps(one, separators=(",", ":")).encode() for one in sorted(events, key=_time)]
    wrong = [broken(random, one) for one in bodies if b'"run":{' in one and random.random() < 0.05]
    named = [_rename(mark, one) for one in bodies]
    arrivals = _arrivals(random, named, [_rename(mark, one) for one in wrong])
    return Slice(mark=mark, in_order=tuple(named), arrivals=tuple(arrivals))


def _events(random: Random, seed: int) -> Iterator[Json]:
    """Runs, and of some of them what a scan of the code or the catalog would say."""
    for body in bodies(seed=seed, jobs=random.randrange(5, 11), days=random.randrange(2, 4)):
        event = json.loads(body)
        yield event
        if random.random() < 0.1:
            yield {key: event[key] for key in event if key not in ("eventType", "run")}
        if random.random() < 0.1:
            yield {key: event[key] for key in ("eventTime", "producer", "schemaURL")} | {
                "dataset": {key: one for key, one in event["outputs"][0].items() if key != "outputFacets"}
            }


def _skewed(random: Random, events: Iterator[Json]) -> Iterator[Json]:
    """Each job's events by the clock of its host; some by that of another, so that a run may end before it starts."""
    clocks: dict[str, timedelta] = {}
    for event in events:
        host = event.get("job", {}).get("name", "catalog")
        skew = clocks.setdefault(host, random.choice(SKEWS)) if random.random() < 0.9 else random.choice(SKEWS)
        yield event | {"eventTime": f"{_time(event) + skew:%Y-%m-%dT%H:%M:%S.%f}Z"}


def _time(event: Json) -> datetime:
    return datetime.fromisoformat(event["eventTime"])


def _arrivals(random: Random, events: list[bytes], wrong: list[bytes]) -> Iterator[Arrival]:
    """In one of three orders, some events late by any number of others, some again, in other words."""
    order = random.choice((_as_sent, _backwards, _anyhow))
    placed = [(order(random, place), Arrival(body, "event")) for place, body in enumerate(events)]
    count = len(events)
    placed = [(place + (random.random() < 0.1) * random.randrange(count), one) for place, one in placed]
    for _ in range(count // 5):
        again = written(json.loads(random.choice(events)), random.randrange(1, 1_000))
        placed.append((random.randrange(count), Arrival(again, "duplicate")))
    placed += [(random.randrange(count), Arrival(body, "malformed")) for body in wrong]
    random.shuffle(placed)
    yield from (one for _, one in sorted(placed, key=lambda pair: pair[0]))


Order = Callable[[Random, int], int]


def _as_sent(_: Random, place: int) -> int:
    return place


def _backwards(_: Random, place: int) -> int:
    return -place


def _anyhow(random: Random, _: int) -> int:
    return random.randrange(1_000)


def _rename(mark: str, body: bytes) -> bytes:
    for name, ours in NAMES.items():
        body = body.replace(name.encode(), ours.format(mark).encode())
    return body
