"""Operators in the text of a plan, as the nodes that Spark's JSON of a plan has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable

from whence_client.spark.connect.attribute_names import AttributeNames
from whence_client.spark.connect.expression_text import Expressions, split_list
from whence_client.spark.connect.plan_lines import PlanLine, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence_client.spark.plan.trees import Node, Tree

_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_JOIN = re.compile(r"(\w+)(?:\((.*?)\))?(?:, (.*))?$", re.DOTALL)
_NUMBER = re.compile(r"\d+")
LEAVES = frozenset(
    ("Relation", "RelationV2", "StreamingRelation", "StreamingRelationV2", "LogicalRDD", "LocalRelation", "Range")
)
"""Operators whose attributes are those of what they read."""


def read_plan(text: str) -> Tree:
    """The tree of a plan's text, as `TreeNode.toJSON` writes it. Raises ValueError if the text is not understood."""
    return assemble(read_lines(text))


def assemble(lines: list[PlanLine]) -> Tree:
    """The tree of a plan's lines, of which the first is its root."""
    names = AttributeNames()
    trees: dict[int, Tree] = {}
    for line in reversed(lines):  # an operator stands before those that define its attributes
        trees[id(line)] = _read_operator(line, names, trees)
    return trees[id(lines[0])]


def _read_operator(line: PlanLine, names: AttributeNames, trees: dict[int, Tree]) -> Tree:
    plans = iter(line.subqueries)

    def next_subquery() -> Tree | None:
        found = next(plans, None)
        return trees[id(found)] if found is not None else None

    rule = _RULES.get(line.name)
    expressions = Expressions(names, next_subquery)
    fields = rule(line.arguments, expressions, names) if rule else {}
    if line.name in LEAVES:
        fields["view"] = line.view
    children = [trees[id(one)] for one in line.children]
    return [
        {"class": _CLASSES.get(line.name, line.name), "num-children": len(children), **fields},
        *(node for child in children for node in child),
    ]


Rule = Callable[[str, Expressions, AttributeNames], "Node"]


def _lists(text: str) -> list[str]:
    """The contents of the lists among the arguments of an operator."""
    return [one[1:-1] for one in split_list(text) if one.startswith("[") and one.endswith("]")]


def _project(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"projectList": expressions.read_named(_content(text))}


def _content(text: str) -> str:
    """The text within the brackets around it."""
    if text and not (text.startswith("[") and text.endswith("]")):
        raise ValueError("a list of the plan has no end")
    return text[1:-1]


def _aggregate(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    *keys, columns = _marked_lists(text, names)[:2] or [""]
    return {
        "groupingExpressions": expressions.read_list(keys[0]) if keys else [],
        "aggregateExpressions": expressions.read_named(columns),
    }


def _marked_lists(text: str, names: AttributeNames) -> list[str]:
    """The lists among the arguments, with marked attributes: their names may have brackets."""
    return _lists(names.mark(text))


def _window(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"windowExpressions": expressions.read_named((_marked_lists(text, names) or [""])[0])}


def _filter(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"condition": expressions.read(names.mark(text))}


def _sort(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"order": expressions.read_list((_marked_lists(text, names) or [""])[0])}


def _join(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    found = _JOIN.match(text)
    if not found:
        return {}
    condition = {"condition": expressions.read(names.mark(found[3]))} if found[3] else {}
    kind: Node = {"object": f"org.{found[1]}"}
    if found[2]:
        kind = {"product-class": f"org.{found[1]}", "exists": [[one] for one in names.read_outputs(found[2])]}
    return {"joinType": kind, **condition}


def _lateral_join(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    subquery, kind, *condition = split_list(names.mark(text))
    found: Node = {"right": expressions.read(subquery), "joinType": {"object": f"org.{kind}"}}
    return {**found, "condition": expressions.read(condition[0])} if condition else found


def _as_of_join(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"asOfCondition": expressions.read_list(text)}


def _generate(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    generator = split_list(names.mark(text))[0]
    outputs = _LIST.search(split_list(text)[-1])
    made = list(names.read_outputs(outputs[1])) if outputs else []
    return {"generator": expressions.read(generator), "generatorOutput": [[one] for one in made]}


def _expand(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    projections = _lists(names.mark(text))[0]
    rows = [expressions.read_list(row) for row in _lists(projections)]
    return {"projections": rows, "output": _outputs(split_list(text)[-1], names)}


def _deduplicate(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"keys": expressions.read_list((_marked_lists(text, names) or [""])[0])}


def _whole_frame(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    """A Python function over frames: the keys of its groups, its call, and its output."""
    marked = split_list(names.mark(text))
    output = next(index for index in reversed(range(len(marked))) if marked[index].startswith("["))
    calls = [one for one in marked[:output] if not one.startswith("[") and "(" in one]
    keys = _lists(", ".join(marked[:output]))
    return {
        "func": [expressions.read(call) for call in calls[:1]],
        "groupingAttributes": [one for key in keys for one in expressions.read_list(key)],
        "output": _outputs(split_list(text)[output], names),
    }


def _outputs(text: str, names: AttributeNames) -> list[Tree]:
    return [[one] for one in names.read_outputs(_content(text))]


def _leaf(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    """What is read stands before the attributes or after them: `shop.orders[id#1] parquet`."""
    found = next((one for one in _bracketed(text) if re.search(r"#\d+L?(?:-T\d+ms)?$", one[1])), None)
    if found is None:
        return {"output": [], "text": text}
    begin, content = found
    return {
        "output": [[one] for one in names.read_outputs(content)],
        "table": text[:begin].strip(" ,"),
        "text": f"{text[:begin]}{text[begin + len(content) + 2 :]}",
    }


def _bracketed(text: str) -> Iterator[tuple[int, str]]:
    """The contents of the outermost brackets, with their positions."""
    depth = begin = 0
    for index, character in enumerate(text):
        if character == "[":
            begin, depth = (index, 1) if depth == 0 else (begin, depth + 1)
        elif character == "]" and depth:
            depth -= 1
            if depth == 0:
                yield begin, text[begin + 1 : index]


def _definition(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"id": _number(text)}


def _reference(text: str, expressions: Expressions, names: AttributeNames) -> Node:
    return {"cteId": _number(text), "output": _outputs((["", *_bracket_texts(text)])[-1], names)}


def _bracket_texts(text: str) -> list[str]:
    return [f"[{one}]" for _, one in _bracketed(text)][:1]


def _number(text: str) -> int:
    found = _NUMBER.match(text)
    return int(found[0]) if found else -1


_CLASSES = {"Relation": "LogicalRelation", "RelationV2": "DataSourceV2Relation"}
_RULES: dict[str, Rule] = {
    "Project": _project,
    "Aggregate": _aggregate,
    "Window": _window,
    "Filter": _filter,
    "Sort": _sort,
    "Join": _join,
    "LateralJoin": _lateral_join,
    "AsOfJoin": _as_of_join,
    "Generate": _generate,
    "Expand": _expand,
    "Deduplicate": _deduplicate,
    "DeduplicateWithinWatermark": _deduplicate,
    **dict.fromkeys(
        (
            "MapInPandas",
            "MapInArrow",
            "PythonMapInArrow",
            "FlatMapGroupsInPandas",
            "FlatMapGroupsInArrow",
            "FlatMapCoGroupsInPandas",
            "FlatMapCoGroupsInArrow",
            "FlatMapGroupsInPandasWithState",
        ),
        _whole_frame,
    ),
    **dict.fromkeys(LEAVES, _leaf),
    "CTERelationDef": _definition,
    "CTERelationRef": _reference,
}
