"""The text of a plan as a tree of lines (`TreeNode.treeString`), and the parts of what Spark explains."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PREFIX = re.compile(r"((?::  |   )*)(?::- |\+- )")
_VIEW = re.compile(r"\(`([^`]+)`")
_STEP = 3
"""The characters by which a child is indented."""
_HEADING = re.compile(r"^== (.+) ==$", re.MULTILINE)
_OPERATOR = re.compile(r"~?([A-Za-z]\w*)")
"""The class of an operator; `~` marks those over a stream."""


@dataclass
class PlanLine:
    """One operator: its class, the rest of its line, its children, and the plans of its subqueries in their order.

    `depth`: how far it is indented. `view`: the nearest view above it.
    """

    name: str
    arguments: str
    depth: int
    view: str = ""
    children: list[PlanLine] = field(default_factory=list)
    subqueries: list[PlanLine] = field(default_factory=list)


def read_sections(text: str) -> dict[str, str]:
    """The parts of an explanation by their headings: `Analyzed Logical Plan`, `Physical Plan`."""
    found = list(_HEADING.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    return {one[1]: text[one.end() : end].strip("\n") for one, end in zip(found, ends)}


def read_lines(text: str) -> list[PlanLine]:
    """The operators of a plan from its root on, linked to their children. Raises ValueError without a root.

    A line that no operator begins continues the one before: a literal may have line breaks.
    """
    texts: list[tuple[int, str]] = []
    for line in text.split("\n"):
        found = _PREFIX.match(line)
        if found:
            texts.append((found.end() // _STEP, line[found.end() :]))
        elif not texts:
            texts.append((0, line))
        else:
            texts[-1] = (texts[-1][0], f"{texts[-1][1]}\n{line}")
    return _link([_line(depth, one) for depth, one in texts])


def _line(depth: int, text: str) -> PlanLine:
    found = _OPERATOR.match(text)
    if not found:
        raise ValueError("a line of the plan names no operator")
    return PlanLine(found[1], text[found.end() :].strip(), depth)


def _link(lines: list[PlanLine]) -> list[PlanLine]:
    """Each line below its parent: one step deeper is a child, two steps deeper the plan of a subquery."""
    ancestors: list[PlanLine] = []
    for line in lines:
        while ancestors and ancestors[-1].depth >= line.depth:
            ancestors.pop()
        if ancestors:
            parent = ancestors[-1]
            below = parent.children if line.depth == parent.depth + 1 else parent.subqueries
            below.append(line)
            found = _VIEW.match(parent.arguments) if parent.name == "View" else None
            line.view = found[1] if found else parent.view
        ancestors.append(line)
    return lines
