"""Stages 2 to 6: readings to rows of facts. Each takes a DataFrame of readings and adds the list columns of its
tables, by column expressions only.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from whence.derive.schema import ROWS

Fields = dict[str, Column]


def ledger(readings: DataFrame) -> DataFrame:
    """`receipt` and `event`: every record received, and every event once. Which receipt was first is decided by
    merging (the least position).
    """
    reason = f.coalesce("reason", f.lit(""))
    outcome = f.when(f.col("reason").isNull(), "event").otherwise("quarantined")
    receipt = f.array(_row("receipt", outcome=outcome, reason=reason))
    event = _only(f.col("event_kind").isNotNull(), _row("event", kind=f.col("event_kind")))
    return readings.withColumns({"receipt": receipt, "event": event})


def datasets(readings: DataFrame) -> DataFrame:
    """`dataset`, `job`, `field` and `alias`: all that an event mentions, seen at its time."""
    seen = {"first_seen": f.col("time"), "last_seen": f.col("time")}
    return readings.withColumns(
        {
            "dataset": _each("datasets", "dataset", **seen),
            "job": _each("jobs", "job", **seen),
            "field": f.col("fields"),
            "alias": _each("aliases", "alias", **_witnesses()),
        }
    )


def runs(readings: DataFrame) -> DataFrame:
    """`run` and `containment`: the state as the lattice orders it, and the runs that contain this one, as
    placeholders.
    """
    own = _only(f.col("run_node").isNotNull(), _row("run", **_run_state()))
    unseen = {name: f.lit(None) for name in ("started_at", "seen_from", "seen_to")}
    none = {name: f.lit(0) for name in ("state_at", "state", "streaming", "partial", "terminals")}
    placeholders = _each("containers", "run", state_rank=f.lit(-1), **unseen, **none)
    containment = f.transform(
        "containers",
        lambda one: f.struct(
            f.col("run_node").alias("run_id"), one["id"].alias("container_id"), one["relation"].alias("relation")
        ),
    )
    return readings.withColumns({"run": f.concat(own, placeholders), "containment": containment})


def facets(readings: DataFrame) -> DataFrame:
    """`facet`: each with what orders its writers."""
    return readings.withColumn("facet", _each("facets", "facet", time=f.col("time"), rank=_rank(), key=f.col("key")))


def lineage(readings: DataFrame) -> DataFrame:
    """`lineage_set` and `lineage_edge`, and who said them: `run_lineage`, or `declaration` and `declared_lineage`."""
    is_run, declares = f.col("run_node").isNotNull(), f.col("declarer").isNotNull()
    by_run = f.transform(
        "sets",
        lambda one: _struct(
            "run_lineage", {"run_id": f.col("run_node"), "set_id": one["id"], **_columns("time", "key")}
        ),
    )
    declared = f.transform("sets", lambda one: _struct("declared_lineage", {"set_id": one["id"], **_columns("key")}))
    return readings.withColumns(
        {
            "lineage_set": _each("sets", "lineage_set", **_witnesses()),
            "lineage_edge": f.col("edges"),
            "run_lineage": f.when(is_run, by_run).otherwise(f.array()),
            "declaration": _only(declares, _row("declaration", owner_id=f.col("declarer"))),
            "declared_lineage": f.when(declares, declared).otherwise(f.array()),
        }
    )


def touched(readings: DataFrame) -> DataFrame:
    """`touched`: what must be settled again: the run, the declaration, the datasets with aliases."""
    no_key = f.lit("").alias("key")
    run = _only(f.col("run_node").isNotNull(), f.struct(f.col("run_node").alias("statement_id"), no_key))
    first_64_bits = f.conv(f.substring("key", 1, 16), 16, -10).cast("long")
    declaration = _only(
        f.col("declarer").isNotNull(), f.struct(first_64_bits.alias("statement_id"), f.col("key").alias("key"))
    )
    aliased = f.transform("aliases", lambda one: f.struct(one["dataset_id"].alias("statement_id"), no_key))
    return readings.withColumn("touched", f.concat(run, declaration, aliased))


def rows(readings: DataFrame) -> DataFrame:
    """The one select at the end: `schema.ROW_SCHEMA`."""
    # The columns have their types already: a cast here, for nullability alone, would copy every list.
    return readings.select(*ROWS)


STAGES: tuple[Callable[[DataFrame], DataFrame], ...] = (ledger, datasets, runs, facets, lineage, touched, rows)
"""After `read`, in order. Duplicates need no stage of their own: every merge is idempotent, and the ledger keeps the
least position.
"""


def _rank() -> Column:
    return f.least(f.col("state"), f.lit(3)).cast("short")


def _run_state() -> Fields:
    is_terminal = f.col("state") >= 3
    bit = f.pow(f.lit(2), f.col("state")).cast("int")
    started = f.when(f.col("state") == 1, f.col("time"))
    return {
        "id": f.col("run_node"),
        "state_rank": _rank(),
        "state_at": f.col("time"),
        "started_at": started,
        "seen_from": f.col("time"),
        "seen_to": f.col("time"),
        "terminals": f.when(is_terminal, bit).otherwise(0),
    }


def _witnesses() -> Fields:
    return {
        "first_time": f.col("time"),
        "first_key": f.col("key"),
        "last_time": f.col("time"),
        "last_key": f.col("key"),
    }


def _columns(*names: str) -> Fields:
    return {name: f.col(name) for name in names}


def _row(table: str, **given: Column) -> Column:
    """A row of a table: the given columns, the others from the reading's columns of the same name."""
    return _struct(table, {name: given[name] if name in given else f.col(name) for name in ROWS[table]})


def _each(source: str, table: str, **given: Column) -> Column:
    """A row of a table for each element of a list: the given columns, the others from the element."""
    return f.transform(
        source, lambda one: _struct(table, {name: given[name] if name in given else one[name] for name in ROWS[table]})
    )


def _struct(table: str, fields: Fields) -> Column:
    return f.struct(*(fields[name].cast(_type(table, name)).alias(name) for name in ROWS[table]))


def _only(condition: Column, row: Column) -> Column:
    return f.when(condition, f.array(row)).otherwise(f.array())


_SPARK_TYPES = {"int64": "bigint", "int32": "int", "int16": "smallint", "string": "string", "bool": "boolean"}


def _type(table: str, name: str) -> str:
    return _SPARK_TYPES[str(ROWS[table][name])]
