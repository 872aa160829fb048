"""The datasets that runs log, named by what they were read from: a file is the same dataset for all captures."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whence.capture.mlflow.records import members
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset, Field
from whence_client.events.facets import facet, own_facet
from whence_client.naming.files import is_location

FOLDER = "whence.folder"
"""The tag of a run with its working directory, which the run context provider of whence-client sets."""
CONTEXT = "mlflow.data.context"

_GENERATED = "code"
"""The source type of data that a program made. MLflow knows its script only; autologging adds it beside the source."""
_PATHS = ("uri", "url", "path")
_TABLES = ("delta_table_name", "table_name")


def read_inputs(run: Json, naming: Naming, warehouse: str) -> Iterator[tuple[str, Dataset]]:
    """The datasets that a run logged, each with its context: training, evaluation … Data without a source is left out.

    `warehouse` is where Spark has the tables that it names: a Hive metastore's URL, or a folder; empty if not known.
    """
    tags = members(run.get("data", {}).get("tags"))
    naming = replace(naming, folder=tags.get(FOLDER, naming.folder))
    for entry in run.get("inputs", {}).get("dataset_inputs") or ():
        logged = entry.get("dataset") or {}
        if logged.get("source_type") != _GENERATED:
            context = members(entry.get("tags")).get(CONTEXT, "")
            yield context, _describe(_name(logged, naming, warehouse), logged, context)


def _describe(named: Dataset, logged: Json, context: str) -> Dataset:
    rows = _object(logged.get("profile")).get("num_rows")
    known = {"name": logged.get("name", ""), "digest": logged.get("digest", ""), "context": context}
    run_facets = {"whence_mlflowInput": own_facet("MlflowInputFacet", **known)}
    if isinstance(rows, int):
        run_facets["inputStatistics"] = facet("InputStatisticsInputDatasetFacet", rowCount=rows)
    return replace(named, schema_fields=read_schema(logged.get("schema")), run_facets=run_facets)


def _name(logged: Json, naming: Naming, warehouse: str) -> Dataset:
    """The dataset by its source; by its name at the tracking server if nobody else could name the source."""
    source = _object(logged.get("source"))
    path = next((str(source[one]) for one in _PATHS if source.get(one)), "")
    table = next((str(source[one]) for one in _TABLES if source.get(one)), "")
    if logged.get("source_type") == "hugging_face":
        return naming.file(f"hf://datasets/{path}")
    if path and (is_location(path) or naming.folder):
        return naming.file(path)
    if table and warehouse:
        return _name_table(table.removeprefix("spark_catalog."), naming, warehouse)
    return Dataset(naming.instance, f"datasets/{logged.get('name') or 'dataset'}")


def _name_table(table: str, naming: Naming, warehouse: str) -> Dataset:
    """A table of Spark's own catalog, named as the Spark capture names it."""
    table = table if "." in table else f"default.{table}"
    if warehouse.startswith("hive:"):
        return naming.table_of_url(warehouse, table)
    folder = naming.file(warehouse)
    return Dataset(folder.namespace, f"{folder.name}/{table}")


def read_schema(text: object) -> tuple[Field, ...]:
    """The columns of a dataset, of MLflow's `mlflow_colspec`; none of tensors."""
    return tuple(read_columns(_object(text).get("mlflow_colspec")))


def read_columns(columns: object) -> Iterator[Field]:
    """Columns as MLflow writes them, without those that have no name."""
    for one in columns if isinstance(columns, list) else ():
        name = one.get("name") if isinstance(one, dict) else None
        if name not in (None, ""):
            yield Field(str(name), str(one.get("type", "")))


def _object(text: object) -> dict[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
