"""The values of the members of incidents in the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

_DATASET = "dataset:postgres://db:5432:shop.gold.daily_revenue"
_JOB = "job:airflow:daily_revenue.load"
_LATER = "2026-11-20T06:04:10.000000Z"
_SOURCE = "dataset:postgres://db:5432:shop.public.orders"
_TIME = "2026-11-20T06:00:00.000000Z"

INCIDENTS: Mapping[str, Any] = {
    "IncidentRow.id": "049f07e4f375c628",
    "IncidentRow.title": "shop.public.orders: job load fails, and 1 more dataset",
    "notify_rule": "a run failed, and the dataset is not of tier 1",
    "IncidentRow.root": _SOURCE,
    "roots": _SOURCE,
    "symptoms": _DATASET,
    "other_roots": _SOURCE,
    "routed_to": "team:shop",
    "assignee": "ada@example.com",
    "silenced_until": _LATER,
    "cause": _SOURCE,
    "merged": "5f1d7a84db0a4b7e",
    "runbook": "https://wiki.example.com/orders",
    "IncidentChange.by": "ada@example.com",
    "last_written": _TIME,
    "slo": "shop/orders are fresh",
    "IncidentRow.state": "open",
    "IncidentRow.owners": ["team:shop"],
    "IncidentDocument.severity": "high",
    "IncidentFinding.id": "a57e50603af87945",
    "IncidentFinding.kind": "run",
    "IncidentFinding.column": None,
    "IncidentFinding.rule": _JOB,
    "IncidentFinding.reason": "a run failed",
    "IncidentChange.state": "open",
    "IncidentChange.reason": "a run failed",
    "IncidentAct.id": "d20261a6acd7af28",
    "IncidentAct.act": "acknowledge",
    "IncidentAct.text": "the source is down",
    "IncidentViolation.rule": "freshness",
    "IncidentViolation.column": None,
    "IncidentBudget.id": "9c2f3d6e8a9b0c1d",
    "IncidentImpact.kind": "dashboard",
    "AffectedNode.owners": ["team:finance"],
    "finding": "a57e50603af87945",
    "BreakerReason.dataset": _SOURCE,
    "BreakerReason.kind": "run",
    "BreakerReason.column": None,
    "BreakerReason.rule": _JOB,
    "BreakerReason.reason": "a run failed",
    "BreakerReason.incident": "049f07e4f375c628",
    "BreakerReason.incident_state": "open",
    "CircuitBreaker.state": "open",
    "CircuitBreaker.excused": 0,
    "CircuitBreaker.hidden_reasons": 0,
    "CircuitBreaker.unknown": [],
    "CircuitBreaker.unwatched": [],
    "CircuitBreaker.unwatched_datasets": 0,
    "CircuitBreaker.datasets": 3,
}
