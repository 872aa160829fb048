"""Policies that restrict reading, as tag-based policies of Apache Ranger: what has a tag of Whence is denied.

The tags are those of `whence tags plan ranger`: `WHENCE_PII` with the attribute `grade`. Form: RangerExportPolicyList,
as Ranger's *Import* and `POST /service/plugins/policies/importPoliciesFromFile` read it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whence.govern.policies.conditions import Condition, LabelAtLeast
from whence.govern.policies.policy import Policy
from whence.model.sensitivity import Grade
from whence.query.sensitivity.marks import WRITTEN

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangerExport:
    """The document, and what it leaves out: pairs of a policy's name and a reason."""

    text: str
    left_out: tuple[tuple[str, str], ...]


def export_ranger(policies: Iterable[Policy], service: str, accesses: Sequence[str]) -> RangerExport:
    """The policies that restrict reading as policies of a tag service. `accesses`: as `hive:select`."""
    documents, left_out = list[Json](), list[tuple[str, str]]()
    for one in policies:
        if not one.restricts_reading:
            continue
        if reason := _why_not(one):
            left_out.append((one.name, reason))
            continue
        left_out += [(one.name, f"{reader} is no user and no group of Ranger") for reader in _keys(one)]
        documents += [_policy(one, label, service, accesses) for label in one.where.labels]
    text = json.dumps({"metaDataInfo": {"Host name": "Whence"}, "policies": documents}, indent=2) + "\n"
    return RangerExport(text=text, left_out=tuple(left_out))


def _why_not(policy: Policy) -> str:
    """Why a tag-based policy cannot say the same; empty if it can."""
    if not policy.where.labels:
        return "it is about no label, and Ranger only knows the tags that labels give"
    if replace(policy.where, kinds=frozenset(), labels=()) != Condition() or policy.unless:
        return "it has conditions beside labels, and a tag-based policy has only tags"
    if policy.where.kinds and "column" not in policy.where.kinds:
        return "it is not about columns"
    return ""


def _keys(policy: Policy) -> Sequence[str]:
    return [one for one in policy.readers if one.startswith("key:")]


def _policy(policy: Policy, label: LabelAtLeast, service: str, accesses: Sequence[str]) -> Json:
    tag = f"{WRITTEN}{label.category}".upper()
    allowed = [{"type": one, "isAllowed": True} for one in accesses]
    of_kind = {
        kind: sorted(one.partition(":")[2] for one in policy.readers if one.startswith(f"{kind}:"))
        for kind in ("user", "group")
    }
    excepted = _item(allowed, of_kind["user"], of_kind["group"])
    return {
        "service": service,
        "serviceType": "tag",
        "name": f"whence: {policy.name} ({label})",
        "description": f"{policy.reason} (ask {policy.owner})",
        "policyType": 0,
        "isEnabled": True,
        "isAuditEnabled": True,
        "resources": {"tag": {"values": [tag], "isExcludes": False, "isRecursive": False}},
        "policyItems": [],
        "denyPolicyItems": [{**_item(allowed, [], ["public"]), "conditions": [_condition(label.grade)]}],
        "allowExceptions": [],
        "denyExceptions": [excepted] if policy.readers and (excepted["users"] or excepted["groups"]) else [],
    }


def _item(allowed: Sequence[Json], users: Sequence[str], groups: Sequence[str]) -> Json:
    return {
        "accesses": list(allowed),
        "users": list(users),
        "groups": list(groups),
        "roles": [],
        "conditions": [],
        "delegateAdmin": False,
    }


def _condition(least: Grade) -> Json:
    """It holds where the tag has at least a grade."""
    grades = [one.word for one in Grade if one >= least]
    script = f"ctx.result = {json.dumps(grades)}.indexOf(tagAttr.get('grade')) >= 0;"
    return {"type": "expression", "values": [script]}
