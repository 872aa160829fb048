"""Policies that restrict reading as tag-based policies of Ranger, and what these cannot say."""

import json
import re
from typing import Any

from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.ranger_policies import export_ranger

TEXT = """\
version: 1
policies:
  - {name: a, reason: r, owner: o, where: {kind: column, label: [pii>=pseudonymous, phi>=partial]}, restrict: reading,
     readers: [user:ann, group:privacy, key:bot]}
  - {name: in one place, reason: r, owner: o, where: {namespace: x, label: pii>=full}, restrict: reading}
  - {name: by tag, reason: r, owner: o, where: {tag: x}, restrict: reading}
  - {name: of datasets, reason: r, owner: o, where: {kind: dataset, label: pii>=full}, restrict: reading}
  - {name: excepted, reason: r, owner: o, where: {label: pii>=full}, restrict: reading, unless: {tag: ok}}
  - {name: no restriction, reason: r, owner: o, forbid: {label: pii>=full}}
"""


def test_each_category_is_a_policy_that_denies_all_but_the_readers() -> None:
    found = json.loads(export_ranger(read_policies(TEXT).policies, "cl_tag", ["hive:select", "trino:select"]).text)
    first, second = found["policies"]
    assert [one["resources"]["tag"]["values"] for one in (first, second)] == [["WHENCE_PII"], ["WHENCE_PHI"]]
    (deny,), (excepted,) = first["denyPolicyItems"], first["denyExceptions"]
    assert [one["type"] for one in deny["accesses"]] == ["hive:select", "trino:select"]
    assert (deny["groups"], excepted["users"], excepted["groups"]) == (["public"], ["ann"], ["privacy"])
    assert '["influenced", "statistic", "partial"].indexOf' in script(deny)
    assert '["influenced", "statistic"].indexOf' in script(second["denyPolicyItems"][0])


def script(item: Any) -> str:
    """The script of the condition of an item."""
    ((condition,),) = (one["values"] for one in item["conditions"])
    assert [one["type"] for one in item["conditions"]] == ["expression"]
    return str(condition)


def holds(item: Any, grade: str | None) -> bool:
    """What a script says of a tag with a grade, as JavaScript does."""
    found = re.fullmatch(r"ctx\.result = (\[.*\])\.indexOf\(tagAttr\.get\('grade'\)\) (>= 0|< 0);", script(item))
    assert found
    return (grade in json.loads(found[1])) is (found[2] == ">= 0")


def may_read(policy: Any, subject: str, grade: str | None) -> bool:
    """As Ranger judges: denied items first, but for their exceptions."""
    kind, _, name = subject.partition(":")
    denied = any(holds(one, grade) for one in policy["denyPolicyItems"])
    excepted = any(name in one[f"{kind}s"] and holds(one, grade) for one in policy["denyExceptions"])
    return excepted or not denied


def test_two_policies_about_a_category_are_one_for_ranger() -> None:
    """Ranger refuses a second policy about a tag. Who may read is who may read by each of them."""
    text = """\
version: 1
policies:
  - {name: hashes, reason: r, owner: o, where: {label: pii>=pseudonymous}, restrict: reading,
     readers: [user:ann, group:privacy, group:crm]}
  - {name: plain, reason: s, owner: p, where: {label: pii>=full}, restrict: reading, readers: [group:privacy, user:bob]}
"""
    (one,) = json.loads(export_ranger(read_policies(text).policies, "cl_tag", ["hive:select"]).text)["policies"]
    assert one["description"] == "hashes: r (ask o); plain: s (ask p)"
    readers = {
        grade: [who for who in ("user:ann", "user:bob", "group:privacy", "group:crm") if may_read(one, who, grade)]
        for grade in ("influenced", "partial", "pseudonymous", "full", None)
    }
    assert readers == {
        "influenced": ["user:ann", "user:bob", "group:privacy", "group:crm"],
        "partial": ["user:ann", "user:bob", "group:privacy", "group:crm"],
        "pseudonymous": ["user:ann", "group:privacy", "group:crm"],
        "full": ["group:privacy"],
        None: [],
    }


def test_what_tags_cannot_say_is_left_out_with_a_reason() -> None:
    left_out = export_ranger(read_policies(TEXT).policies, "cl_tag", ["hive:select"]).left_out
    assert [name for name, _ in left_out] == ["a", "in one place", "by tag", "of datasets", "excepted"]
    assert left_out[0][1] == "key:bot is no user and no group of Ranger"
