"""The shape of every answer that clients of Marquez read: `golden.json` has them. `python tests/marquez/test_golden.py`
writes it anew; read the difference.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from api.process import Api, Serving
from marquez.shop import DB, LOAD, NIGHTLY, ORDERS, REPORT, REVENUE, RUNS, SUM, TOPIC
from whence.model.names import DatasetName, FieldName, JobName

GOLDEN = Path(__file__).with_name("golden.json")
VERSION = re.compile(r"/tree/[^/]+/")


def q(text: object) -> str:
    return quote(str(text), safe="")


def at(name: DatasetName | JobName) -> str:
    return (
        f"/api/v1/namespaces/{q(name.namespace)}/{'jobs' if isinstance(name, JobName) else 'datasets'}/{q(name.name)}"
    )


ASKED = [
    "/api/v1/namespaces?limit=2&offset=1",
    f"/api/v1/namespaces/{q(DB)}",
    "/api/v1/namespaces/nowhere",
    "/api/v1/sources?limit=1",
    f"/api/v1/sources/{q(TOPIC.namespace)}",
    "/api/v1/sources/nowhere",
    f"/api/v1/namespaces/{q(DB)}/datasets?limit=1&offset=1",
    at(ORDERS),
    at(REVENUE),
    at(REPORT),
    at(DatasetName(DB, "nothing")),
    f"{at(REVENUE)}/versions?limit=1",
    f"{at(ORDERS)}/versions",
    f"{at(REVENUE)}/versions/80a415ca-64ef-3ac3-1e96-7a04d83fa290",
    f"{at(REVENUE)}/versions/00000000-0000-0000-0000-000000000000",
    "/api/v1/jobs?limit=1",
    "/api/v1/jobs?lastRunStates=COMPLETED&lastRunStates=RUNNING",
    "/api/v1/namespaces/shop/jobs?lastRunStates=FAILED",
    "/api/v1/namespaces/shop/jobs?limit=1",
    at(NIGHTLY),
    at(LOAD),
    f"{at(LOAD)}/versions",
    f"{at(LOAD)}/versions/f1ac9651-5f68-6b58-f922-c5a095b1cdf6",
    f"{at(LOAD)}/runs?limit=1&offset=1",
    f"/api/v1/jobs/runs/{RUNS[1]}",
    f"/api/v1/jobs/runs/{RUNS[0]}/facets?type=run",
    f"/api/v1/jobs/runs/{RUNS[0]}/facets?type=job",
    f"/api/v1/jobs/runs/{RUNS[0]}/facets",
    f"/api/v1/lineage?nodeId={q(SUM)}&depth=0",
    f"/api/v1/lineage?nodeId={q(f'dataset:{DB}:{ORDERS.name}')}",
    f"/api/v1/lineage?nodeId={q('job:shop:nothing')}",
    f"/api/v1/lineage?nodeId={q(FieldName(ORDERS, 'id'))}",
    f"/api/v1/column-lineage?nodeId={q(REVENUE)}&withDownstream=true",
    f"/api/v1/column-lineage?nodeId={q(LOAD)}&depth=1",
    f"/api/v1/column-lineage?nodeId={q(f'{REVENUE}#80a415ca-64ef-3ac3-1e96-7a04d83fa290')}&withDownstream=true",
    f"/api/v1/runlineage/upstream?runId={RUNS[1]}",
    f"/api/v1/runlineage/upstream?runId={RUNS[1]}&depth=0",
    "/api/v1/events/lineage?limit=1&sortDirection=asc",
    "/api/v1/events/lineage?before=2026-11-18T12:00:00Z",
    "/api/v1/search?q=nightly&sort=update_at&limit=1",
    "/api/v1/search?q=revenue&filter=dataset&before=2026-11-19",
    "/api/v1/tags",
    "/api/v2beta/search/jobs?q=sum",
    "/api/v2beta/search/datasets?q=click",
    "/api/v2/namespaces?limit=1",
    f"/api/v2/datasets?namespace={q(DB)}&limit=1",
    f"/api/v2/datasets/{q(REVENUE.namespace)}/{q(REVENUE.name)}",
    "/api/v2/jobs?limit=1",
    "/api/v2/jobs/shop/nightly.load",
    "/api/v2/jobs/shop/nightly.load/runs?limit=1",
    f"/api/v2/runs/{RUNS[1]}",
    "/api/v2/events?limit=1",
    f"/api/v2/nodes/{q(ORDERS)}/facts",
]


def answers(api: Api) -> dict[str, Any]:
    found = {}
    for target in ASKED:
        answer = api.ask("GET", target)
        found[target] = {"status": answer.status, "body": _plain(answer.json)}
    return found


def _plain(value: Any) -> Any:
    """Without what changes from version to version of Whence, and facets told once."""
    match value:
        case dict():
            return {key: _facets(inner) if key == "facets" else _plain(inner) for key, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case str():
            return VERSION.sub("/tree/VERSION/", value)
    return value


def _facets(facets: Any) -> Any:
    return dict.fromkeys(facets, "…") if isinstance(facets, dict) else facets


@pytest.mark.parametrize("target", ASKED)
def test_an_answer_is_as_it_was(shop: Api, target: str) -> None:
    answer = shop.ask("GET", target)
    assert {"status": answer.status, "body": _plain(answer.json)} == json.loads(GOLDEN.read_text("utf-8"))[target]


def test_every_stat_has_its_intervals(shop: Api) -> None:
    for name, period, count in (("jobs", "DAY", 24), ("datasets", "WEEK", 7), ("sources", "DAY", 24)):
        rows = shop.ask("GET", f"/api/v1/stats/{name}?period={period}&timezone=Europe/Vienna").json
        assert len(rows) == count
        assert all(set(row) == {"startInterval", "endInterval", "count"} for row in rows)
        assert rows[-1]["count"] == {"jobs": 3, "datasets": 4, "sources": 3}[name]
    rows = shop.ask("GET", "/api/v1/stats/lineage-events?period=WEEK&timezone=UTC").json
    assert [set(row) for row in rows] == [{"startInterval", "endInterval", "fail", "start", "complete", "abort"}] * 7
    assert shop.ask("GET", "/api/v1/stats/jobs?period=DAY&timezone=Nowhere").status == 400


if __name__ == "__main__":
    from marquez.conftest import prepare
    from marquez.shop import bodies

    base = Path(tempfile.mkdtemp())
    prepare(base, bodies())
    serving = Serving(base)
    try:
        GOLDEN.write_text(json.dumps(answers(serving()), indent=1, ensure_ascii=False) + "\n", "utf-8")
    finally:
        serving.end()
