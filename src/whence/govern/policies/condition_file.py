"""Reading conditions and the nodes of examples: closed sets of attributes, so a misspelt one is an error."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from whence.govern.policies.conditions import Condition, LabelAtLeast
from whence.govern.policies.estate import Estate, Shown, SourceRetention, Subject
from whence.govern.policies.retention_tags import read_retention
from whence.govern.yaml_nodes import Node, Reader, read_each, read_members
from whence.model.names import DatasetName, FieldName, JobName
from whence.model.names import Node as NodeName
from whence.model.sensitivity import Grade

MOST_NESTED = 8
"""How deep `reads` and `derived_from` can be inside each other."""
EXPIRES = "expires"
KINDS = ("dataset", "column", "job")
_LABEL = re.compile(r"\s*([^\s>=]+)\s*>=\s*(\S+)\s*")
_GRADES = {one.word: one for one in Grade}


def condition_reader(categories: frozenset[str]) -> Reader:
    """Reads a condition whose labels have one of these categories."""

    depth = 0

    def read(node: Node) -> Condition:
        nonlocal depth
        if depth > MOST_NESTED:
            raise node.mistake(f"conditions are nested {MOST_NESTED} deep at most")
        depth += 1
        try:
            stated = read_members(node, readers)
        finally:
            depth -= 1
        return _condition(stated, node)

    readers = _attributes(categories, read)
    return read


def exception_reader(categories: frozenset[str]) -> Reader:
    """Reads a condition of `unless`, which may have a last day."""
    attributes = _attributes(categories, condition_reader(categories))

    def read(node: Node) -> Condition:
        stated = read_members(node, {**attributes, EXPIRES: Node.day})
        expires = stated.pop(EXPIRES, None)
        return replace(_condition(stated, node), expires=expires)

    return read


def _attributes(categories: frozenset[str], read: Reader) -> dict[str, Reader]:
    """The attributes of conditions. `read`: reads a condition inside another."""
    return {
        "kind": one_or_more(lambda one: choice(one, KINDS)),
        "namespace": one_or_more(Node.filled),
        "name": one_or_more(Node.filled),
        "column": one_or_more(Node.filled),
        "tag": one_or_more(Node.filled),
        "owner": one_or_more(Node.filled),
        "owned": Node.boolean,
        "type": one_or_more(lambda one: one.filled().upper()),
        "tier": one_or_more(Node.integer),
        "certified": Node.boolean,
        "label": one_or_more(lambda one: _label(one, categories)),
        "outlives_sources": Node.boolean,
        "reads": read,
        "derived_from": read,
    }


def _condition(stated: Mapping[str, Any], node: Node) -> Condition:
    if not stated:
        raise node.mistake("a condition without attributes fits every node: state one, such as kind")
    return Condition(
        kinds=frozenset(stated.get("kind", ())),
        namespaces=stated.get("namespace", ()),
        names=stated.get("name", ()),
        columns=stated.get("column", ()),
        tags=stated.get("tag", ()),
        owners=stated.get("owner", ()),
        is_owned=stated.get("owned"),
        types=frozenset(stated.get("type", ())),
        tiers=frozenset(stated.get("tier", ())),
        certified=stated.get("certified"),
        labels=stated.get("label", ()),
        outlives_sources=stated.get("outlives_sources"),
        reads=stated.get("reads"),
        derived_from=stated.get("derived_from"),
    )


def one_or_more(read: Callable[[Node], Any]) -> Reader:
    """Reads a value, or a list of them that is not empty."""

    def found(node: Node) -> tuple[Any, ...]:
        if not node.is_list():
            return (read(node),)
        if not node.list():
            raise node.mistake("write one value at least")
        return read_each(node.list(), read)

    return found


def choice(node: Node, known: tuple[str, ...]) -> str:
    """One of some words."""
    if (text := node.filled()) not in known:
        close = get_close_matches(text, known, 1)
        raise node.mistake(f"write one of {', '.join(known)}" + (f"; did you mean '{close[0]}'?" if close else ""))
    return text


def _label(node: Node, categories: frozenset[str]) -> LabelAtLeast:
    found = _LABEL.fullmatch(node.filled())
    if found is None:
        raise node.mistake("write CATEGORY>=GRADE, such as pii>=partial")
    category, grade = found.groups()
    if category not in categories:
        raise node.mistake(f"no category {category!r}; there are {', '.join(sorted(categories))}")
    return LabelAtLeast(category, _grade(node, grade))


def read_grade(node: Node) -> Grade:
    """A grade by its word. Raises RulesFileError."""
    return _grade(node, node.filled())


def _grade(node: Node, word: str) -> Grade:
    if word not in _GRADES:
        raise node.mistake(f"no grade {word!r}; there are {', '.join(_GRADES)}")
    return _GRADES[word]


def read_example_node(node: Node, categories: frozenset[str]) -> tuple[Estate, Subject]:
    """The node of an example, and the estate that it is in. Raises RulesFileError."""
    subjects: dict[NodeName, Subject] = {}
    inputs: dict[NodeName, frozenset[NodeName]] = {}

    def add(one: Node) -> Subject:
        stated = read_members(one, readers)
        subject = _subject(stated, len(subjects))
        subjects[subject.node] = subject
        inputs[subject.dataset] = frozenset(add(source).dataset for source in stated.get("reads", ()))
        return subject

    readers: dict[str, Reader] = {
        "kind": lambda one: choice(one, KINDS),
        "namespace": Node.filled,
        "name": Node.filled,
        "column": Node.filled,
        "tag": one_or_more(Node.filled),
        "owner": one_or_more(Node.filled),
        "type": Node.filled,
        "tier": Node.integer,
        "certified": Node.boolean,
        "label": one_or_more(lambda one: _label(one, categories)),
        "assumed": one_or_more(lambda one: _label(one, categories)),
        "source_retention": Node.filled,
        "unknown": Node.filled,
        "reads": Node.list,
    }
    subject = add(node)
    return Estate(subjects=subjects, inputs=inputs), subject


def _subject(stated: Mapping[str, Any], number: int) -> Subject:
    tags = frozenset(stated.get("tag", ())) | ({"certified"} if stated.get("certified") else set())
    tags |= {one.partition("=")[0] for one in tags}
    sources = read_retention([stated["source_retention"]]).days if "source_retention" in stated else None
    labels = {one.category: Shown(grade=one.grade, proven=Grade.NONE) for one in stated.get("assumed", ())}
    labels |= {one.category: Shown(grade=one.grade, proven=one.grade) for one in stated.get("label", ())}
    return Subject(
        node=_node(stated, number),
        tags=tags,
        owners=frozenset(stated.get("owner", ())),
        types=frozenset({stated["type"].upper()} if "type" in stated else ()),
        tier=stated.get("tier"),
        labels=labels,
        retention=read_retention(one.removeprefix("retention=") for one in tags if one.startswith("retention=")),
        sources=SourceRetention(days=sources, proven=sources),
        unknown=stated.get("unknown", ""),
    )


def _node(stated: Mapping[str, Any], number: int) -> NodeName:
    namespace, name = stated.get("namespace", "example"), stated.get("name", f"example {number}")
    kind = stated.get("kind", "column" if "column" in stated else "dataset")
    if kind == "job":
        return JobName(namespace, name)
    dataset = DatasetName(namespace, name)
    return FieldName(dataset, stated.get("column", "example")) if kind == "column" else dataset
