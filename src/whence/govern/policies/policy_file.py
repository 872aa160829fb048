"""Reading `policies.yaml`: a closed schema, so a misspelt key is an error with its line, never a policy that is off."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from whence.errors import RulesFileError
from whence.govern.policies.condition_file import (
    choice,
    condition_reader,
    exception_reader,
    one_or_more,
    read_example_node,
    read_grade,
)
from whence.govern.policies.policy import HIDDEN, SHOWN, Categories, Declassifier, Example, Outcome, Policy, PolicyFile
from whence.govern.yaml_nodes import (
    Node,
    Reader,
    parse,
    read_each,
    read_known_members,
    read_members,
    read_subject,
    read_version,
    refuse,
)
from whence.govern.yaml_values import read_values
from whence.query.sensitivity.marks import CATEGORIES

_LONGEST_NAME = 200
READING = "reading"
"""What policies can restrict."""


def read_policies(text: str, file: str = "policies.yaml") -> PolicyFile:
    """Read the policies of a file. Raises RulesFileError with file and line of every mistake."""
    root = parse(text, file) or parse("{}", file)
    assert root is not None
    stated, mistakes = read_known_members(root, _TOP, ("version", "policies"))
    if mistakes and "categories" not in stated and any(key.text == "categories" for key, _ in root.items()):
        refuse(mistakes)  # labels of these categories would be mistakes, too
    categories, declassifiers = stated.get("categories", {}), stated.get("declassifiers", ())
    reading = _Reading(categories, declassifiers, stated.get("namespaces", ()))
    policies: tuple[Policy, ...] = ()
    try:
        policies = read_each(stated.get("policies", ()), reading.declared_policy)
    except RulesFileError as error:
        mistakes += error.mistakes
    refuse(mistakes)
    return PolicyFile(policies=policies, categories=categories, declassifiers=declassifiers)


def _categories(node: Node) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}

    def read(member: tuple[Node, Node]) -> None:
        key, value = member
        name = key.filled()
        if name in found or name in CATEGORIES:
            raise key.mistake(f"the category {name!r} is there already")
        if not name.replace("_", "").replace("-", "").isalnum():
            raise key.mistake("the name of a category has letters, digits, - and _ only")
        found[name] = frozenset(one_or_more(Node.filled)(value))

    read_each(node.items(), read)
    return found


def _declassifiers(node: Node) -> tuple[Declassifier, ...]:
    names = set[str]()

    def read(one: Node) -> Declassifier:
        stated: dict[str, Any] = read_members(one, _DECLASSIFIER, ("function", "grade", "reason", "owner"))
        if stated["function"].casefold() in names:
            raise one.mistake(f"the function {stated['function']!r} is here twice")
        names.add(stated["function"].casefold())
        return Declassifier(**stated)

    return read_each(node.list(), read)


def _texts(
    policy: Policy, value: Mapping[str, Any], categories: Categories, declassifiers: Sequence[Declassifier]
) -> tuple[tuple[str, str], ...]:
    """A policy as it is declared in each of its namespaces: alone, without examples, with the categories it uses, and
    the functions if it is about labels.
    """
    used = {category for one in policy.conditions for category in one.categories} & categories.keys()
    tags = {one: sorted(categories[one]) for one in sorted(used)}
    rest = {key: one for key, one in value.items() if key not in ("examples", "namespaces")}
    head: dict[str, Any] = {"categories": tags} if tags else {}
    if declassifiers and any(one.categories for one in policy.conditions):
        head["declassifiers"] = [{**asdict(one), "grade": one.grade.word} for one in declassifiers]
    return tuple((one, _text({**rest, "namespaces": [one]}, head)) for one in policy.namespaces)


def _text(policy: Mapping[str, Any], head: Mapping[str, Any]) -> str:
    document = {"version": 1, **head, "policies": [policy]}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_DECLASSIFIER: Mapping[str, Reader] = {
    "function": Node.filled,
    "grade": read_grade,
    "reason": Node.filled,
    "owner": Node.filled,
}
_TOP: Mapping[str, Reader] = {
    "version": read_version,
    "categories": _categories,
    "declassifiers": _declassifiers,
    "namespaces": one_or_more(Node.filled),
    "policies": Node.list,
}


def _name(node: Node) -> str:
    if len(text := node.filled()) > _LONGEST_NAME:
        raise node.mistake(f"a name has at most {_LONGEST_NAME} characters")
    return text


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the policies of a file share. `namespaces`: those of a policy that states none. `names`: those that were
    read.
    """

    categories: Categories
    declassifiers: Sequence[Declassifier]
    namespaces: tuple[str, ...]
    names: set[str] = field(default_factory=set)

    @property
    def labelled(self) -> frozenset[str]:
        """The categories that labels can have."""
        return frozenset(CATEGORIES) | self.categories.keys()

    def declared_policy(self, node: Node) -> Policy:
        """A policy with its texts. Raises RulesFileError."""
        policy = self.policy(node)
        if policy.name in self.names:
            raise node.mistake(f"the name {policy.name!r} is here twice")
        self.names.add(policy.name)
        return replace(policy, texts=_texts(policy, read_values(node).root, self.categories, self.declassifiers))

    def policy(self, node: Node) -> Policy:
        """A policy. Raises RulesFileError."""
        read = condition_reader(self.labelled)
        readers: dict[str, Reader] = {
            "name": _name,
            "reason": Node.filled,
            "owner": Node.filled,
            "forbid": read,
            "restrict": lambda one: choice(one, (READING,)),
            "readers": one_or_more(read_subject),
            "where": read,
            "require": read,
            "unless": one_or_more(exception_reader(self.labelled)),
            "namespaces": one_or_more(Node.filled),
            "examples": lambda one: read_each(one.list(), partial(self.example, restricts_reading=is_restriction)),
        }
        is_restriction = any(key.text == "restrict" for key, _ in node.items())
        stated = read_members(node, readers, ("name", "reason", "owner"))
        forms = {one for one in ("forbid", "require", "restrict") if one in stated}
        if len(forms) != 1 or ("where" in stated) == ("forbid" in stated):
            raise node.mistake("write either forbid, or where and require, or where and restrict")
        if "readers" in stated and "restrict" not in stated:
            raise node.mistake("readers belong to restrict")
        return Policy(
            name=stated["name"],
            reason=stated["reason"],
            owner=stated["owner"],
            where=stated.get("forbid") or stated["where"],
            required=stated.get("require"),
            unless=stated.get("unless", ()),
            namespaces=tuple(dict.fromkeys(stated.get("namespaces", self.namespaces))),
            examples=stated.get("examples", ()),
            place=node.place,
            restricts_reading="restrict" in stated,
            readers=stated.get("readers", ()),
        )

    def example(self, node: Node, restricts_reading: bool) -> Example:
        outcomes: Mapping[str, Outcome] = {one.value: one for one in Outcome}
        if restricts_reading:
            outcomes = {HIDDEN: Outcome.VIOLATED, SHOWN: Outcome.OK}
        readers: dict[str, Reader] = {
            "node": lambda one: read_example_node(one, self.labelled),
            "is": lambda one: outcomes[choice(one, tuple(outcomes))],
        }
        stated: dict[str, Any] = read_members(node, readers, ("node", "is"))
        estate, subject = stated["node"]
        return Example(estate=estate, subject=subject, outcome=stated["is"], place=node.place)
