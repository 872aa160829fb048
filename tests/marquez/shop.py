"""A small shop: two jobs that run daily, a stream, and a table that a person describes. Times begin at DAY."""

import json
from typing import Any

from whence import __version__
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import (
    PRODUCER,
    column_lineage,
    dataset,
    dataset_event,
    facet,
    parent_facet,
    run_event,
)

DAY = 1_795_000_000_000_000
HOUR = 3_600_000_000
DB = "postgres://db:5432"
ORDERS, REVENUE = DatasetName(DB, "shop.public.orders"), DatasetName(DB, "shop.gold.revenue")
REPORT = DatasetName("s3://reports", "daily/revenue.csv")
TOPIC = DatasetName("kafka://broker:9092", "clicks")
LOAD, SUM = JobName("shop", "nightly.load"), JobName("shop", "nightly.sum")
NIGHTLY = JobName("shop", "nightly")
RELEASED = PRODUCER.replace(__version__, "0.1.0")
RUNS = [f"0190b3a1-0000-7000-8000-00000000000{number}" for number in range(10)]


def schema(**fields: str) -> dict[str, Any]:
    return facet("SchemaDatasetFacet", fields=[{"name": name, "type": type_} for name, type_ in fields.items()])


def events() -> list[dict[str, Any]]:
    """In order of time."""
    orders = dataset(ORDERS, facets={"schema": schema(id="bigint", amount="numeric", email="text")})
    edges = [
        Edge(
            source=FieldName(ORDERS, "amount"),
            target=FieldName(REVENUE, "total"),
            type="DIRECT",
            subtype="AGGREGATION",
            description="sum(amount)",
        )
    ]
    revenue = dataset(
        REVENUE,
        facets={"schema": schema(day="date", total="numeric"), "columnLineage": column_lineage(edges)},
        outputFacets={"outputStatistics": {"rowCount": 7}},
    )
    report = dataset(
        REPORT,
        facets={
            "columnLineage": column_lineage(
                [
                    Edge(
                        source=FieldName(REVENUE, "total"),
                        target=FieldName(REPORT, "sum"),
                        type="DIRECT",
                        subtype="IDENTITY",
                    )
                ]
            )
        },
    )
    load_facets = {
        "documentation": facet("DocumentationJobFacet", description="Sums up orders"),
        "sourceCodeLocation": {"url": "https://git/shop", "type": "git"},
        "sql": facet("SQLJobFacet", query="select sum(amount) from orders"),
    }
    above = {"parent": parent_facet(RunName(RUNS[9], NIGHTLY))}
    nominal = {"nominalTime": {"nominalStartTime": "2026-11-18T00:00:00Z", "nominalEndTime": "2026-11-19T00:00:00Z"}}
    load: dict[str, Any] = {
        "run_facets": {**above, **nominal},
        "job_facets": load_facets,
        "inputs": [orders],
        "outputs": [revenue],
    }
    sum_: dict[str, Any] = {"inputs": [dataset(REVENUE)], "outputs": [report]}
    return [
        run_event(DAY, RunState.START, RunName(RUNS[0], LOAD), **load),
        run_event(DAY + HOUR, RunState.COMPLETE, RunName(RUNS[0], LOAD), **load),
        run_event(DAY + 2 * HOUR, RunState.START, RunName(RUNS[1], SUM), **sum_),
        run_event(DAY + 2 * HOUR + 1_500_000, RunState.COMPLETE, RunName(RUNS[1], SUM), **sum_),
        run_event(DAY + 24 * HOUR, RunState.START, RunName(RUNS[2], LOAD), **load),
        run_event(DAY + 25 * HOUR, RunState.FAIL, RunName(RUNS[2], LOAD), **load),
        dataset_event(
            DAY + 26 * HOUR,
            ORDERS,
            facets={
                "tags": {
                    "tags": [
                        {"key": "PII", "value": "true", "field": "email"},
                        {"key": "certified", "value": "true"},
                    ]
                },
                "documentation": facet("DocumentationDatasetFacet", description="All orders"),
            },
        ),
        dataset_event(DAY + 27 * HOUR, TOPIC, facets={"schema": schema(url="text")}),
    ]


def bodies() -> list[bytes]:
    """As a collector gets them, of one release of Whence: the digest of an event is in answers."""
    return [json.dumps(one).replace(PRODUCER, RELEASED).encode() for one in events()]
