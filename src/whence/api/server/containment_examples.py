"""The values of the members of containment in the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

_SOURCE, _DAG, _JOB = (
    "dataset:postgres://db:5432:shop.public.orders",
    "job:airflow:daily_revenue",
    "job:airflow:daily_revenue.load",
)
_NAME = "airflow:airflow:daily_revenue"
_SCHEDULE = {"schedule": _NAME, "system": "airflow", "namespace": "airflow", "id": "daily_revenue", "job": _DAG}
_DEPENDENT = {"node": _JOB, "path": [_SOURCE, _JOB], "owners": ["team:money"], "schedules": [_NAME], "outermost": _DAG}
_STEP = {
    "incident": "INC-7",
    "step": "0190b3a1-7c2e-7d11-8c5e-2f6d9a4b1c3d",
    "system": "airflow",
    "namespace": "airflow",
    "id": "daily_revenue",
    "phase": "paused",
    "orchestrator": "http://airflow:8080",
    "node": _SOURCE,
    "plan": "9f1c2d3e4a5b6c7d",
    "reason": "",
    "receipt": "",
    "person": "user:ada",
}
_RUN = {
    "schedule": _NAME,
    "system": "airflow",
    "namespace": "airflow",
    "id": "daily_revenue",
    "task": "load",
    "dag_run": "scheduled__2026-11-20T00:00:00+00:00",
    "began": "2026-11-20T06:00:00.000000Z",
}
_RERUN = {"node": _SOURCE, "targets": [], "hidden": 0, "skipped": []}
_TIME = "2026-11-20T06:00:00.000000Z"
_RUN_ID = "run:0190b3a1-7c2e-7d11-8c5e-2f6d9a4b1c3d"
_TRUSTED = {"run": _RUN_ID, "job": _JOB, "dataset": _SOURCE, "written_at": _TIME, "version": "12", "reads": [_RUN_ID]}
_TRUSTED = {**_TRUSTED, "origins": []}
_REJECTED = {"run": _RUN_ID, "job": _JOB, "written_at": _TIME, "reason": "it ended as FAIL"}
_ROLLBACK = {"node": _SOURCE, "point": _RUN_ID, "rejected": [], "checked": True, "hidden": 0}
_PLAN = {"node": _SOURCE, "uncertain": [], "hidden": 0}

CONTAINMENT: Mapping[str, Any] = {
    **{f"ScheduleToPause.{key}": value for key, value in _SCHEDULE.items()},
    **{f"DependentJob.{key}": value for key, value in _DEPENDENT.items()},
    **{f"ContainmentPlanDocument.{key}": value for key, value in _PLAN.items()},
    **{f"ContainmentStep.{key}": value for key, value in _STEP.items()},
    **{f"ContainmentStepBody.{key}": value for key, value in _STEP.items()},
    "ContainmentSteps.hidden": 0,
    **{f"RunToClear.{key}": value for key, value in _RUN.items()},
    **{f"RerunPlanDocument.{key}": value for key, value in _RERUN.items()},
    "JobToRerun.node": _JOB,
    "JobToRerun.dbt": None,
    **{f"TrustedRunDocument.{key}": value for key, value in _TRUSTED.items()},
    **{f"RejectedRunDocument.{key}": value for key, value in _REJECTED.items()},
    **{f"RollbackPointDocument.{key}": value for key, value in _ROLLBACK.items()},
    "ScheduleToPause.jobs": [_JOB],
    "DependentJob.reason": None,
}
"""By `Schema.member`."""
