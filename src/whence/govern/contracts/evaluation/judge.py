"""Verdicts on a contract's quality rules and service levels, from the observations of the dataset."""

from whence.govern.contracts.evaluation.observations import ObservedData
from whence.govern.contracts.evaluation.quality import judge_quality
from whence.govern.contracts.evaluation.service_levels import judge_levels
from whence.govern.contracts.evaluation.verdicts import RuleVerdict
from whence.query.lookup.contracts import ContractVersion


def judge_rules(held: ContractVersion, data: ObservedData, at: int) -> tuple[RuleVerdict, ...]:
    """Judge the quality rules and the service levels of a version at a time (µs)."""
    return (*judge_quality(held, data.reports, data.checks), *judge_levels(held, data.written, at, data.silent))
