"""Policies that restrict reading, as tag-based policies of Apache Ranger: what has a tag of Whence is denied.

The tags are those of `whence tags plan ranger`: `WHENCE_PII` with the attribute `grade`. Form: RangerExportPolicyList,
as Ranger's *Import* and `POST /service/plugins/policies/importPoliciesFromFile` read it. Ranger refuses two policies
about one tag in a service, so all that is said of a category is one policy. Its condition `expression` is a script
over the attributes of the tag.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whence.govern.policies.conditions import Condition
from whence.govern.policies.policy import Policy
from whence.model.sensitivity import Grade
from whence.query.sensitivity.marks import WRITTEN

Json = dict[str, Any]
_LONGEST = 1_000
"""Characters of a description; Ranger takes 1,024."""


@dataclass(frozen=True, slots=True)
class _Restriction:
    """A policy, and the least grade of a category that it is about."""

    policy: Policy
    least: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class RangerExport:
    """The document, and what it leaves out: pairs of a policy's name and a reason."""

    text: str
    left_out: tuple[tuple[str, str], ...]


def export_ranger(policies: Iterable[Policy], service: str, accesses: Sequence[str]) -> RangerExport:
    """The policies that restrict reading as policies of a tag service. `accesses`: as `hive:select`."""
    by_category, left_out = dict[str, list[_Restriction]](), list[tuple[str, str]]()
    for one in policies:
        if not one.restricts_reading:
            continue
        if reason := _why_not(one):
            left_out.append((one.name, reason))
            continue
        left_out += [(one.name, f"{reader} is no user and no group of Ranger") for reader in _keys(one)]
        for label in one.where.labels:
            by_category.setdefault(label.category, []).append(_Restriction(one, label.grade))
    documents = [_policy(category, several, service, accesses) for category, several in by_category.items()]
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


def _policy(category: str, several: Sequence[_Restriction], service: str, accesses: Sequence[str]) -> Json:
    tag = f"{WRITTEN}{category}".upper()
    allowed = [{"type": one, "isAllowed": True} for one in accesses]
    reasons = (f"{one.policy.name}: {one.policy.reason} (ask {one.policy.owner})" for one in several)
    least = min(one.least for one in several)
    shown = [one.word for one in Grade if Grade.NONE < one < least]
    return {
        "service": service,
        "serviceType": "tag",
        "name": f"whence {tag}",
        "description": "; ".join(reasons)[:_LONGEST],
        "policyType": 0,
        "isEnabled": True,
        "isAuditEnabled": True,
        "resources": {"tag": {"values": [tag], "isExcludes": False, "isRecursive": False}},
        "policyItems": [],
        "denyPolicyItems": [_item(allowed, ["group:public"], f"{_place_of_grade(shown)} < 0")],
        "allowExceptions": [],
        "denyExceptions": [
            _item(allowed, readers, f"{_place_of_grade(grades)} >= 0") for grades, readers in _exceptions(several)
        ],
    }


def _exceptions(several: Sequence[_Restriction]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Grades, and who may read these although they are denied: whom every policy about such a grade names.

    Somebody whom one policy names, and another by a group, has none: Ranger cannot say `and`.
    """
    by_grades: dict[tuple[str, ...], list[str]] = {}
    readers = {reader for one in several for reader in one.policy.readers if not reader.startswith("key:")}
    for reader in sorted(readers):
        grades = tuple(one.word for one in Grade if _may_read(reader, one, several))
        by_grades.setdefault(grades, []).append(reader)
    yield from ((grades, names) for grades, names in sorted(by_grades.items()) if grades)


def _may_read(reader: str, grade: Grade, several: Sequence[_Restriction]) -> bool:
    about = [one for one in several if one.least <= grade]
    return bool(about) and all(reader in one.policy.readers for one in about)


def _item(allowed: Sequence[Json], readers: Sequence[str], script: str) -> Json:
    users, groups = ([one.partition(":")[2] for one in readers if one.startswith(kind)] for kind in ("user:", "group:"))
    return {
        "accesses": list(allowed),
        "users": users,
        "groups": groups,
        "roles": [],
        "conditions": [{"type": "expression", "values": [f"ctx.result = {script};"]}],
        "delegateAdmin": False,
    }


def _place_of_grade(words: Sequence[str]) -> str:
    """Where the tag's grade is among some; -1 if it is another one, or if the tag has none."""
    return f"{json.dumps(list(words))}.indexOf(tagAttr.get('grade'))"
