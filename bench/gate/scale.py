"""How long a verdict takes: `python -m bench.gate.scale [--models 500]` (docs/reference/gate.md).

A Git repository of SQL models, each made of others, with 15 to 19 columns, and a store that knows what the merge base
wrote. The head changes the formula of one column in the first model; nearly all others are behind it. `whence gate
--sql` judges it in a process of its own. Then chains of common table expressions that use each column twice are read.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from fixtures.stores_of_events import apply_bodies
from whence.capture.sql import Catalog
from whence.capture.sql.fingerprint.targets import read_targets
from whence.capture.sql.provenance.formulas import Formulas
from whence.capture.sql_log import Settings
from whence.capture.sql_log.events import script_event
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

NAMESPACE = "postgres://warehouse:5432"
COLUMNS = [f"c{number}" for number in range(15)]
RAW = {f"raw.t{number}": ("id", *COLUMNS) for number in range(20)}
LINKS = (10, 20, 30, 40, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=500)
    count = parser.parse_args().models
    with tempfile.TemporaryDirectory(prefix="whence-gate-") as folder:
        wall, cpu, code, found = verdict(Path(folder), count)
    changed, affected = len(found["changes"]), len(found["affected"])
    sys.stdout.write(f"{count} models: {wall:.1f} s wall, {cpu:.1f} s CPU, exit code {code}; ")
    sys.stdout.write(f"{changed:,} changes judged, {affected:,} nodes affected\n")
    for links, seconds, parts in map(chain, LINKS):
        sys.stdout.write(f"chain of {links} queries: {seconds * 1e3:.0f} ms CPU, {parts:,} parts of formulas\n")


def verdict(folder: Path, count: int) -> tuple[float, float, int, Mapping[str, list[object]]]:
    """Wall seconds, CPU seconds, the exit code and the document of one verdict."""
    repository = folder / "repository"
    (repository / "models").mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    base = dict(models(count, "c1"))
    commit(repository, base)
    git(repository, "switch", "-q", "-c", "work")
    commit(repository, {name: text for name, text in models(count, "c1 * 2") if text != base[name]})
    columns = folder / "columns.json"
    columns.write_text(json.dumps(RAW))
    store = sqlite_url(folder / "store.db")
    fill(store, base)
    command = [sys.executable, "-m", "whence.cli", "gate", "--repository", str(repository), "--base", "main"]
    read = ["--sql", "models", "--dialect", "postgres", "--namespace", NAMESPACE, "--columns", str(columns)]
    before, began = os.times(), time.monotonic()
    done = subprocess.run([*command, *read, "--store", store, "-o", "json"], capture_output=True, text=True)
    wall, after = time.monotonic() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    if not done.stdout:
        raise SystemExit(done.stderr)
    return wall, cpu, done.returncode, json.loads(done.stdout)


def models(count: int, first: str) -> Iterator[tuple[str, str]]:
    """The files of a project. `first`: a column of the first model."""
    rng = random.Random(3)
    columns = ", ".join(f"a.{name}" for name in COLUMNS)
    for number in range(count):
        if number % 25 == 0:
            formula = first if number == 0 else "c1"
            kept = columns.replace("a.c1,", f"a.{formula} as c1,", 1)
            query = f"select a.id, {kept} from raw.t{number // 25 % 20} a where a.c2 > {number}"
        else:
            one, other = (f"shop.m{number - 1 - rng.randrange(min(number, 40))}" for _ in range(2))
            query = (
                f"with base as (select * from {one}), grouped as (select id, sum(c1) as s, max(c2) as m, count(*) as n "
                f"from {other} where c3 > {number} group by id)\n"
                f"select a.id, {columns}, g.s, g.m, case when g.n > {number} then 'x' else 'y' end as flag, "
                "coalesce(a.c4, 0) + a.c5 as z\nfrom base a left join grouped g on g.id = a.id where a.c6 is not null"
            )
        yield f"models/m{number}.sql", f"create table shop.m{number} as\n{query}\n"


def fill(store: str, files: Mapping[str, str]) -> None:
    """A store that knows what these files write, as if they had run."""
    known = dict(RAW)
    for name in files:
        known[f"shop.{Path(name).stem}"] = ("id", *COLUMNS, "s", "m", "flag", "z")
    settings = Settings(
        dialect="postgres",
        namespace=NAMESPACE,
        jobs=NAMESPACE,
        time=1_795_000_000_000_000,
        catalog=Catalog.from_columns(known, "postgres"),
    )
    engine = open_store(store)
    migrate(engine)
    apply_bodies(engine, [_body(script_event(text, name, settings)) for name, text in files.items()])
    engine.dispose()


def _body(event: bytes | Mapping[str, object]) -> bytes:
    return event if isinstance(event, bytes) else json.dumps(event).encode()


def commit(repository: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (repository / name).write_text(text, "utf-8")
    git(repository, "add", "-A")
    git(repository, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "change")


def git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(repository), *arguments], check=True)


def chain(links: int) -> tuple[int, float, int]:
    """CPU seconds of reading a chain of this length, and the number of distinct parts of its formulas."""
    store = Formulas()
    parts = ["q0 as (select id, a, k from t)"]
    parts += [f"q{link} as (select id, a + a * 2 as a, k from q{link - 1})" for link in range(1, links + 1)]
    began = time.process_time()
    catalog = Catalog.from_columns({"t": ("id", "a", "k")}, "duckdb")
    read_targets(f"with {', '.join(parts)} select a from q{links}", "duckdb", store, catalog)
    return links, time.process_time() - began, len(store)


if __name__ == "__main__":
    main()
