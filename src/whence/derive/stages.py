"""Stages 2 to 6: readings to rows of facts. Each takes a DataFrame of readings and adds the list columns of its
tables, by column expressions only.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from whence.derive.schema import ROWS
from whence.store.tables import Touch

Fields = dict[str, Column]


def ledger(readings: DataFrame) -> DataFrame:
    """`event` and `producer`: every event; `receipt`: every record that is none of its own, with the reason if it is in
    quarantine. Which record of an event was first is decided by merging (the least position).
    """
    is_event = f.col("kind").isNotNull()
    reason = f.coalesce("reason", f.lit(""))
    return readings.withColumns(
        {
            "event": _only(is_event, _row("event", id=f.col("event_id"))),
            "receipt": _only(~is_event, _row("receipt", reason=reason)),
            "producer": _only(is_event, _row("producer", id=f.col("producer_id"), uri=f.col("producer"))),
        }
    )


def datasets(readings: DataFrame) -> DataFrame:
    """`dataset`, `job` and `alias`: all that an event mentions, seen at its time."""
    seen = {"first_seen": f.col("time"), "last_seen": f.col("time")}
    return readings.withColumns(
        {
            "dataset": _each("datasets", "dataset", **seen),
            "job": _each("jobs", "job", **seen),
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
        lambda one: _struct(
            "containment", {"run_id": f.col("run_node"), "container_id": one["id"], "relation": one["relation"]}
        ),
    )
    return readings.withColumns({"run": f.concat(own, placeholders), "containment": containment})


def facets(readings: DataFrame) -> DataFrame:
    """`facet`, `run_facets` and `schema_version`: each with what orders its writers."""
    said = {**_columns("time", "event_id"), "rank": _rank()}
    return readings.withColumns(
        {
            "facet": _each("facets", "facet", **said),
            "run_facets": _each("run_facets", "run_facets", run_id=f.col("run_node"), **said),
            "schema_version": _each("schemas", "schema_version", **_witnesses()),
        }
    )


def lineage(readings: DataFrame) -> DataFrame:
    """`lineage_set` and `version`, and who said them: `run_lineage` or `declaration`."""
    of_run = f.col("run_node").isNotNull() & (f.col("version") != 0)
    members = f.transform("sets", lambda one: _struct("version", {"id": f.col("version"), "set_id": one["id"]}))
    return readings.withColumns(
        {
            "lineage_set": _each("sets", "lineage_set", **_witnesses()),
            "version": members,
            "run_lineage": _only(of_run, _row("run_lineage", run_id=f.col("run_node"))),
            "declaration": _only(_declares(), _row("declaration", owner_id=f.col("declarer"))),
        }
    )


def touched(readings: DataFrame) -> DataFrame:
    """`touched`: what must be settled again: the run, the declaration, the datasets with aliases."""
    run = _only(f.col("run_node").isNotNull(), _touch(f.col("run_node"), Touch.RUN))
    declaration = _only(_declares(), _touch(f.col("event_id"), Touch.DECLARATION))
    aliased = f.transform("aliases", lambda one: _touch(one["dataset_id"], Touch.ALIAS))
    return readings.withColumn("touched", f.concat(run, declaration, aliased))


def rows(readings: DataFrame) -> DataFrame:
    """The one select at the end: `schema.ROW_SCHEMA`."""
    # The columns have their types already: a cast here, for nullability alone, would copy every list.
    return readings.select("position", *ROWS)


STAGES: tuple[Callable[[DataFrame], DataFrame], ...] = (ledger, datasets, runs, facets, lineage, touched, rows)
"""After `read`, in order. Duplicates need no stage of their own: every merge is idempotent, and the ledger keeps the
least position.
"""


def _declares() -> Column:
    return f.col("declarer").isNotNull()


def _touch(statement: Column, kind: Touch) -> Column:
    return _struct("touched", {"statement_id": statement, "kind": f.lit(int(kind))})


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
        "first_event": f.col("event_id"),
        "last_time": f.col("time"),
        "last_event": f.col("event_id"),
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


_SPARK_TYPES = {"int64": "bigint", "int32": "int", "int16": "smallint", "string": "string", "binary": "binary"}


def _type(table: str, name: str) -> str:
    return _SPARK_TYPES[str(ROWS[table][name])]
