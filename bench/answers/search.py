"""Search among a million names, on SQLite or PostgreSQL: p50 and p95 of each kind of search, without HTTP.

Names are those of an estate: 100,000 datasets and jobs, 900,000 fields, of which most share their names with others.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Engine, text

from bench.workloads.stores import _insert
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.query.lookup.search import search
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.ingest.search_index import index_all
from whence.store.migrations.migrate import migrate
from whence.store.schema import tables
from whence.store.snapshots.graph import StoreGraph

NOUNS = re.findall(
    r"\w+",
    "order customer invoice payment shipment product price stock supplier account ledger balance session click visit "
    "campaign lead contract employee salary absence ticket incident sensor reading meter tariff claim policy premium "
    "vehicle route driver parcel warehouse shelf store basket coupon refund review rating subscription device event "
    "forecast budget target region country currency exchange category brand margin discount tax address contact",
)
MARKS = re.findall(
    r"\w+",
    "raw clean daily weekly monthly hourly latest history snapshot delta agg summary dim fact stage tmp v2 eu us",
)
ENDS = re.findall(
    r"\w+", "id key name code type status amount total count date time at by from to flag ratio rank score hash note"
)
SPACES = tuple(f"postgres://db{number}.example.org:5432" for number in range(40))
FIELDS = 18
ASKED = 200


def datasets(names: int, dice: random.Random) -> Iterator[DatasetName]:
    """Distinct names of datasets: `sales17.order_payment_daily_4711`."""
    for number in range(names // 20):
        own = "_".join([dice.choice(NOUNS), dice.choice(NOUNS), dice.choice(MARKS), str(number)])
        yield DatasetName(dice.choice(SPACES), f"{dice.choice(NOUNS)}{number % 97}.{own}")


def fields(dice: random.Random) -> list[str]:
    """The fields of a dataset: nearly all of words that others have, too."""
    drawn = {f"{dice.choice(NOUNS)}_{dice.choice(ENDS)}" for _ in range(3 * FIELDS)}
    shared = ["id", "created_at", *sorted(drawn)]
    return [*shared[: FIELDS - 1], f"{dice.choice(NOUNS)}_{dice.choice(NOUNS)}_{dice.choice(ENDS)}"]


def fill(engine: Engine, names: int) -> list[DatasetName]:
    """Write the names, and index them; how long the index took is printed."""
    dice = random.Random(1)
    made = list(datasets(names, dice))
    jobs = [JobName(f"airflow{number % 7}", f"{one.name}.load") for number, one in enumerate(made)]
    _insert(engine, tables.dataset, ((node_id(one), one.namespace, one.name, 0, 1) for one in made))
    _insert(engine, tables.job, ((node_id(one), one.namespace, one.name, 0, 1) for one in jobs))
    rows = ((node_id(FieldName(one, name)), node_id(one), name, 1) for one in made for name in fields(dice))
    _insert(engine, tables.field, rows)
    about = (
        (node_id(one), "ownership", 1, f'{{"owners":[{{"name":"team-{at % 50}"}}]}}') for at, one in enumerate(made)
    )
    _insert(engine, tables.facet_body, about)
    began = time.process_time(), time.perf_counter()
    with writing(engine) as connection:
        index_all(connection)
    with writing(engine) as connection:
        connection.execute(text("ANALYZE"))
    took = time.process_time() - began[0], time.perf_counter() - began[1]
    sys.stdout.write(f"indexed in {took[1]:.0f} s, {took[0]:.0f} s of this process's time\n")
    return made


def questions(made: list[DatasetName]) -> dict[str, Callable[[], str]]:
    """What people type, by kind."""
    dice = random.Random(2)

    def name() -> str:
        return dice.choice(made).name

    def typo() -> str:
        noun: str = dice.choice([one for one in NOUNS if len(one) > 5])
        at = dice.randrange(1, len(noun) - 1)
        return noun[:at] + noun[at + 1 :]

    return {
        "exact": name,
        "dataset and field": lambda: f"{name()}.created_at",
        "prefix": lambda: name().split(".")[1].rsplit("_", 1)[0][:-2],
        "prefix, one word": lambda: dice.choice(NOUNS)[:4],
        "substring": lambda: dice.choice([one for one in NOUNS if len(one) > 5])[1:6],
        "typo, one word": typo,
        "typo, two words": lambda: f"{typo()} {dice.choice(MARKS)}",
        "no hit": lambda: f"qq{dice.randrange(10**9)}zz",
        "one very common word": lambda: dice.choice(("id", "order", "created", "at", "load")),
        "two very common words": lambda: f"{dice.choice(NOUNS)} {dice.choice(ENDS)}",
        "owner": lambda: f"team-{dice.randrange(50)}",
    }


def measure(engine: Engine, asked: Callable[[], str], limit: int, seconds: float) -> tuple[list[float], float, float]:
    """Milliseconds of searches, sorted; of this process's time for one; and names found by one, on average."""
    took: list[float] = []
    found, until, cpu = 0, time.perf_counter() + seconds, time.process_time()
    with reading(engine) as connection:
        while len(took) < ASKED and (len(took) < 5 or time.perf_counter() < until):
            typed = asked()
            began = time.perf_counter()
            found += len(search(StoreGraph(connection), typed, limit).names)
            took.append(1_000 * (time.perf_counter() - began))
    return sorted(took), 1_000 * (time.process_time() - cpu) / len(took), found / len(took)


def main() -> None:
    """Fill, search, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.search", description=__doc__)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--store", help="an empty store's URL; SQLite if not given")
    parser.add_argument("--limit", type=int, default=20, help="names that are wanted")
    parser.add_argument("--seconds", type=float, default=10, help="for each kind at most")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        engine = open_store(given.store or sqlite_url(Path(directory) / "store.db"))
        migrate(engine)
        made = fill(engine, given.names)
        sys.stdout.write(f"{given.names:,} names, {engine.dialect.name}, load {os.getloadavg()[0]:.1f}; milliseconds\n")
        for name, asked in questions(made).items():
            took, cpu, found = measure(engine, asked, given.limit, given.seconds)
            p50, p95 = (took[int(len(took) * share)] for share in (0.5, 0.95))
            times = f"p50 {p50:7.1f}  p95 {p95:7.1f}  max {took[-1]:7.1f}  cpu {cpu:6.1f}"
            sys.stdout.write(f"{name:24} {times}  {found:5.1f} found\n")
        engine.dispose()


if __name__ == "__main__":
    main()
