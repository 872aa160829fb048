"""The rules of certification that were declared."""

from functools import lru_cache

from whence.errors import RulesFileError
from whence.govern.certification.rules import Rule
from whence.govern.certification.rules_file import read_certification
from whence.govern.declared_rules import RuleKind
from whence.model.catalog import RegistryKind
from whence.model.records.rules import CERTIFICATION_RULE

_REMEMBERED = 10_000
"""Texts of rules that are not read again."""


@lru_cache(maxsize=_REMEMBERED)
def _rule(text: str) -> Rule | None:
    try:
        (found,) = read_certification(text)
    except (RulesFileError, ValueError):
        return None
    return found


CERTIFICATION = RuleKind(
    registry=RegistryKind.CERTIFICATION_RULE,
    facet=CERTIFICATION_RULE,
    facet_class="CertificationRuleDatasetFacet",
    read=_rule,
)
"""Rules of certification, as declared ones."""
