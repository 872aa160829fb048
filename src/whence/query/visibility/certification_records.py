"""Declared rules of certification as one viewer may read them. Whether they may see one is decided by its namespace; no
text in it names another one.
"""

import msgspec

from whence.model.records.certification import CERTIFICATION_RULE, RuleRecord


def read_rule_record(payload: str) -> RuleRecord | None:
    """A rule from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=RuleRecord)
    except msgspec.DecodeError:
        return None


def shown_certification_record(payload: str, facet: str) -> str:
    """The JSON of a record of certification, with the members of its form alone; empty if it is none."""
    if facet == CERTIFICATION_RULE and (rule := read_rule_record(payload)):
        return msgspec.json.encode(rule).decode()
    return ""
