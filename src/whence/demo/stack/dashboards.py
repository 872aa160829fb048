"""A dashboard in Superset, made as a person makes it: a database, a dataset, a chart and the dashboard that has it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from whence.errors import SourceError

USER = "demo"
TABLE = "churn_scores"
CHART, DASHBOARD = "Churn by country", "Retention"
MEASURE = "average chance to leave"
_PATIENCE_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Superset:
    """A Superset that serves at `url`, and the password of its one user."""

    url: str
    password: str

    def make_dashboard(self, database: Path) -> None:
        """Show the scores in a database of DuckDB. Raises SourceError if Superset refuses something."""
        with httpx.Client(base_url=self.url, timeout=_PATIENCE_SECONDS) as client:
            user = {"username": USER, "password": self.password, "provider": "db"}
            token = _post(client, "security/login", user)["access_token"]
            client.headers["Authorization"] = f"Bearer {token}"
            address = {"database_name": "shop", "sqlalchemy_uri": f"duckdb:///{database}"}
            made = _post(client, "database/", address)["id"]
            dataset = _post(client, "dataset/", {"database": made, "schema": "main", "table_name": TABLE})["id"]
            dashboard = _post(client, "dashboard/", {"dashboard_title": DASHBOARD, "published": True})["id"]
            _post(client, "chart/", _chart(dataset, dashboard))


def _chart(dataset: int, dashboard: int) -> Mapping[str, Any]:
    metric = {
        "expressionType": "SIMPLE",
        "column": {"column_name": "churn_probability"},
        "aggregate": "AVG",
        "label": MEASURE,
    }
    form = {"viz_type": "echarts_timeseries_bar", "x_axis": "country", "metrics": [metric], "groupby": []}
    return {
        "slice_name": CHART,
        "viz_type": form["viz_type"],
        "datasource_id": dataset,
        "datasource_type": "table",
        "params": json.dumps({**form, "datasource": f"{dataset}__table"}),
        "dashboards": [dashboard],
    }


def _post(client: httpx.Client, path: str, body: Mapping[str, Any]) -> Any:
    try:
        reply = client.post(f"/api/v1/{path}", json=body)
    except httpx.HTTPError as error:
        raise SourceError(str(client.base_url), f"it does not answer: {error}") from None
    if reply.is_error:
        raise SourceError(str(client.base_url), f"it refused POST {path} ({reply.status_code}): {reply.text[:500]}")
    return reply.json()
