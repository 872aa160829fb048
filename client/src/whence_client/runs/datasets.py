"""Datasets by what a person has at hand: a name, a path, a URI, a frame, an object of another tool."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Callable, Optional

from whence_client.captures.contract import Undo
from whence_client.events.datasets import Dataset, Field, FieldLike
from whence_client.naming.files import is_location, name_file

Resolver = Callable[[Any], Optional[Dataset]]
"""The dataset whose rows an object has; None for unsupported objects."""

_SUFFIXES = (
    *(".csv", ".tsv", ".parquet", ".orc", ".avro", ".json", ".jsonl", ".ndjson", ".feather", ".arrow", ".xlsx", ".xml"),
    *(".txt", ".pkl", ".pickle", ".joblib", ".npy", ".npz", ".h5", ".gz", ".zst", ".zip", ".db", ".sqlite", ".duckdb"),
)
_resolvers: list[Resolver] = []


def add_resolver(resolver: Resolver) -> Undo:
    """Register the function of a frame capture that finds the dataset of an object."""
    _resolvers.append(resolver)
    return lambda: _resolvers.remove(resolver) if resolver in _resolvers else None


def resolve_dataset(thing: Any, namespace: str) -> Dataset:
    """The dataset that is meant. A bare name is one of `namespace`. TypeError for an object that names none."""
    if isinstance(thing, Dataset):
        return thing
    if isinstance(thing, str):
        return name_file(thing) if _is_path(thing) else Dataset(namespace, thing)
    if isinstance(thing, os.PathLike):
        return name_file(thing)
    if isinstance(thing, tuple) and len(thing) == 2 and all(isinstance(part, str) for part in thing):
        return Dataset(thing[0], thing[1])
    for resolve in _resolvers:
        found = resolve(thing)
        if found is not None:
            return found
    return _of_attributes(thing, namespace)


def with_schema(dataset: Dataset, schema: Any) -> Dataset:
    """The dataset with columns: names, names with types, fields, or those of a frame."""
    fields = tuple(_fields(schema)) if schema is not None else ()
    return replace(dataset, schema_fields=fields) if fields else dataset


def column_names(dataset: Dataset) -> frozenset[str]:
    """The names of the known columns."""
    return frozenset(
        one if isinstance(one, str) else one.name if isinstance(one, Field) else str(one.get("name", ""))
        for one in dataset.schema_fields
    )


def _is_path(text: str) -> bool:
    return is_location(text) or "/" in text or "\\" in text or text.lower().endswith(_SUFFIXES)


def _of_attributes(thing: Any, namespace: str) -> Dataset:
    name = getattr(thing, "name", None)
    if isinstance(name, str) and isinstance(getattr(thing, "namespace", None), str):
        return Dataset(thing.namespace, name, getattr(thing, "schema_fields", ()))
    uri = getattr(thing, "uri", None)
    if isinstance(uri, str):  # an asset of Airflow or Dagster
        return resolve_dataset(uri, namespace)
    if isinstance(name, str) and hasattr(thing, "read"):  # an open file
        return name_file(name)
    raise TypeError(f"an object of type {type(thing).__name__} does not name a dataset; pass its path or name")


def _fields(schema: Any) -> Iterable[FieldLike]:
    if isinstance(schema, Mapping):
        return (Field(str(name), str(kind)) for name, kind in schema.items())
    if isinstance(schema, (list, tuple)):
        return schema
    described = getattr(schema, "schema", None) or getattr(schema, "dtypes", None)
    if described is not None and not isinstance(described, (list, tuple)) and hasattr(described, "items"):
        return (Field(str(name), str(kind)) for name, kind in described.items())
    arrow = described if hasattr(described, "names") else schema
    return (Field(str(name), str(kind)) for name, kind in zip(getattr(arrow, "names", ()), getattr(arrow, "types", ())))
