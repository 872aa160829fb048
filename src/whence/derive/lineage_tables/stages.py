"""The published tables, made from relations of the store (`store/lifecycle/export.py`): pure functions of frames. Each
ends in one select that matches its table in `schema.TABLES`.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from whence.derive.lineage_tables.schema import TABLES
from whence.model.blast_radius import COUNTED
from whence.model.events import RunState
from whence.store.ingest.statements import Aspect
from whence.store.schema.tables import FOREVER

TAGS = "tags array<struct<key string, value string, field string>>"
BOUNDARY = "origin boolean, terminal boolean"


def edges(held_set: DataFrame, set_edge: DataFrame) -> DataFrame:
    """`edge`: the edges of every lineage set, for each uninterrupted interval in which its owner held it."""
    set_edges = set_edge.drop("owner_id", "ordinal")
    found = stretches(held_set).join(set_edges, on="set_id", how="inner")
    owner = f.when(f.col("owned_by_job"), node("job", "owner_namespace", "owner_name")).otherwise(
        node("dataset", "owner_namespace", "owner_name")
    )
    return _select(
        "edge",
        found,
        source=_end("source"),
        target=_end("target"),
        owner=owner,
        aspect=_word(f.col("aspect"), [one.name.lower() for one in Aspect]),
        valid_from=_time("valid_from"),
        valid_to=f.when(f.col("valid_to") != FOREVER, _time("valid_to")),
    )


def stretches(held_set: DataFrame) -> DataFrame:
    """Merge adjacent validity intervals of one set that are equally confirmed."""
    history = Window.partitionBy("owner_id", "aspect", "set_id").orderBy("valid_from")
    follows = f.lag("valid_to").over(history) == f.col("valid_from")
    is_alike = f.lag("confirmed").over(history) == f.col("confirmed")
    begins = f.when(follows & is_alike, 0).otherwise(1)
    numbered = held_set.withColumn("begins", begins).withColumn("stretch", f.sum("begins").over(history))
    return numbered.groupBy("owner_id", "aspect", "set_id", "stretch").agg(
        f.min("valid_from").alias("valid_from"),
        f.max("valid_to").alias("valid_to"),
        f.max("confirmed").alias("confirmed"),
    )


def dependencies(edge: DataFrame, dataset: DataFrame) -> DataFrame:
    """`dependency`: the current edges between datasets, by representatives."""
    is_current = f.col("valid_to").isNull()
    between = edge.where(is_current & f.col("source_dataset_id").isNotNull() & f.col("target_dataset_id").isNotNull())
    found = _represented(_represented(between, dataset, "source"), dataset, "target")
    return _select(
        "dependency",
        found.where(f.col("source_id") != f.col("target_id"))
        .groupBy("source_id", "target_id")
        .agg(
            f.max(~f.col("origin").isin("parsed", "inferred")).alias("stated"),
            f.max(f.col("level") == "field").alias("by_column"),
        ),
    )


def produced(edge: DataFrame, dataset: DataFrame) -> DataFrame:
    """The ids of the representatives with a known producer: a job, or another dataset."""
    current = edge.where(f.col("valid_to").isNull() & f.col("target_dataset_id").isNotNull())
    source = dataset.select(f.col("id").alias("source_dataset_id"), f.col("representative_id").alias("upstream_id"))
    found = _represented(current, dataset, "target").join(source, on="source_dataset_id", how="left")
    is_other = f.col("upstream_id").isNull() | (f.col("upstream_id") != f.col("target_id"))
    return found.where(is_other).select(f.col("target_id").alias("id")).distinct()


def marks(facet: DataFrame) -> DataFrame:
    """The assertions in facets of a dataset or job: id, type, certified, is_origin, is_terminal."""
    name, payload = f.col("name"), f.col("payload")
    tags = f.from_json(payload, TAGS)["tags"]
    boundary = f.when(name == "whence_boundary", f.from_json(payload, BOUNDARY))
    types = f.coalesce(
        *(f.when(name == one, f.get_json_object(payload, f"$.{one}")) for one in ("datasetType", "jobType"))
    )
    return facet.groupBy(f.col("subject_id").alias("id")).agg(
        f.max(f.upper(types)).alias("type"),
        _any(f.when(name.isin("tags", "whence_stewardTags"), f.exists(tags, _certifies))).alias("certified"),
        _any(boundary["origin"]).alias("is_origin"),
        _any(boundary["terminal"]).alias("is_terminal"),
    )


def asserted(dataset: DataFrame, marked: DataFrame) -> DataFrame:
    """The datasets with their assertions; an assertion about one alias holds for all."""
    group = Window.partitionBy("representative_id")
    names = ("certified", "is_origin", "is_terminal")
    flags = {name: f.coalesce(f.max(name).over(group), f.lit(False)) for name in names}
    return dataset.join(marked, on="id", how="left").withColumns({"type": f.max("type").over(group), **flags})


def datasets(of: DataFrame, incomplete: DataFrame) -> DataFrame:
    """`dataset`, from `asserted` datasets and the representatives with incomplete upstream lineage."""
    broken = incomplete.select(f.col("id").alias("representative_id"), f.lit(True).alias("broken"))
    return _select(
        "dataset",
        of.join(broken, on="representative_id", how="left"),
        node=node("dataset", "namespace", "name"),
        upstream_complete=f.col("broken").isNull(),
        **_seen(),
    )


def fields(field: DataFrame) -> DataFrame:
    """`field`."""
    declared = f.col("declared") != 0
    return _select("field", field, node=node("datasetField", "namespace", "dataset", "name"), declared=declared)


def jobs(job: DataFrame, marked: DataFrame) -> DataFrame:
    """`job`."""
    types = marked.select("id", "type")
    return _select("job", job.join(types, on="id", how="left"), node=node("job", "namespace", "name"), **_seen())


def runs(run: DataFrame) -> DataFrame:
    """`run`."""
    has_ended = f.col("terminals") != 0
    return _select(
        "run",
        run,
        state=_word(f.col("state"), [one.name for one in RunState]),
        reported_start=f.col("started_at").isNotNull(),
        reported_end=has_ended,
        streaming=f.col("streaming") != 0,
        partial=f.col("partial") != 0,
        ended_at=f.when(has_ended, _time("state_at")),
        **{name: _time(name) for name in ("started_at", "seen_from", "seen_to")},
    )


def reports(reported: DataFrame, dataset: DataFrame) -> DataFrame:
    """`report`, by representatives."""
    found = reported.withColumnsRenamed({"source_id": "source_dataset_id", "target_id": "target_dataset_id"})
    return _select("report", _represented(_represented(found, dataset, "source"), dataset, "target").distinct())


def assertions(checked: DataFrame) -> DataFrame:
    """`assertion`."""
    return _select("assertion", checked, at=_time("at"))


def blast_radii(blast_radius: DataFrame) -> DataFrame:
    """`blast_radius`."""
    is_estimate = {name: f.col("estimated").bitwiseAND(1 << place) != 0 for place, name in enumerate(COUNTED)}
    errors = {f"{name}_error": f.when(is_estimate[name], f.col("error")).otherwise(0.0) for name in COUNTED}
    return _select("blast_radius", blast_radius, computed_at=_time("computed_at"), **errors)


def node(kind: str, namespace: str, *names: str) -> Column:
    """A node id (`model/names.py`)."""
    return f.concat_ws(":", f.lit(kind), f.col(namespace), *(_escape(f.col(name)) for name in names))


def _end(prefix: str) -> Column:
    namespace, name, field = (f"{prefix}_{part}" for part in ("namespace", "name", "field"))
    return (
        f.when(f.col(f"{prefix}_dataset_id").isNull(), node("job", namespace, name))
        .when(f.col(field).isNull(), node("dataset", namespace, name))
        .otherwise(node("datasetField", namespace, name, field))
    )


def _escape(part: Column) -> Column:
    return f.replace(f.replace(part, f.lit("%"), f.lit("%25")), f.lit(":"), f.lit("%3A"))


def _represented(frame: DataFrame, dataset: DataFrame, end: str) -> DataFrame:
    """Add the representative of the dataset at one end, as `source_id` or `target_id`."""
    names = dataset.select(f.col("id").alias(f"{end}_dataset_id"), f.col("representative_id").alias(f"{end}_id"))
    return frame.drop(f"{end}_id").join(names, on=f"{end}_dataset_id", how="inner")


def _certifies(tag: Column) -> Column:
    is_certified = (f.lower(tag["key"]) == "certified") & (f.lower(tag["value"]) == "true")
    return f.coalesce(is_certified & tag["field"].isNull(), f.lit(False))


def _any(flag: Column) -> Column:
    return f.coalesce(f.max(flag), f.lit(False))


def _word(number: Column, words: list[str]) -> Column:
    return f.element_at(f.array(*map(f.lit, words)), number.cast("int") + 1)


def _time(name: str) -> Column:
    return f.timestamp_micros(f.col(name))


def _seen() -> dict[str, Column]:
    return {name: _time(name) for name in ("first_seen", "last_seen")}


def _select(table: str, frame: DataFrame, **given: Column) -> DataFrame:
    """Select the table's columns: the given ones, and the others by their names in the frame."""
    return frame.select(*(given.get(name, f.col(name)).alias(name) for name in TABLES[table].plain.names))
