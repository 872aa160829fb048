"""Steps that column expressions cannot do, in Arrow batches: packed facets, name normalisation, a graph traversal."""

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
from whence.openlineage.facets.assertions import is_assertions_facet, parse_assertions
from whence.openlineage.names.naming import normalise
from whence.store.encryption.keyring import Find, keys_among, open_expression, open_pack, open_template
from whence.store.encryption.master_key import DataKey
from whence.store.schema.facet_templates import RunFacet, join_facets

Batches = Iterable[pa.RecordBatch]
Rows = Iterable[dict[str, Any]]

CHECKED = "run_id bigint, dataset_id bigint, assertion string, field string, success boolean, at bigint"
REPORTED = "source_id bigint, target_id bigint, reason string"
NOWHERE = 1
"""An id that no dataset has (its kind is that of a field)."""


def read_assertions(run_facets: DataFrame, keys: Sequence[DataKey] = ()) -> DataFrame:
    """The data quality assertions of runs on their inputs, as each run asserted them last (CHECKED).

    `keys` decrypt the packs of an encrypted store.
    """
    return run_facets.mapInArrow(_in_batches(partial(_read_assertions, keys), CHECKED), CHECKED)


def read_reports(facet: DataFrame) -> DataFrame:
    """The dependencies reported as false, by the ids of their names as written (REPORTED)."""
    wanted = facet.where(f.col("name") == "whence_falsePositives")
    return wanted.mapInArrow(_in_batches(_read_reports, REPORTED), REPORTED)


def find_incomplete(dependency: DataFrame, of: DataFrame, produced: DataFrame) -> DataFrame:
    """The ids of the representatives whose upstream lineage ends without an assertion that it should. `of` are the
    datasets with their assertions. One task traverses the graph.
    """
    ends = of.where((f.col("id") == f.col("representative_id")) & ~f.col("is_origin")).select("id")
    unknown = ends.join(produced, on="id", how="left_anti").select(f.lit(NOWHERE).cast("bigint"), "id")
    arrows = dependency.select("source_id", "target_id").union(unknown)
    return arrows.coalesce(1).mapInArrow(_find_reachable, "id bigint")


def _in_batches(rows: Callable[[Rows], Rows], columns: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    types = {"bigint": pa.int64(), "string": pa.string(), "boolean": pa.bool_()}
    schema = pa.schema([(name, types[type_]) for name, type_ in (one.split() for one in columns.split(", "))])

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        rows_: list[dict[str, Any]] = []
        for row in rows(one for batch in batches for one in batch.to_pylist()):
            rows_.append(row)
            if len(rows_) >= 1_000:
                yield pa.RecordBatch.from_pylist(rows_, schema=schema)
                rows_ = []
        yield pa.RecordBatch.from_pylist(rows_, schema=schema)

    return run


def decrypt_expressions(set_edge: DataFrame, keys: Sequence[DataKey]) -> DataFrame:
    """Decrypt the expressions of an encrypted store's edges."""
    return set_edge.mapInArrow(partial(_decrypt_expressions, keys), set_edge.schema) if keys else set_edge


def _decrypt_expressions(keys: Sequence[DataKey], batches: Batches) -> Iterator[pa.RecordBatch]:
    find = keys_among(keys)
    for batch in batches:
        both = zip(batch.column("set_id").to_pylist(), batch.column("description").to_pylist(), strict=True)
        texts = pa.array([open_expression(find, set_id, text) for set_id, text in both], pa.string())
        yield batch.set_column(batch.schema.get_field_index("description"), "description", texts)


def _join_facets(find: Find, row: dict[str, Any]) -> Iterator[RunFacet]:
    template = open_template(find, row["template_id"], row["template"])
    return join_facets(template, open_pack(find, row["run_id"], row["content"]))


def _read_assertions(keys: Sequence[DataKey], rows: Rows) -> Iterator[dict[str, Any]]:
    """Read assertions from rows grouped by run, in the order in which they were asserted."""
    find = keys_among(keys)
    for run_id, of_run in groupby(rows, key=lambda row: row["run_id"]):
        latest = {
            (dataset, role): (row["time"], payload)
            for row in of_run
            for role, dataset, name, payload in _join_facets(find, row)
            if is_assertions_facet(role, name)
        }
        for (dataset, _), (time, payload) in latest.items():
            for assertion in parse_assertions(payload):
                yield {
                    "run_id": run_id,
                    "dataset_id": dataset,
                    "assertion": assertion.name,
                    "field": assertion.column,
                    "success": assertion.held,
                    "at": time,
                }


def _read_reports(rows: Rows) -> Iterator[dict[str, Any]]:
    for row in rows:
        for report in _objects(row["payload"], "reports"):
            namespace, name = report.get("namespace"), report.get("name")
            if isinstance(namespace, str) and isinstance(name, str) and namespace and name:
                reason = report.get("reason")
                yield {
                    "source_id": node_id(normalise(namespace, name)),
                    "target_id": row["subject_id"],
                    "reason": reason if isinstance(reason, str) else "",
                }


def _objects(payload: str, key: str) -> list[dict[str, Any]]:
    items = json.loads(payload).get(key) if payload else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _find_reachable(batches: Batches) -> Iterator[pa.RecordBatch]:
    columns = [(batch.column(0).to_numpy(), batch.column(1).to_numpy()) for batch in batches]
    if not columns:
        return
    source, target = (np.concatenate(arrays) for arrays in zip(*columns, strict=True))
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    found = frontier = np.array([NOWHERE], np.int64)
    while len(frontier):
        low, high = (np.searchsorted(source, frontier, side=side) for side in ("left", "right"))
        steps = [target[begin:end] for begin, end in zip(low, high, strict=True) if end > begin]
        frontier = np.setdiff1d(np.concatenate(steps) if steps else np.empty(0, np.int64), found)
        found = np.union1d(found, frontier)
    yield pa.RecordBatch.from_pydict({"id": pa.array(np.setdiff1d(found, [NOWHERE]), pa.int64())})
