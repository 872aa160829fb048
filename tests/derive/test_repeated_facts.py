"""Rows that events repeat are made once, and folded once per chunk: with the same result as row by row for each event.

A merge rule for which the first, the last and the winning event do not decide fails here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.workloads.events import bodies
from fixtures.examples import examples
from fixtures.readings_of_events import readings_of
from generators import arrivals, body, histories
from generators.events import run_events
from generators.sql import with_sql
from query.worlds.sensitive_story import BODIES as SENSITIVE
from whence.derive.reading.flat_event import FlatEvent, owner_of
from whence.derive.reading.record import Reading
from whence.derive.rows.repeated_rows import RepeatedRows, _make_rows, make_repeated_rows
from whence.derive.writing.chunk_facts import ChunkFacts, collect_facts
from whence.derive.writing.repeated_facts import Assertions, expand
from whence.openlineage.read import read_accepted
from whence.store.schema.dirty_keys import DirtyKey
from whence.store.schema.merge import Row, fold
from whence.store.schema.tables import FACTS, dirty_key

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
PLACED = ("event", "receipt")
"""Tables that `place_events` folds."""

FOLDED = [table for table in FACTS if table.name not in PLACED]
WORKLOAD = list(islice(bodies(seed=5, jobs=6, days=8), 90))
stamps = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 4))
long_histories = histories(16) | st.lists(run_events().flatmap(with_sql), min_size=1, max_size=6)


def folded(collected: Iterable[ChunkFacts]) -> dict[str, Any]:
    """The rows of several chunks, folded as one."""
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    contents: dict[Any, Any] = {}
    for facts in collected:
        for table, some in facts.tables.items():
            rows[table] += some
        contents |= facts.set_contents | facts.schema_contents | facts.facet_payloads
    tables = {table.name: fold(table, rows[table.name]) for table in FOLDED}
    plain = {name: sorted(set(rows[name])) for name in (*PLACED, dirty_key.name)}
    return {**tables, **plain, "contents": contents}


def assert_same_in_one_chunk(readings: Sequence[Reading]) -> None:
    assert folded([collect_facts(readings)]) == folded(collect_facts([one]) for one in readings)


@settings(max_examples=examples(150), suppress_health_check=SLOW)
@given(st.data())
def test_a_chunk_is_the_fold_of_its_events(data: st.DataObject) -> None:
    batches = data.draw(arrivals(data.draw(long_histories)))
    assert_same_in_one_chunk(readings_of([one for batch in batches for one in batch]))


def test_a_chunk_of_a_workload_is_the_fold_of_its_events() -> None:
    readings = readings_of(WORKLOAD)
    assert_same_in_one_chunk([*readings[::2], *readings])
    repeated = [one.content.repeated for one in readings if isinstance(one.content, FlatEvent)]
    assert len(set(repeated)) <= 6 * 2 < len(repeated)  # a job has two texts


@pytest.mark.parametrize("first", [WORKLOAD[0], SENSITIVE[0]], ids=["without tags", "with tags"])
@given(asserted=st.lists(stamps, min_size=1))
def test_every_rule_is_decided_by_the_first_the_last_and_the_winner(
    first: bytes, asserted: list[tuple[int, int, int]]
) -> None:
    content = readings_of([first])[0].content
    assert isinstance(content, FlatEvent)
    together = Assertions.by(content.repeated, asserted[0])
    for stamp in asserted[1:]:
        together.add(stamp)
    apart = [row for stamp in asserted for row in expand(Assertions.by(content.repeated, stamp))]
    tables = {name for name, _ in apart}
    for table in FOLDED:
        if table.name in tables:
            expected = fold(table, [row for name, row in apart if name == table.name])
            assert [row for name, row in sorted(expand(together)) if name == table.name] == expected
    assert {row for name, row in expand(together) if name == dirty_key.name} == {
        row for name, row in apart if name == dirty_key.name
    }
    assert all(row[1] == DirtyKey.ALIAS for name, row in apart if name == dirty_key.name)


@settings(max_examples=examples(150), suppress_health_check=SLOW)
@given(st.lists(long_histories, min_size=1, max_size=2))
def test_rows_that_are_known_are_those_made_anew(given_histories: list[list[dict[str, Any]]]) -> None:
    for one in (twin for history in given_histories for event in history for twin in twins(event)):
        event = read_accepted(body(one))
        known = make_repeated_rows(event, owner_of(event), reads_sql=True)
        assert as_sets(known) == as_sets(_make_rows(event, owner_of(event), reads_sql=True))


def twins(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The event, and those that differ from it only in one part of the run or the job."""
    yield event
    for part in ("run", "job"):
        if part in event:
            facets = event[part].get("facets", {})
            yield event | {part: event[part] | {"facets": {}}}
            yield event | {part: event[part] | {"facets": {**facets, "extractionError": {}, "documentation": {}}}}


def as_sets(rows: RepeatedRows) -> list[Any]:
    lists = (rows.datasets, rows.jobs, rows.facets, rows.aliases, rows.schemas, rows.sets)
    return [rows.version, *map(set, lists)]
