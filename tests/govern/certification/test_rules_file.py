"""certification.yaml has a closed schema: each mistake has its line; each namespace has a text of its own."""

import json

import pytest

from whence.errors import RulesFileError
from whence.govern.certification.rules_file import read_certification
from whence.govern.declared_rules import HeldRule, find_rule_changes
from whence.model.records.rules import rule_version

RULE = "version: 1\nrules:\n  - name: gold\n    namespaces: [s3://prod, s3://hr]\n"

MISTAKES = {
    "version: 1\nrulez: []\n": "certification.yaml:2: no key 'rulez' belongs here; did you mean 'rules'?",
    "version: 2\nrules: []\n": "certification.yaml:1: this release of Whence reads version 1",
    "version: 1\nrules:\n  - name: gold\n": "certification.yaml:3: 'namespaces' is missing",
    f"{RULE}    require: {{contracts: true}}\n": "certification.yaml:5: no key 'contracts' belongs here",
    f"{RULE}    require: {{lineage: 101%}}\n": "certification.yaml:5: write a share, such as 99.5%, or 0.995",
    f"{RULE}    require: {{lineage: 0}}\n": "certification.yaml:5: write a share above 0 %",
    f"{RULE}    require: {{objectives: 36h}}\n": "certification.yaml:5: write a number of days from 1d to 90d",
    f"{RULE}    require: {{owner: no, contract: false, lineage: false, objectives: false, checks: false}}\n": (
        "certification.yaml:5: write true or false here"
    ),
    f"{RULE}    require: {{owner: false, contract: false, lineage: false, objectives: false, checks: false}}\n": (
        "certification.yaml:5: a rule that requires nothing certifies everything"
    ),
    f"{RULE}    where: {{}}\n": "certification.yaml:5: a condition without attributes fits every dataset",
    f"{RULE}    where: {{label: pii>=full}}\n": "certification.yaml:5: no key 'label' belongs here",
    f"{RULE}  - name: gold\n    namespaces: [a]\n": "certification.yaml:5: the name 'gold' is here twice",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_has_its_place(text: str) -> None:
    with pytest.raises(RulesFileError) as caught:
        read_certification(text)
    assert str(caught.value).startswith(MISTAKES[text])


def test_the_text_of_a_namespace_names_no_other_one() -> None:
    (rule,) = read_certification(RULE)
    assert dict(rule.texts).keys() == {"s3://prod", "s3://hr"}
    for namespace, text in rule.texts:
        assert json.loads(text)["rules"][0]["namespaces"] == [namespace]
        (again,) = read_certification(text)
        assert (again.texts, again.requirements) == (((namespace, text),), rule.requirements)


def test_rules_are_declared_changed_and_ended_by_namespace() -> None:
    (rule,) = read_certification(RULE)
    texts = dict(rule.texts)
    held = [HeldRule(namespace="s3://prod", name="gold", version=rule_version(texts["s3://prod"]))]
    held += [
        HeldRule(namespace="s3://old", name="gold", version="0"),
        HeldRule(namespace="s3://hr", name="x", version="0"),
    ]

    def changes(*, prune: bool) -> list[tuple[str, str, bool]]:
        found = find_rule_changes([rule], held, prune=prune)
        return [(record.name, namespace, record.ended) for record, namespace in found]

    assert changes(prune=False) == [("gold", "s3://hr", False), ("gold", "s3://old", True)]
    assert changes(prune=True) == [("gold", "s3://hr", False), ("x", "s3://hr", True), ("gold", "s3://old", True)]
