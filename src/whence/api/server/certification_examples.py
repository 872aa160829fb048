"""The values of the members of certification in the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

_COLUMN = "datasetField:postgres://db:5432:shop.gold.daily_revenue:amount"

CERTIFICATION: Mapping[str, Any] = {
    "BadgeDocument.label": "certification",
    "BadgeDocument.message": "certified",
    "BadgeDocument.color": "brightgreen",
    "Certification.status": "not certified",
    "CertificationRule.rule": "gold",
    "CertificationRule.reason": "the board decides by it",
    "CertificationRule.owner": "data-office",
    "CertificationRequirement.requirement": "lineage",
    "CertificationRequirement.outcome": "not met",
    "CertificationRequirement.text": "the sources of 97.5% of 40 columns upstream are known, less than 100%",
    "CertificationRequirement.names": ["shop/fresh"],
    "CertificationRequirement.columns": [_COLUMN],
    "CertificationRuleRow.name": "gold",
    "CertificationRuleRow.version": "9c2f3d6e8a9b0c1d",
    "QualityScoreDocument.score": 0.75,
    "QualityScoreDocument.own": 1.0,
    "QualityScoreDocument.exact": False,
    "QualityScoreDocument.limited_by": "dataset:postgres://db:5432:shop.public.orders",
    "QualityScoreDocument.part": "checks",
    "QualityScoreDocument.unknown": ["dataset:postgres://db:5432:shop.public.rates"],
    "QualityScoreDocument.unknown_datasets": 1,
    "QualityScoreDocument.datasets": 3,
    "CertificationRuleRow.text": '{"rules":[…],"version":1}',
    "RuleStateRow.kind": "policy",
    "RuleStateRow.rule": "owned",
    "RuleStateRow.state": "violated",
    "RuleStateRow.reason": "somebody must answer for it",
    "RuleStateRow.columns": ["amount"],
    "certification_status": "certified",
    "DeclaredPolicy.name": "owned",
    "DeclaredPolicy.version": "5b0e6f1d2c3a4958",
    "DeclaredPolicy.reason": "somebody must answer for it",
    "DeclaredPolicy.owner": "data-office",
    "DeclaredPolicy.text": '{"policies":[…],"version":1}',
}
