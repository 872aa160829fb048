"""Reading `certification.yaml`: a closed schema, so a misspelt key is a mistake with its line, no rule that is off."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from whence.govern.certification.rules import Requirements, Rule, Scope
from whence.govern.policies.condition_file import one_or_more
from whence.govern.slos.indicator_file import read_duration, read_share
from whence.govern.slos.objectives import DAY
from whence.govern.yaml_nodes import Node, Reader, parse, read_each, read_members, read_version
from whence.govern.yaml_values import read_values

_LONGEST_NAME = 200
MOST_DAYS = 90


def read_certification(text: str, file: str = "certification.yaml") -> tuple[Rule, ...]:
    """Read the rules of a file. Raises RulesFileError with file and line."""
    root = parse(text, file) or parse("{}", file)
    assert root is not None
    stated = read_members(root, _TOP, ("version", "rules"))
    values: Any = read_values(root).root
    names = set[str]()

    def read(item: tuple[Node, Mapping[str, Any]]) -> Rule:
        node, value = item
        rule = _rule(node, value)
        if rule.name in names:
            raise node.mistake(f"the name {rule.name!r} is here twice")
        names.add(rule.name)
        return rule

    return read_each(zip(stated["rules"], values["rules"], strict=True), read)


def _rule(node: Node, value: Mapping[str, Any]) -> Rule:
    stated = read_members(node, _RULE, ("name", "namespaces"))
    namespaces = tuple(dict.fromkeys(stated["namespaces"]))
    return Rule(
        name=stated["name"],
        namespaces=namespaces,
        reason=stated.get("reason", ""),
        owner=stated.get("owner", ""),
        scope=stated.get("where", Scope()),
        requirements=stated.get("require", Requirements()),
        texts=tuple((one, _text(value, one)) for one in namespaces),
        place=node.place,
    )


def _text(value: Mapping[str, Any], namespace: str) -> str:
    document = {"version": 1, "rules": [{**value, "namespaces": [namespace]}]}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _name(node: Node) -> str:
    if len(text := node.filled()) > _LONGEST_NAME:
        raise node.mistake(f"a name has at most {_LONGEST_NAME} characters")
    return text


def _scope(node: Node) -> Scope:
    stated = read_members(node, _SCOPE)
    if not stated:
        raise node.mistake("a condition without attributes fits every dataset: leave it out, or state one, such as tag")
    return Scope(
        names=stated.get("name", ()),
        tags=stated.get("tag", ()),
        types=stated.get("type", ()),
        tiers=tuple(str(one) for one in stated.get("tier", ())),
    )


def _requirements(node: Node) -> Requirements:
    found = Requirements(**read_members(node, _REQUIREMENTS))
    if found == _NOTHING:
        raise node.mistake("a rule that requires nothing certifies everything: require something")
    return found


def _share(node: Node) -> Fraction | None:
    if node.text.lower() == "false":
        return None
    share = read_share(node)
    if not 0 < share <= 1:
        raise node.mistake("write a share above 0 % and not above 100 %, or false")
    return share


def _days(node: Node) -> int | None:
    if node.text.lower() == "false":
        return None
    days, rest = divmod(read_duration(node), DAY)
    if rest or not 1 <= days <= MOST_DAYS:
        raise node.mistake(f"write a number of days from 1d to {MOST_DAYS}d, or false")
    return int(days)


_NOTHING = Requirements(owner=False, contract=False, lineage=None, objectives=None, checks=False)
_TOP: Mapping[str, Reader] = {"version": read_version, "rules": Node.list}
_RULE: Mapping[str, Reader] = {
    "name": _name,
    "namespaces": one_or_more(Node.filled),
    "reason": Node.filled,
    "owner": Node.filled,
    "where": _scope,
    "require": _requirements,
}
_SCOPE: Mapping[str, Reader] = {
    "name": one_or_more(Node.filled),
    "tag": one_or_more(Node.filled),
    "type": one_or_more(lambda one: one.filled().upper()),
    "tier": one_or_more(Node.integer),
}
_REQUIREMENTS: Mapping[str, Reader] = {
    "owner": Node.boolean,
    "contract": Node.boolean,
    "lineage": _share,
    "objectives": _days,
    "checks": Node.boolean,
}
