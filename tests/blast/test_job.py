"""The Spark job on both stores: it writes what the pure core counts, only when the graph changed, all at once."""

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine, delete, func, select, update

from blast.combining import combined
from blast.lineages import POSITION, random_lineage, store_lineage
from whence.derive.blast.count import Effort, prepare
from whence.derive.blast.job import Computed, compute
from whence.derive.blast.survey import survey
from whence.errors import StoreBusyError, StoreError
from whence.model.blast import COUNTED
from whence.store.blast import Generation, begin, blast_radius, find, publish, read_current, write_rows
from whence.store.engine import open_store, reading, writing
from whence.store.lock import blasting
from whence.store.tables import edge, progress

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
    expected = combined(prepare(survey(_without_repeats()), effort), shares=1)
    assert done == Computed(rows=len(expected.counts), position=POSITION, changed=True)
    assert rows(store) == {id_: (counts, expected.estimated[id_]) for id_, counts in expected.counts.items()}
    assert any(expected.estimated.values()) == (effort is SKETCHY)


def _without_repeats():  # type: ignore[no-untyped-def]
    return replace(LINEAGE, models=[one for one in LINEAGE.models if one not in set(LINEAGE.dashboards)])
