"""Policies that restrict reading as tag-based policies of Ranger, and what these cannot say."""

import json

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


def test_each_label_is_a_policy_that_denies_all_but_the_readers() -> None:
    found = json.loads(export_ranger(read_policies(TEXT).policies, "cl_tag", ["hive:select", "trino:select"]).text)
    first, second = found["policies"]
    assert [one["resources"]["tag"]["values"] for one in (first, second)] == [["WHENCE_PII"], ["WHENCE_PHI"]]
    (deny,), (excepted,) = first["denyPolicyItems"], first["denyExceptions"]
    assert [one["type"] for one in deny["accesses"]] == ["hive:select", "trino:select"]
    assert (deny["groups"], excepted["users"], excepted["groups"]) == (["public"], ["ann"], ["privacy"])
    assert '["pseudonymous", "full"]' in deny["conditions"][0]["values"][0]
    assert '["partial", "pseudonymous", "full"]' in second["denyPolicyItems"][0]["conditions"][0]["values"][0]


def test_what_tags_cannot_say_is_left_out_with_a_reason() -> None:
    left_out = export_ranger(read_policies(TEXT).policies, "cl_tag", ["hive:select"]).left_out
    assert [name for name, _ in left_out] == ["a", "in one place", "by tag", "of datasets", "excepted"]
    assert left_out[0][1] == "key:bot is no user and no group of Ranger"
