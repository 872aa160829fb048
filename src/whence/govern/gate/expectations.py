"""Dependencies that must be in the graph, as a file in a repository states them."""

from dataclasses import dataclass

from whence.errors import RulesFileError
from whence.govern.yaml_nodes import Node, parse, read_each, read_members, read_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """That one node depends on another; `by_value`: that its values are made of the other's. Names are as typed."""

    source: str
    target: str
    by_value: bool = False
    place: str = ""


def read_expectations(text: str, file: str) -> tuple[Expectation, ...]:
    """The dependencies that a file states, at least one. Raises RulesFileError with file and line."""
    root = parse(text, file)
    if root is None:
        raise RulesFileError(f"{file}:1", "it states no dependency")
    readers = {"version": read_version, "dependencies": lambda node: read_each(node.list(), _expectation)}
    found: tuple[Expectation, ...] = read_members(root, readers, ("dependencies",))["dependencies"]
    if not found:
        raise root.mistake("it states no dependency")
    return found


def _expectation(node: Node) -> Expectation:
    readers = {"from": Node.filled, "to": Node.filled, "by_value": Node.boolean}
    entry = read_members(node, readers, ("from", "to"))
    by_value = entry.get("by_value", False)
    return Expectation(source=entry["from"], target=entry["to"], by_value=by_value, place=node.place)
