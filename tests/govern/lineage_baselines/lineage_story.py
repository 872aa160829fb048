"""A mart of a staging table of raw data: two hops, of which the last day changes something."""

import json
from typing import Any

from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event

HOUR = 3_600_000_000
MART, STAGING, RAW, HR = (
    DatasetName(namespace, name)
    for namespace, name in (
        ("postgres://db:5432", "shop.mart\x1b[31m\u202e<b>/é"),
        ("postgres://db:5432", "shop.staging"),
        ("s3://raw", "orders"),
        ("hr://secret", "salaries"),
    )
)
Column = tuple[str, DatasetName, str, str]
"""A column, and the dataset, column and formula it is made of."""


def ran(number: int, at: int, target: DatasetName, *columns: Column, job: str = "") -> bytes:
    """A run of the one job that writes a dataset, or of another `job`, which reports no columns."""
    edges = [
        Edge(
            source=FieldName(of, source),
            target=FieldName(target, name),
            type="DIRECT",
            subtype="TRANSFORMATION",
            description=how,
        )
        for name, of, source, how in columns
    ]
    facets: dict[str, Any] = {"schema": facet("SchemaDatasetFacet", fields=[{"name": one[0]} for one in columns])}
    if not job:
        facets["columnLineage"] = column_lineage(edges)
    inputs = [dataset(one) for one in sorted({of for _, of, _, _ in columns})]
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", job or f"make {target.name}"))
    outputs = [dataset(target, facets=facets)]
    return json.dumps(run_event(at, RunState.COMPLETE, run, inputs=inputs, outputs=outputs)).encode()


def staged(number: int, at: int, how: str = "upper(id)", *more: Column) -> bytes:
    """The staging table. `how`: the formula of the column that the mart uses; `more`: columns that it does not use."""
    return ran(number, at, STAGING, ("id", RAW, "id", how), *more)


def made(number: int, at: int, *more: Column) -> bytes:
    """The mart. `more`: columns besides the one from the staging table."""
    return ran(number, at, MART, ("id", STAGING, "id", "id"), *more)


def filled(number: int, at: int) -> bytes:
    """The mart, by another job, which does not report what its column is made of."""
    return ran(number, at, MART, ("id", STAGING, "id", "id"), job="fill")
