"""Stages 2 to 4: readings to rows. Each takes a DataFrame and adds columns that its tables need, by expressions only.

Lists of names, facets and lineage sets pass unchanged. Their rows get the record's own values (its time, its event)
when they are merged (`schema.SHAPES`). Adding those to every element here took half of the JVM's time.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from whence.derive.reading.schema import ROW_SCHEMA
from whence.model.events import RunState


def ledger(readings: DataFrame) -> DataFrame:
    """Set the reason of every record that is not an event; it is empty for a receipt, which adds nothing."""
    return readings.withColumn("reason", f.when(_is_event(), None).otherwise(f.coalesce("reason", f.lit(""))))


def runs(readings: DataFrame) -> DataFrame:
    """Add the columns that decide a run's state (state.md, "Run state"): rank, times of START, ABORT and FAIL, end
    bits.
    """
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
    """Add the source of the lineage sets: a run that asserted any, or a declaration, which may assert none."""
    asserts = f.col("run_node").isNotNull() & (f.col("version") != 0)
    return readings.withColumns(
        {
            "witness": f.when(asserts, f.col("run_node")),
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
