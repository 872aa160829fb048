"""The values of the members of reports in the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

_DATASET = "dataset:postgres://db:5432:shop.gold.daily_revenue"
_SUNDAY_END = "2026-11-23T00:00:00Z"

REPORTS: Mapping[str, Any] = {
    "TwinGroup.datasets": [
        "dataset:postgres://db:5432:shop.gold.revenue",
        "dataset:postgres://db:5432:shop.mart.revenue",
    ],
    "TwinGroup.sources": ["datasetField:postgres://db:5432:shop.orders:amount"],
    "TwinGroup.preferred": ["dataset:postgres://db:5432:shop.gold.revenue"],
    "TwinReader.reader": "dataset:bi://superset:revenue board",
    "TwinReader.twin": "dataset:postgres://db:5432:shop.mart.revenue",
    "ReportWeek.week": "2026-W47",
    "ReportWeek.since": "2026-11-16T00:00:00Z",
    "ReportWeek.end": _SUNDAY_END,
    "ReportWeek.until": _SUNDAY_END,
    "ReportResponse.domain": "sales",
    "DatasetDowntime.dataset": _DATASET,
    "BudgetLeft.id": "9c2f3d6e8a9b0c1d",
    "BudgetLeft.slo": "shop/revenue is fresh",
    "BudgetLeft.dataset": _DATASET,
    "BudgetLeft.state": "holds",
    "ReportUnknownUpstreams.names": ["dataset:postgres://db:5432:shop.public.rates"],
    "ReportGate.commits": {"blocked": 1, "pass": 7},
    "ReportGate.promotions": {"pass": 1},
    "ReportUnusedDataset.dataset": _DATASET,
    "WeeklyDocument.position": "1:71002",
}
