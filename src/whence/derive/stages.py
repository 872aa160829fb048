"""Stages 2 to 4: readings to rows. Each takes a DataFrame and adds what its tables need, by column expressions only.

Lists of names, facets and lineage sets pass as they are: their rows take what is said once per record (its time,
its event) when they are merged (`schema.SHAPES`). Giving it to every element here took half of the JVM's time.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from whence.derive.schema import ROW_SCHEMA
from whence.model.events import RunState


def ledger(readings: DataFrame) -> DataFrame:
    """Every record is an event or has a reason: empty for the repeat of an event, which says nothing anew."""
    return readings.withColumn("reason", f.when(_is_event(), None).otherwise(f.coalesce("reason", f.lit(""))))


def runs(readings: DataFrame) -> DataFrame:
    """What decides a run's state (docs/state.md, "Run state"): rank, times of START, ABORT and FAIL, ends in bits."""
    is_terminal = f.col("state") >= RunState.COMPLETE
    bit = f.pow(f.lit(2), f.col("state"))
    return readings.withColumns(
        {
            "rank": f.least(f.col("state"), f.lit(int(RunState.COMPLETE))).cast("short"),
            "started_at": _time_of(RunState.START),
            "aborted_at": _time_of(RunState.ABORT),
            "failed_at": _time_of(RunState.FAIL),
            "terminals": f.when(is_terminal, bit).otherwise(0).cast("short"),
        }
    )


def lineage(readings: DataFrame) -> DataFrame:
    """Who said the lineage sets: a run that said any, or a declaration, which may say none."""
    says = f.col("run_node").isNotNull() & (f.col("version") != 0)
    return readings.withColumns(
        {
            "witness": f.when(says, f.col("run_node")),
            "declaration": f.when(f.col("declarer").isNotNull(), f.col("event_id")),
        }
    )


def rows(readings: DataFrame) -> DataFrame:
    """The one select at the end: `schema.ROW_SCHEMA`."""
    # The columns have their types already: a cast here, for nullability alone, would copy every list.
    return readings.select(*ROW_SCHEMA.names)


STAGES: tuple[Callable[[DataFrame], DataFrame], ...] = (ledger, runs, lineage, rows)
"""After `read`, in order. Duplicates need no stage of their own: every merge is idempotent, and the ledger keeps the
least position.
"""


def _time_of(state: RunState) -> Column:
    return f.when(f.col("state") == state, f.col("time"))


def _is_event() -> Column:
    return f.col("kind").isNotNull()
