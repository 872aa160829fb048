"""Twins over HTTP: the same groups for everybody, and of them what each viewer may see."""

import json

import httpx

from security.certification.test_certification import get, run, send, shop
from security.conftest import House, now
from test_docs import EXAMPLE, page, shape
from whence.govern.assertions import assert_facets
from whence.model.access import Role
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, facet, run_event

__all__ = ["shop"]

DB, BI = "postgres://db:5432", "bi://superset"
ORDERS, GOLD, MART = (DatasetName(DB, f"shop.{name}") for name in ("orders", "gold.revenue", "mart.revenue"))
BOARD = DatasetName(BI, "revenue board")


def summed(target: DatasetName, column: str, formula: str, at: int, number: int) -> bytes:
    edge = Edge(
        source=FieldName(ORDERS, "amount"),
        target=FieldName(target, column),
        type="DIRECT",
        subtype="AGGREGATION",
        description=formula,
    )
    facets = {
        "schema": facet("SchemaDatasetFacet", fields=[{"name": column}]),
        "columnLineage": column_lineage([edge]),
    }
    run_ = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"load {target.name}"))
    source = dataset(ORDERS, facets={"schema": facet("SchemaDatasetFacet", fields=[{"name": "amount"}])})
    return json.dumps(
        run_event(at, RunState.COMPLETE, run_, inputs=[source], outputs=[dataset(target, facets=facets)])
    ).encode()


def shown(at: int) -> bytes:
    run_ = RunName("01890000-0000-7000-8000-000000000009", JobName("superset", "render"))
    board = dataset(BOARD, facets={"datasetType": facet("DatasetTypeDatasetFacet", datasetType="DASHBOARD")})
    return json.dumps(run_event(at, RunState.COMPLETE, run_, inputs=[dataset(MART)], outputs=[board])).encode()


def test_each_viewer_reads_of_the_twins_that_they_see(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    of_db, of_mart = shop.key("reader", Role.READER, "postgres*"), shop.key("stranger", Role.READER, "bi*")
    tags = facet("TagsDatasetFacet", tags=[{"key": "canonical", "value": "true"}])
    canonical = assert_facets(GOLD, at, "urn:whence:person:key%3Aada", {"tags": tags})

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, summed(GOLD, "total", "sum(o.amount)", at, 1), shown(at))
        await send(client, ada, summed(MART, "revenue", "SUM(orders.amount)", at, 2), json.dumps(canonical).encode())
        *_, (_, target, _, status, documented) = EXAMPLE.findall(page("docs/reference/http-reports.md"))
        answer = await client.get(target, headers=ada)
        assert (answer.status_code, shape(answer.json())) == (int(status), shape(json.loads(documented)))
        assert answer.json() == json.loads(documented)
        (seen,) = (await get(client, of_db, "/reports/twins"))["data"]["groups"]
        assert (seen["datasets"], seen["readers"]) == ([str(GOLD), str(MART)], [])
        assert (await get(client, of_mart, "/reports/twins"))["data"]["groups"] == []
        assert (await get(client, ada, "/reports/twins", as_of="1h ago"))["data"]["groups"] == []

    run(shop, work)
