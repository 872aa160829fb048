"""Sensitivity labels of a whole estate: seconds and memory until all columns have theirs, and for a search after that.

An estate of 20 columns a dataset, in ten layers; each dataset is made of three of the layer before, with the functions
of SQL that warehouses have. One column in forty of the first layer has a tag.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from whence.derive.writing.merge import merge_records
from whence.log import Kind, Position, Record
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.query.answers.values import Filter
from whence.query.lookup.standings import NO_STANDINGS
from whence.query.sensitivity.estate_labels import label_estate
from whence.query.sensitivity.labelled_search import search_nodes
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.ingest.recompute import recompute
from whence.store.migrations.migrate import migrate
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

COLUMNS = 20
LAYERS = 10
TAGS = ("pii", "phi", "financial", "confidential")
EXPRESSIONS = (
    "",
    "UPPER({0})",
    "CAST({0} AS VARCHAR)",
    "SHA2({0}, 256)",
    "LEFT({0}, 3)",
    "AVG({0})",
    "MAX({0})",
    "CASE WHEN {0} IS NULL THEN 0 ELSE 1 END",
    "my_udf({0})",
)


def events(columns: int, dice: random.Random) -> Iterator[bytes]:
    """One run of each job that writes a dataset of the estate, layer by layer."""
    per_layer = columns // COLUMNS // LAYERS
    before: list[DatasetName] = []
    for layer in range(LAYERS):
        now = [DatasetName(f"s3://prod{number % 7}", f"layer{layer}/t{number}") for number in range(per_layer)]
        for number, target in enumerate(now):
            yield _run(number + layer * per_layer, target, dice.sample(before, 3) if before else [], dice)
        before = now


def _run(number: int, target: DatasetName, sources: list[DatasetName], dice: random.Random) -> bytes:
    edges = [_edge(FieldName(target, f"c{at}"), sources, dice) for at in range(COLUMNS) if sources]
    filters = [Edge(source=FieldName(one, "c0"), target=target, type="INDIRECT", subtype="JOIN") for one in sources]
    facets: dict[str, Any] = {"schema": _schema()}
    facets |= {"columnLineage": column_lineage([*edges, *filters])} if sources else {"tags": _tags(dice)}
    out = dataset(target, facets=facets)
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"load {target.name}"))
    inputs = [dataset(one) for one in sources]
    return json.dumps(run_event(1_800_000_000_000_000, RunState.COMPLETE, run, inputs=inputs, outputs=[out])).encode()


def _edge(target: FieldName, sources: list[DatasetName], dice: random.Random) -> Edge:
    source = FieldName(dice.choice(sources), f"c{dice.randrange(COLUMNS)}")
    text = dice.choice(EXPRESSIONS).format(source.field)
    return Edge(
        source=source,
        target=target,
        type="DIRECT",
        subtype="TRANSFORMATION" if text else "IDENTITY",
        description=text,
    )


def _schema() -> Mapping[str, Any]:
    return facet("SchemaDatasetFacet", fields=[{"name": f"c{at}", "type": "string"} for at in range(COLUMNS)])


def _tags(dice: random.Random) -> Mapping[str, Any]:
    tagged = [at for at in range(COLUMNS) if dice.randrange(40) == 0]
    return facet("TagsDatasetFacet", tags=[{"key": dice.choice(TAGS), "value": "", "field": f"c{at}"} for at in tagged])


def fill(engine: Engine, columns: int) -> None:
    """Merge the events of an estate into a store."""
    accepted = [accept(body) for body in events(columns, random.Random(1))]
    records = [
        Record(position=Position(0, at), kind=Kind.EVENT, key=one.key, received_at=0, payload=one.payload)
        for at, one in enumerate(accepted, 1)
    ]
    for at in range(0, len(records), 2_000):
        merge_records(engine, records[at : at + 2_000])
    recompute(engine, {"log": Position(0, len(records) + 1).as_int})


def main() -> None:
    """Fill a store, and print what the labels of all its columns take."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=100_000)
    columns = parser.parse_args().columns
    with tempfile.TemporaryDirectory() as directory:
        engine = open_store(sqlite_url(Path(directory) / "store.db"))
        migrate(engine)
        fill(engine, columns)
        with reading(engine) as connection:
            _measure(StoreCatalog(connection), StoreGraph(connection))
        engine.dispose()


def _measure(catalog: StoreCatalog, graph: StoreGraph) -> None:
    began = time.perf_counter(), time.process_time()
    labels = label_estate(catalog, graph)
    wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
    get_labels = repeat(labels).__next__
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    sys.stdout.write(f"{labels.is_column.sum():,} columns: {wall:.1f} s, {cpu:.1f} s of CPU time, {memory:,.0f} MiB\n")
    for text in ("label:pii", "label:pii>=partial", "label:pii>=partial c7"):
        start = time.perf_counter(), time.process_time()
        found = search_nodes(graph, Filter(), text, 50, get_labels, lambda: NO_STANDINGS)
        took, cpu = (
            (now - then) * 1_000 for now, then in zip((time.perf_counter(), time.process_time()), start, strict=True)
        )
        sys.stdout.write(f"{text}: {len(found.names)} results, {took:.0f} ms, {cpu:.0f} ms of CPU time\n")


if __name__ == "__main__":
    main()
