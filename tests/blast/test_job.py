"""The Spark job on both stores: it writes what the pure core counts, only when the graph changed, all at once."""

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine, delete, func, select, update

from blast.combining import combined
from blast.lineages import POSITION, random_lineage, store_lineage
from whence.derive.blast_radius.count import Effort, prepare
from whence.derive.blast_radius.digraphs import build_survey
from whence.derive.blast_radius.job import Computed, compute
from whence.errors import StoreBusyError, StoreError
from whence.model.blast_radius import COUNTED
from whence.store.connection.engine import open_store, reading, writing
from whence.store.connection.lock import hold_blast_lock
from whence.store.graph.blast_radius import Generation, begin, blast_radius, find, publish, read_current, write_rows
from whence.store.schema.tables import edge, progress

LINEAGE = random_lineage(seed=7, datasets=300, edges=1_500)
SKETCHY = Effort(registers=64, exact_work=0, small=8)
"""So little effort that most counts are estimates."""


def rows(engine: Engine) -> dict[int, tuple[tuple[int, ...], frozenset[str]]]:
    with reading(engine) as connection:
        ids = connection.execute(select(blast_radius.c.node_id)).scalars().all()
        found = {id_: find(connection, id_) for id_ in ids}
    return {id_: (one.counts, one.estimated) for id_, one in found.items() if one}


@pytest.mark.parametrize("effort", [SKETCHY, Effort()], ids=["sketched", "exact"])
def test_the_job_writes_what_the_core_counts(spark: SparkSession, store: Engine, effort: Effort) -> None:
    store_lineage(store, LINEAGE)
    done = compute(spark, store, at=1_000, shares=3, effort=effort)
    expected = combined(prepare(build_survey(LINEAGE), effort), shares=1)
    assert done == Computed(rows=len(expected.counts), changed=True)
    assert rows(store) == {id_: (counts, expected.estimated[id_]) for id_, counts in expected.counts.items()}
    assert any(expected.estimated.values()) == (effort is SKETCHY)


def test_the_same_graph_is_not_counted_again(spark: SparkSession, store: Engine) -> None:
    store_lineage(store, LINEAGE)
    compute(spark, store, at=1_000, shares=1)
    before = rows(store)
    with writing(store) as connection:
        connection.execute(update(progress).values(position=POSITION + 5))
    assert compute(spark, store, at=2_000, shares=1) == Computed(rows=0, changed=False)
    current = read_current(store)
    assert current
    assert (current.generation, current.progress, current.computed_at) == (1, f"log={POSITION + 5}", 2_000)
    assert rows(store) == before


def test_a_changed_graph_takes_the_place_of_the_old_one(spark: SparkSession, store: Engine) -> None:
    store_lineage(store, LINEAGE)
    compute(spark, store, at=1_000, shares=1)
    with writing(store) as connection:
        connection.execute(delete(edge))
    assert compute(spark, store, at=2_000, shares=1).changed
    nodes = rows(store)
    assert len(nodes) == len(LINEAGE.fields) + len(LINEAGE.datasets) + len(LINEAGE.jobs)
    assert {counts for counts, _ in nodes.values()} == {(0,) * len(COUNTED)}


def test_an_empty_store_has_no_rows(spark: SparkSession, store: Engine) -> None:
    assert compute(spark, store, at=1_000, shares=2) == Computed(rows=0, changed=True)
    assert not compute(spark, store, at=2_000, shares=2).changed


def test_what_is_half_written_is_not_read(store: Engine) -> None:
    for generation, count in ((1, 5), (2, 7)):
        assert begin(store) == generation
        write_rows(store, generation, [(8, count, 0, 0, 0, 0, 1)])
        with reading(store) as connection:
            seen = find(connection, 8)
        assert (seen and seen.counts[0]) == (None if generation == 1 else 5)
        publish(store, Generation(generation, "log=10", 1_000, 0.1, "graph"), rows=1)
    with reading(store) as connection:
        seen = find(connection, 8)
        assert connection.execute(select(func.count()).select_from(blast_radius)).scalar() == 1
    assert seen
    assert (seen.counts, seen.error, seen.current) == ((7, 0, 0, 0, 0), 0.1, False)
    assert seen.estimated == frozenset({"datasets"})


def test_an_unfinished_generation_is_swept_away(store: Engine) -> None:
    write_rows(store, begin(store), [(8, 1, 0, 0, 0, 0, 0), (9, 1, 0, 0, 0, 0, 0)])
    assert begin(store) == 1
    with reading(store) as connection:
        assert connection.execute(select(func.count()).select_from(blast_radius)).scalar() == 0


def test_a_generation_that_lost_rows_is_not_published(store: Engine) -> None:
    write_rows(store, begin(store), [(8, 1, 0, 0, 0, 0, 0)])
    with pytest.raises(StoreError, match="1 of 2 rows"):
        publish(store, Generation(1, "log=10", 1_000, 0.1, "graph"), rows=2)
    assert read_current(store) is None


def test_two_do_not_compute_at_once(spark: SparkSession, store: Engine) -> None:
    other = open_store(store.url.render_as_string(hide_password=False))
    with hold_blast_lock(other), pytest.raises(StoreBusyError, match="wait for it"):
        compute(spark, store, at=1_000, shares=1)
    other.dispose()
    assert compute(spark, store, at=1_000, shares=1).changed
