"""The values of the members of governance answers in the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

GOVERNANCE: Mapping[str, Any] = {
    "Dataset.lineage_columns": ["email"],
    "RestrictionDocument.policy": "personal data is for privacy",
    "RestrictionDocument.readers": ["group:privacy"],
    "RestrictionDocument.columns": ["datasetField:s3://lake:gold/features:email_hash"],
    "SensitivityLabel.steps": ["sha2(email, ?)"],
    "AccessReview.reviewed_at": "2026-10-01T09:00:00Z",
    "ExpiringCertification.contract_version": "2.1.0",
    "ExpiringCertification.last_day": "2026-12-10",
    "ExpiringCertification.days": 20,
    "GrantKept.reason": "reports of the quarter",
    "KeptDocument.by": "user:ada",
    "KeptDocument.reason": "reports of the quarter",
    "NodeStanding.standings": ["certified"],
    "Named.standings": ["certified"],
    "PolicyCounts.since": "2026-11-20T06:00:00Z",
    "ReviewedGrantDocument.strongest_use": "reader",
    "ReviewedGrantDocument.columns": {"full": 3},
    "ReviewedGrantDocument.concerns": ["not reviewed"],
    "RuleStateRow.owners": ["team:finance"],
    "twin": "dataset:postgres://db:5432:shop.mart.revenue",
    "preferred": "dataset:postgres://db:5432:shop.gold.daily_revenue",
    "others": "dataset:postgres://db:5432:shop.mart.revenue",
}
