"""What the pack of a dataset with thousands of datasets upstream takes: `python -m bench.measures.evidence`."""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Engine

from whence.derive.writing.merge import merge_records
from whence.govern.evidence.installation import Installation
from whence.govern.evidence.pack import make_pack
from whence.govern.evidence.signing.key_files import create_key
from whence.govern.evidence.signing.keys import Algorithm
from whence.govern.evidence.verify import verify_files
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import column_lineage, dataset, run_event
from whence.query.answers.instants import iso
from whence.query.answers.values import Question
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.ingest.recompute import recompute
from whence.store.migrations.migrate import migrate

T = TypeVar("T")

SPACE = "postgres://db:5432"
BEGAN = 1_795_154_400_000_000
COLUMNS = ("id", "name", "amount")
INPUTS, WIDTH = 3, 100
CHUNK = 2_000


def events(datasets: int) -> Iterator[bytes]:
    """The run of each dataset's job: three columns, of three datasets of the layer before. The last reads its layer."""
    for number in range(datasets):
        first = max(0, (number // WIDTH - 1) * WIDTH)
        is_last = number == datasets - 1
        reads = range(first, number) if is_last else {first + (number + one) % WIDTH for one in range(INPUTS)}
        sources = [_name(one) for one in reads] if number >= WIDTH or is_last else []
        yield json.dumps(_run(number, sources)).encode()


def _run(number: int, sources: list[DatasetName]) -> dict[str, object]:
    target = _name(number)
    run = RunName(str(UUID(int=number, version=4)), JobName("shop", f"load_{number}"))
    edges = [
        Edge(source=FieldName(source, column), target=FieldName(target, column), type="DIRECT", subtype="IDENTITY")
        for source in sources
        for column in COLUMNS
    ]
    written = dataset(target, facets={"columnLineage": column_lineage(edges)})
    at = BEGAN + number * 1_000_000
    return run_event(at, RunState.COMPLETE, run, inputs=list(map(dataset, sources)), outputs=[written])


def _name(number: int) -> DatasetName:
    return DatasetName(SPACE, f"shop.layer_{number // WIDTH}.t{number}")


def fill(engine: Engine, log: Path, datasets: int) -> None:
    """Write the events to a log, and what they say to a store."""
    writer = SegmentLog(log).open_writer()
    accepted = [accept(body) for body in events(datasets)]
    for at in range(0, datasets, CHUNK):
        writer.append(
            [
                Draft(kind=Kind.EVENT, key=bytes.fromhex(one.key), received_at=0, payload=one.payload, owner=one.key)
                for one in accepted[at : at + CHUNK]
            ]
        )
    writer.close()
    end = committed_end(log)
    records = list(read_records(log, start_position(log), end))
    for at in range(0, len(records), CHUNK):
        merge_records(engine, records[at : at + CHUNK])
    recompute(engine, {"log": end.as_int})


def main() -> None:
    """Fill a store and a log, and print what a pack of the last dataset takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=10_000)
    datasets = parser.parse_args().datasets
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory)
        engine = open_store(sqlite_url(data / "store.db"))
        migrate(engine)
        fill(engine, data / "log", datasets)
        create_key(data / "keys", Algorithm.ED25519, iso(BEGAN))
        _measure(
            Installation(
                store=engine,
                log=SegmentLog(data / "log"),
                security=None,
                keys=data / "keys",
                heads=data / "heads.jsonl",
            ),
            _name(datasets - 1),
        )
        engine.dispose()


def _measure(installation: Installation, root: DatasetName) -> None:
    at = int(datetime.now(UTC).timestamp() * 1_000_000)
    signer = installation.signer
    question = Question(at=at, max_nodes=1_000_000, max_edges=10_000_000)
    with installation.open_sources() as sources:
        files = _timed("made", lambda: make_pack(sources, root, question, at, signer))
    assert signer.key is not None
    key = signer.key.public
    found = _timed("verified", lambda: verify_files(files, [key]))
    lineage = json.loads(files["lineage.json"])
    size = sum(map(len, files.values())) / (1 << 20)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    sys.stdout.write(
        f"{len(lineage['nodes']):,} nodes, {len(lineage['edges']):,} edges, "
        f"{len(files['events.jsonl'].splitlines()):,} events: {size:.0f} MiB, {memory:,.0f} MiB of memory, "
        f"problems: {len(found.problems)}\n"
    )


def _timed(done: str, work: Callable[[], T]) -> T:
    began = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    sys.stdout.write(f"{done}: {wall:.1f} s, {cpu:.1f} s of CPU time\n")
    sys.stdout.flush()
    return result


if __name__ == "__main__":
    main()
