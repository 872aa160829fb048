"""Files of policies: each misspelt word is an error with its line, and examples come out as they say."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from whence.errors import RulesFileError
from whence.govern.policies.evaluation import failed_examples
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES, group_policies
from whence.model.sensitivity import Grade

FILE = """\
version: 1
categories:
  secret: [class=secret, vault]
policies:
  - name: no personal data at the agency
    reason: the contract with the agency forbids it
    owner: privacy
    forbid: {kind: column, namespace: "s3://agency*", label: pii>=pseudonymous}
    unless: {tag: approved=privacy}
    examples:
      - {is: violated, node: {column: mail, namespace: s3://agency-eu, label: pii>=full}}
      - {is: violated, node: {column: mail, namespace: s3://agency-eu, label: pii>=pseudonymous}}
      - {is: ok, node: {column: mail, namespace: s3://agency-eu, label: pii>=full, tag: approved=privacy}}
      - {is: ok, node: {column: mail, namespace: s3://agency-eu, label: pii>=partial}}
      - {is: ok, node: {column: mail, namespace: s3://shop, label: pii>=full}}
      - {is: not evaluated, node: {column: mail, namespace: s3://agency-eu, assumed: pii>=full}}
      - {is: not evaluated, node: {column: mail, namespace: s3://agency-eu, unknown: 1 node may not be seen}}
      - {is: ok, node: {namespace: s3://agency-eu, label: pii>=full}}
  - name: masked columns stay masked
    reason: the masking policy of the warehouse must follow the data
    owner: privacy
    where: {kind: column, label: [pii>=partial, secret>=partial]}
    require: {tag: masking=mail}
    examples:
      - {is: violated, node: {column: a, label: pii>=full}}
      - {is: violated, node: {column: a, label: secret>=full}}
      - {is: ok, node: {column: a, label: pii>=full, tag: [x, masking=mail]}}
      - {is: ok, node: {column: a, assumed: pii>=full, tag: masking=mail}}
      - {is: not evaluated, node: {column: a, assumed: pii>=full}}
  - name: boards of tier 1 read certified data
    reason: a number that the board sees is vouched for
    owner: bi
    forbid: {type: dashboard, tier: 1, reads: {certified: false}}
    examples:
      - {is: violated, node: {type: DASHBOARD, tier: 1, reads: [{certified: true}, {name: raw}]}}
      - {is: ok, node: {type: DASHBOARD, tier: 1, reads: [{certified: true}]}}
      - {is: ok, node: {type: DASHBOARD, tier: 2, reads: [{name: raw}]}}
      - {is: not evaluated, node: {type: DASHBOARD, tier: 1, reads: [{certified: true}], unknown: a node is hidden}}
  - name: nothing is made of quarantined data
    reason: it is wrong
    owner: ops
    forbid: {derived_from: {tag: quarantined}}
    unless: [{owner: "team-o*"}, {owned: false, name: scratch}]
    examples:
      - {is: violated, node: {reads: [{name: b, reads: [{name: c, tag: quarantined}]}]}}
      - {is: ok, node: {owner: team-ops, reads: [{name: c, tag: quarantined}]}}
      - {is: ok, node: {name: scratch, reads: [{name: c, tag: quarantined}]}}
  - name: kept no longer than its sources
    reason: erased there, erased here
    owner: privacy
    forbid: {kind: dataset, outlives_sources: true}
    examples:
      - {is: violated, node: {tag: retention=P60D, source_retention: 30d}}
      - {is: ok, node: {tag: retention=4w, source_retention: 30d}}
      - {is: ok, node: {tag: retention=1y}}
      - {is: not evaluated, node: {source_retention: 30d}}
      - {is: not evaluated, node: {tag: retention=forever, source_retention: 30d}}
"""


def test_examples_come_out_as_they_say() -> None:
    stated = read_policies(FILE)
    assert [(one.name, list(failed_examples(one))) for one in stated.policies if list(failed_examples(one))] == []
    assert sum(len(one.examples) for one in stated.policies) == 25


def test_an_example_that_comes_out_otherwise_is_found_with_its_line() -> None:
    wrong = FILE.replace("{is: ok, node: {tag: retention=4w", "{is: violated, node: {tag: retention=4w")
    ((example, outcome),) = (pair for one in read_policies(wrong).policies for pair in failed_examples(one))
    assert (outcome, example.place) == (
        "ok",
        f"policies.yaml:{wrong[: wrong.index('retention=4w')].count(chr(10)) + 1}",
    )


@pytest.mark.parametrize(
    ("right", "wrong", "mistake"),
    [
        ("policies:", "polices:", "did you mean 'policies'?"),
        ("    reason: it is wrong", "    reson: it is wrong", "did you mean 'reason'?"),
        ("tier: 1, reads: {certified: false}}\n", "teir: 1, reads: {certified: false}}\n", "did you mean 'tier'?"),
        ("{kind: dataset, outlives", "{kind: datset, outlives", "did you mean 'dataset'?"),
        ("outlives_sources: true", "outlive_sources: true", "did you mean 'outlives_sources'?"),
        ("label: [pii>=partial, secret", "label: [pi>=partial, secret", "no category 'pi'"),
        ("secret>=partial]", "secret>=partly]", "no grade 'partly'"),
        ("secret>=partial]", "secret>partial]", "write CATEGORY>=GRADE"),
        ("reads: {certified: false}}\n", "reads: {certifed: false}}\n", "did you mean 'certified'?"),
        ("{owned: false, name: scratch}]", "{owned: no one, name: scratch}]", "write true or false"),
        ("unless: [{owner", "unles: [{owner", "did you mean 'unless'?"),
        ("{is: ok, node: {tag: retention=1y}}", "{is: okay, node: {tag: retention=1y}}", "did you mean 'ok'?"),
        ("{is: ok, node: {tag: retention=1y}}", "{is: ok, node: {tags: retention=1y}}", "did you mean 'tag'?"),
        ("    require: {tag: masking=mail}\n", "", "write either forbid, or where and require"),
        ("    require: {tag: masking=mail}\n", "    require: {}\n", "a condition without attributes"),
        ("name: masked columns stay masked", "name: nothing is made of quarantined data", "is here twice"),
        ("  secret: [class=secret, vault]", "  pii: [class=secret, vault]", "is there already"),
        ("    owner: bi\n", "", "'owner' is missing"),
        ("version: 1", "version: 2", "this release of Whence reads version 1"),
    ],
)
def test_every_misspelt_word_is_refused(right: str, wrong: str, mistake: str) -> None:
    text = FILE.replace(right, wrong, 1)
    assert text != FILE
    with pytest.raises(RulesFileError, match=r"policies\.yaml:\d+") as caught:
        read_policies(text)
    assert mistake in str(caught.value)


DECLARED = """\
version: 1
categories: {secret: [vault], unused: [x]}
namespaces: [s3://a, s3://b]
policies:
  - name: no secrets
    reason: because
    owner: privacy
    forbid: {kind: column, tier: 1, reads: {label: secret>=full}}
    examples: [{is: ok, node: {column: x}}]
  - name: owned
    reason: because
    owner: privacy
    namespaces: [s3://c]
    where: {kind: dataset}
    require: {owned: true}
"""


def test_a_declared_policy_is_read_again_as_it_was() -> None:
    secrets, owned = read_policies(DECLARED).policies
    assert [name for name, _ in secrets.texts] == ["s3://a", "s3://b"]
    assert [name for name, _ in owned.texts] == ["s3://c"]
    for policy in (secrets, owned):
        for namespace, text in policy.texts:
            found = POLICIES.read(text)
            assert found is not None
            (one,) = found.policies
            assert one.namespaces == (namespace,)
            assert (one.conditions, one.required) == (policy.conditions, policy.required)
            assert dict(one.texts) == {namespace: text}
            assert found.categories.keys() == {one for one in ("secret",) if policy is secrets}
    assert POLICIES.read("{}") is None


def test_an_exception_ends_after_its_last_day() -> None:
    text = DECLARED.replace("    examples:", "    unless: [{tag: a, expires: 2027-03-31}, {tag: b}]\n    examples:")
    read = read_policies(text)
    secrets, _ = read.policies
    declared = POLICIES.read(dict(secrets.texts)["s3://a"])
    assert declared is not None
    last = int(datetime(2027, 3, 31, 23, 59, 59, tzinfo=UTC).timestamp()) * 1_000_000 + 999_999
    for file in (read, declared):
        assert [one.tags for one in file.at(last).policies[0].unless] == [("a",), ("b",)]
        assert [one.tags for one in file.at(last + 1).policies[0].unless] == [("b",)]
    for wrong in ("forbid: {tag: a, expires: 2027-03-31}", "unless: {expires: 2027-03-31}"):
        with pytest.raises(RulesFileError):
            read_policies(text.replace("    forbid: {kind: column", f"    {wrong}\n    x: {{kind: column"))


def test_a_policy_of_two_files_is_judged_once() -> None:
    file = read_policies(DECLARED)
    again = [one for policy in file.policies for _, text in policy.texts if (one := POLICIES.read(text))]
    assert group_policies([file, *again]) == group_policies([file])
    other = read_policies(DECLARED.replace("vault", "safe"))
    assert [len(one.policies) for one in group_policies([file, other])] == [2, 1]


EVERYTHING = """\
version: 1
categories: {secret: [vault]}
namespaces: [s3://a]
policies:
  - name: forbidding
    reason: because
    owner: privacy
    namespaces: [s3://b]
    forbid:
      kind: column
      namespace: s3://*
      name: x*
      column: y
      tag: a
      owner: team
      owned: true
      type: MODEL
      tier: 1
      certified: true
      label: secret>=full
      outlives_sources: true
      reads: {kind: dataset, certified: false, derived_from: {tag: z}}
    unless: {tag: approved, expires: 2027-03-31}
    examples:
      - is: violated
        node:
          kind: column
          namespace: s3://b
          name: x
          column: y
          tag: a
          owner: team
          type: MODEL
          tier: 1
          certified: true
          label: secret>=full
          assumed: pii>=full
          source_retention: 30d
          unknown: the source
          reads: [{name: z, certified: true}]
  - name: requiring
    reason: because
    owner: privacy
    where: {kind: dataset}
    require: {owned: true}
"""
KEY = re.compile(r"[a-z_]+(?=:[ \n])")


@pytest.mark.parametrize(
    "change", [lambda key: f"{key}x", lambda key: key[:-1], lambda key: key.upper(), lambda key: f"{key[1:]}"]
)
def test_every_misspelt_key_is_refused_with_its_line(change: Callable[[str], str]) -> None:
    """Each key and each attribute of a file that has all of them; but the names of categories are free."""
    read_policies(EVERYTHING)
    found = [one for one in KEY.finditer(EVERYTHING) if one[0] != "secret"]
    assert len(found) == 55
    for one in found:
        text = EVERYTHING[: one.start()] + change(one[0]) + EVERYTHING[one.end() :]
        with pytest.raises(RulesFileError, match=r"policies\.yaml:\d+: "):
            read_policies(text)


def test_a_declared_policy_about_labels_knows_the_declassifiers_of_its_file() -> None:
    text = """\
version: 1
declassifiers: [{function: Mask_Mail, grade: partial, reason: keeps the domain, owner: privacy}]
namespaces: [prod]
policies:
  - {name: a, reason: r, owner: o, forbid: {label: pii>=full}}
  - {name: b, reason: r, owner: o, where: {kind: dataset}, require: {owned: true}}
"""
    first, second = [dict(one.texts)["prod"] for one in read_policies(text).policies]
    declared = read_policies(first)
    assert declared.functions == frozenset({("mask_mail", Grade.PARTIAL)}) == read_policies(text).functions
    assert dict(declared.policies[0].texts)["prod"] == first
    assert not read_policies(second).declassifiers
    (one,) = group_policies([declared, declared])
    assert one.functions == declared.functions
    twice = text.replace(
        "owner: privacy}]", "owner: privacy}, {function: mask_mail, grade: none, reason: r, owner: o}]"
    )
    with pytest.raises(RulesFileError, match="2: the function 'mask_mail' is here twice"):
        read_policies(twice)


def test_every_mistake_of_a_file_is_named_with_its_line() -> None:
    text = """\
version: 2
categories: {pets: [cat]}
declassifiers:
  - {function: f, grade: partly, reason: r}
polices: []
policies:
  - name: one
    reason: r
    owner: o
    forbid: {kind: colum, label: [pets>=full, birds>=full], reads: {derived_from: {tier: x}}}
    unless: [{tag: t, expires: soon}, {}]
    examples: [{is: broken, node: {nam: x}}]
  - {nane: two, reason: "", owner: o, where: {kind: column}}
  - {name: one, reason: r, owner: o, forbid: {kind: column}}
"""
    with pytest.raises(RulesFileError) as raised:
        read_policies(text, "p.yaml")
    assert [str(one).partition(";")[0] for one in raised.value.mistakes] == [
        "p.yaml:1: this release of Whence reads version 1",
        "p.yaml:4: no grade 'partly'",
        "p.yaml:4: 'owner' is missing",
        "p.yaml:5: no key 'polices' belongs here",
        "p.yaml:10: write one of dataset, column, job",
        "p.yaml:10: no category 'birds'",
        "p.yaml:10: write a whole number here",
        "p.yaml:11: write a date here, such as 2026-12-31",
        "p.yaml:11: a condition without attributes fits every node: state one, such as kind",
        "p.yaml:12: write one of ok, violated, not evaluated",
        "p.yaml:12: no key 'nam' belongs here",
        "p.yaml:13: no key 'nane' belongs here",
        "p.yaml:13: write a text that is not empty",
    ]
    assert str(raised.value).splitlines() == [str(one) for one in raised.value.mistakes]


def test_labels_of_categories_with_mistakes_are_not_mistakes_too() -> None:
    text = (
        "version: 1\ncategories: {pets: []}\npolicies: [{name: a, reason: b, owner: c, forbid: {label: pets>=full}}]\n"
    )
    with pytest.raises(RulesFileError) as raised:
        read_policies(text, "p.yaml")
    assert [str(one) for one in raised.value.mistakes] == ["p.yaml:2: write one value at least"]
