"""`whence slo suggest`: objectives that the past of a store would have kept."""

import sys
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction

from whence.cli.output.streams import Exit
from whence.cli.slos.files import open_catalog
from whence.errors import NodeNotFoundError
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.objectives import DAY, Lineage, LineageMetric, Objective, Volume
from whence.govern.slos.suggestions import LEAST_WRITES, PERIOD, Suggestion, suggest_objectives, write_suggestions
from whence.model.catalog import EntryFilter, Window
from whence.model.ids import Kind
from whence.model.names import DatasetName, parse_node
from whence.query.lookup.resolve import resolve
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph, open_graph

MOST_DATASETS = 500
"""Of a store, unless datasets are named: the most recently seen ones."""
_AT_ONCE = 50
"""Datasets whose facts are in memory at one time."""


def show_suggested(datasets: Sequence[str], url: str, log: str, service: str, as_of: int | None) -> Exit:
    """Print suggestions as a file. Raises NodeNotFoundError, AmbiguousNodeError, RulesFileError, StoreError."""
    at = time.time_ns() // 1_000 if as_of is None else as_of
    with open_graph(url) as graph:
        catalog = open_catalog(graph, log)
        names = [_named(graph, one) for one in datasets] or _written(catalog)
        found = list(_suggestions(catalog, graph, sorted(set(names)), at))
    if not found:
        needed = f"{LEAST_WRITES} writes in {PERIOD // DAY} days, and a target that they kept"
        sys.stderr.write(f"whence: nothing to suggest (datasets: {len(set(names)):,}): it takes {needed}\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(write_suggestions(service, found).encode())
    sys.stdout.buffer.flush()
    return Exit.OK


def _named(graph: StoreGraph, text: str) -> DatasetName:
    name = resolve(graph, text)
    if not isinstance(name, DatasetName):
        raise NodeNotFoundError(f"dataset {text}", (str(name),))
    return name


def _written(catalog: StoreCatalog) -> list[DatasetName]:
    """Those with a node id that a file can name."""
    entries = catalog.listed(Kind.DATASET, EntryFilter(latest=True), Window(limit=MOST_DATASETS))
    written = catalog.last_write_times([one.id for one in entries])
    names = (one.name for one in entries if one.id in written)
    return [one for one in names if isinstance(one, DatasetName) and one.name and parse_node(str(one)) == one]


def _suggestions(
    catalog: StoreCatalog, graph: StoreGraph, names: Sequence[DatasetName], at: int
) -> Iterator[Suggestion]:
    for first in range(0, len(names), _AT_ONCE):
        some = names[first : first + _AT_ONCE]
        facts = observe_datasets(catalog, graph, [one for name in some for one in _objectives_of(name)], at, at)
        for name in some:
            yield from suggest_objectives(name, facts[name], at)


def _objectives_of(name: DatasetName) -> Iterator[Objective]:
    """Objectives that need the facts of those that may be suggested."""
    for indicator in (Volume(), Lineage(metric=LineageMetric.COVERAGE), Lineage(metric=LineageMetric.LOSS)):
        yield Objective(service="", name="", dataset=name, indicator=indicator, target=Fraction(1, 2), window=PERIOD)
