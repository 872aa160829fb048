"""Declared rules as one viewer may read them. Whether they may see one is decided by its namespace.

No text of a rule of certification names another namespace; that of a policy may.
"""

from dataclasses import replace

import msgspec

from whence.model.records.lineage_baselines import LINEAGE_BASELINE, LineageBaselineRecord
from whence.model.records.rule_transitions import RULE_TRANSITION, RuleTransitionRecord
from whence.model.records.rules import CERTIFICATION_RULE, POLICY, RuleRecord


def read_rule_record(payload: str) -> RuleRecord | None:
    """A rule from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=RuleRecord)
    except msgspec.DecodeError:
        return None


def read_rule_transition(payload: str) -> RuleTransitionRecord | None:
    """A transition from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=RuleTransitionRecord)
    except msgspec.DecodeError:
        return None


def read_baseline_record(payload: str) -> LineageBaselineRecord | None:
    """A lineage baseline from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=LineageBaselineRecord)
    except msgspec.DecodeError:
        return None


def shown_rule_record(payload: str, facet: str) -> str:
    """The JSON of a declared rule, a transition or a lineage baseline, with the members of its form alone, without the
    text of a policy, the names of columns, the keys of edges and reasons; empty if it is none.
    """
    if facet == LINEAGE_BASELINE and (baseline := read_baseline_record(payload)):
        return msgspec.json.encode(replace(baseline, edges=(), reason="")).decode()
    if facet == RULE_TRANSITION and (changed := read_rule_transition(payload)):
        return msgspec.json.encode(replace(changed, columns=(), reason="")).decode()
    if facet in (CERTIFICATION_RULE, POLICY) and (rule := read_rule_record(payload)):
        return msgspec.json.encode(rule if facet == CERTIFICATION_RULE else replace(rule, text="")).decode()
    return ""
