"""What column expressions cannot do, in Arrow batches: packed facets, names to normalise, a walk over a graph."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from whence.model.ids import node_id
from whence.openlineage.assertions import assertions_in, is_assertions
from whence.openlineage.naming import normalise
from whence.store.encryption import DataKey
from whence.store.keyring import keys_among, open_expression, open_pack
from whence.store.packed import unpack_facets

Batches = Iterable[pa.RecordBatch]
Rows = Iterable[dict[str, Any]]

CHECKED = "run_id bigint, dataset_id bigint, assertion string, field string, success boolean, at bigint"
REPORTED = "source_id bigint, target_id bigint, reason string"
NOWHERE = 1
"""An id that no dataset has (its kind is that of a field)."""


def checked(run_facets: DataFrame, keys: Sequence[DataKey] = ()) -> DataFrame:
    """The data quality assertions that runs checked on their inputs, as each run said them last (CHECKED).

    `keys`: what the packs of an encrypted store are opened with.
    """
    return run_facets.mapInArrow(_each(partial(_checked, keys), CHECKED), CHECKED)


def reported(facet: DataFrame) -> DataFrame:
    """The dependencies that are reported to be false, by the ids of the names as they are written (REPORTED)."""
    wanted = facet.where(f.col("name") == "whence_falsePositives")
    return wanted.mapInArrow(_each(_reported, REPORTED), REPORTED)


def incomplete(dependency: DataFrame, of: DataFrame, produced: DataFrame) -> DataFrame:
    """The ids of the representatives upstream of which, or at which, the lineage ends without anybody saying that it
    should. `of` are the datasets with what is asserted of them; one task walks.
    """
    ends = of.where((f.col("id") == f.col("representative_id")) & ~f.col("is_origin")).select("id")
    unknown = ends.join(produced, on="id", how="left_anti").select(f.lit(NOWHERE).cast("bigint"), "id")
    arrows = dependency.select("source_id", "target_id").union(unknown)
    return arrows.coalesce(1).mapInArrow(_reach, "id bigint")


def _each(rows: Callable[[Rows], Rows], columns: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    types = {"bigint": pa.int64(), "string": pa.string(), "boolean": pa.bool_()}
    schema = pa.schema([(name, types[type_]) for name, type_ in (one.split() for one in columns.split(", "))])

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        said: list[dict[str, Any]] = []
        for row in rows(one for batch in batches for one in batch.to_pylist()):
            said.append(row)
            if len(said) >= 1_000:
                yield pa.RecordBatch.from_pylist(said, schema=schema)
                said = []
        yield pa.RecordBatch.from_pylist(said, schema=schema)

    return run


def opened(set_edge: DataFrame, keys: Sequence[DataKey]) -> DataFrame:
    """The edges of an encrypted store with their expressions."""
    return set_edge.mapInArrow(partial(_opened, keys), set_edge.schema) if keys else set_edge


def _opened(keys: Sequence[DataKey], batches: Batches) -> Iterator[pa.RecordBatch]:
    find = keys_among(keys)
    for batch in batches:
        both = zip(batch.column("set_id").to_pylist(), batch.column("description").to_pylist(), strict=True)
        texts = pa.array([open_expression(find, set_id, text) for set_id, text in both], pa.string())
        yield batch.set_column(batch.schema.get_field_index("description"), "description", texts)


def _checked(keys: Sequence[DataKey], rows: Rows) -> Iterator[dict[str, Any]]:
    """The rows of a run are together, in the order in which they were said."""
    find = keys_among(keys)
    for run_id, of_run in groupby(rows, key=lambda row: row["run_id"]):
        latest = {
            dataset: (row["time"], payload)
            for row in of_run
            for role, dataset, name, payload in unpack_facets(open_pack(find, run_id, row["content"]))
            if is_assertions(role, name)
        }
        for dataset, (time, payload) in latest.items():
            for one in assertions_in(payload):
                yield {
                    "run_id": run_id,
                    "dataset_id": dataset,
                    "assertion": one.name,
                    "field": one.column,
                    "success": one.held,
                    "at": time,
                }


def _reported(rows: Rows) -> Iterator[dict[str, Any]]:
    for row in rows:
        for one in _objects(row["payload"], "reports"):
            namespace, name = one.get("namespace"), one.get("name")
            if isinstance(namespace, str) and isinstance(name, str) and namespace and name:
                reason = one.get("reason")
                yield {
                    "source_id": node_id(normalise(namespace, name)),
                    "target_id": row["subject_id"],
                    "reason": reason if isinstance(reason, str) else "",
                }


def _objects(payload: str, key: str) -> list[dict[str, Any]]:
    listed = json.loads(payload).get(key) if payload else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _reach(batches: Batches) -> Iterator[pa.RecordBatch]:
    columns = [(batch.column(0).to_numpy(), batch.column(1).to_numpy()) for batch in batches]
    if not columns:
        return
    source, target = (np.concatenate(some) for some in zip(*columns, strict=True))
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    found = frontier = np.array([NOWHERE], np.int64)
    while len(frontier):
        low, high = (np.searchsorted(source, frontier, side=side) for side in ("left", "right"))
        steps = [target[begin:end] for begin, end in zip(low, high, strict=True) if end > begin]
        frontier = np.setdiff1d(np.concatenate(steps) if steps else np.empty(0, np.int64), found)
        found = np.union1d(found, frontier)
    yield pa.RecordBatch.from_pydict({"id": pa.array(np.setdiff1d(found, [NOWHERE]), pa.int64())})
