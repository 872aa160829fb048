"""Attributes in the text of a plan: `name#12L`. A name may have any character, so that its id finds it.

Operators are read from the leaves up. Each attribute is therefore known by its id before another operator refers to it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence_client.spark.plan.trees import Node

_ID = re.compile(r"#(\d+)L?(?!\w)")
_DEFINITION = re.compile(r"#(\d+)(L?)(?:-T\d+(?:ms)?)?(?:,\s*|$)")
MARK = "\x00"
"""Around the id of a known attribute."""
MARKED = re.compile(rf"{MARK}(\d+){MARK}")


class AttributeNames:
    """The attributes of one plan that were read so far."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def add(self, number: int, name: str) -> None:
        """Keep the name of an attribute."""
        self._names[number] = name

    def name(self, number: int) -> str:
        """The name of a known attribute."""
        return self._names[number]

    def mark(self, text: str) -> str:
        """The text with `MARK id MARK` in the place of each known attribute."""
        parts: list[str] = []
        end = 0
        for found in _ID.finditer(text):
            name = self._names.get(int(found[1]))
            if name is not None and text.endswith(name, end, found.start()):
                parts += [text[end : found.start() - len(name)], f"{MARK}{found[1]}{MARK}"]
                end = found.end()
        return "".join([*parts, text[end:]])

    def read_outputs(self, text: str) -> Iterator[Node]:
        """The attributes in a list that defines them: `order_id#1L, amount#2`."""
        end = 0
        for found in _DEFINITION.finditer(text):
            number, name = int(found[1]), text[end : found.start()]
            self.add(number, name)
            end = found.end()
            yield attribute_node(number, name, "bigint" if found[2] else "")


def attribute_node(number: int, name: str, type_: str = "") -> Node:
    """An attribute as Spark's JSON of a plan writes it."""
    node: Node = {"class": "AttributeReference", "num-children": 0, "name": name, "exprId": {"id": number}}
    return {**node, "dataType": type_} if type_ else node
