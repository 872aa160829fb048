"""A story of one day: revenue in production, and the same in staging and dev; several people, failures, hostile names.

Hours 1 to 4 are before the period that questions are about, which begins at hour 10.
"""

import json
from collections.abc import Mapping
from typing import Any

from whence.govern.assertions import assert_facets, set_contract
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event

HOUR = 3_600_000_000
SINCE, NOW = 10 * HOUR, 24 * HOUR
ENVIRONMENTS = ("prod", "staging", "dev")
HOSTILE = "clean [bold]\x1b[31m <b>|`@channel`"
COUPON = "coupon] <script>"


def table(of: str, name: str) -> DatasetName:
    return DatasetName(f"postgres://{of}:5432", name)


def job(of: str, name: str) -> JobName:
    return JobName(f"spark-{of}", name)


RAW, SILVER, GOLD, PROMO = (
    table("prod", name) for name in ("raw.orders", "silver.orders", "gold.revenue", "raw.promo")
)
TOTAL = FieldName(GOLD, "total")
INGEST, CLEAN, REVENUE = (job("prod", name) for name in ("ingest", HOSTILE, "revenue"))
BOUGHT = {"id": "int", "amount": "int", "email": "text"}
CHANGED = {"id": "int", "amount": "varchar", "email": "text", COUPON: "text"}


def run_name(of: JobName, hour: int) -> RunName:
    return RunName(f"0189{ENVIRONMENTS.index(of.namespace[6:]):04d}-0000-7000-8000-{hour:012d}", of)


def reported(
    of: JobName,
    hour: int,
    state: RunState,
    reads: Mapping[DatasetName, Mapping[str, str]],
    writes: Mapping[DatasetName, Mapping[str, str]],
    edges: tuple[tuple[FieldName, FieldName], ...] = (),
    checks: tuple[tuple[str, str, bool], ...] = (),
) -> bytes:
    """The last event of a run."""
    found = [{"assertion": name, "column": column, "success": held} for column, name, held in checks]
    asserted = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=found)} if found else {}
    outputs = [
        dataset(
            name,
            facets={
                "schema": _schema(columns),
                "columnLineage": column_lineage(
                    Edge(source=source, target=target, type="DIRECT", subtype="IDENTITY")
                    for source, target in edges
                    if target.dataset == name
                ),
            },
            outputFacets=asserted,
        )
        for name, columns in writes.items()
    ]
    inputs = [dataset(name, facets={"schema": _schema(columns)} if columns else {}) for name, columns in reads.items()]
    event = run_event(hour * HOUR, state, run_name(of, hour), inputs=inputs, outputs=outputs)
    return json.dumps(event).encode()


def _schema(columns: Mapping[str, str]) -> dict[str, Any]:
    return facet("SchemaDatasetFacet", fields=[{"name": name, "type": type_} for name, type_ in columns.items()])


def events_of(of: str) -> list[bytes]:
    """The events of one environment."""
    raw, silver, gold, promo = (table(of, one.name) for one in (RAW, SILVER, GOLD, PROMO))
    ingest, clean, revenue = (job(of, one.name) for one in (INGEST, CLEAN, REVENUE))
    net = (FieldName(raw, "amount"), FieldName(silver, "net"))
    discount = (FieldName(promo, "discount"), FieldName(silver, "net"))
    total = (FieldName(silver, "net"), FieldName(gold, "total"))
    done, failed = RunState.COMPLETE, RunState.FAIL
    cleaned, sums = {silver: {"net": "int"}}, {gold: {"total": "int", "day": "date"}}

    def summed(hour: int, held: bool) -> bytes:
        checks = (("total", "not_null", held),)
        return reported(revenue, hour, done, {silver: {"net": "int"}}, sums, (total,), checks)

    return [
        reported(ingest, 1, done, {}, {raw: BOUGHT}),
        reported(clean, 2, done, {raw: BOUGHT}, cleaned, (net,)),
        summed(3, True),
        applied(raw, 4, "1.0.0"),
        reported(ingest, 11, done, {}, {raw: CHANGED}),
        reported(clean, 12, failed, {raw: {}}, {}),
        reported(clean, 13, done, {raw: CHANGED, promo: {}}, cleaned, (net, discount)),
        summed(14, False),
        summed(15, True),
        applied(raw, 16, "2.0.0"),
    ]


def applied(to: DatasetName, hour: int, version: str) -> bytes:
    """A version of a contract, which a person applies: it promises the amount, and what nobody asks about."""
    columns = [{"name": "amount", "logicalType": "integer" if version < "2" else "string"}]
    facets = set_contract(version, id="orders", columns=[*columns, {"name": "phone", "logicalType": "string"}])
    return json.dumps(assert_facets(to, hour * HOUR, "https://whence/user:ada", facets)).encode()


EVENTS = [event for of in ENVIRONMENTS for event in events_of(of)]
