"""A YAML document as JSON values, with the line of each of them: what a JSON Schema can check."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from whence.govern.yaml_nodes import Node

Path = tuple[str | int, ...]
"""Keys and indices, from the document to a value."""

_MOST_VALUES = 200_000
"""More come only of aliases that repeat one another."""
_DEEPEST = 100
_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(f"{_TAG}{one}" for one in ("str", "int", "float", "bool", "null"))


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a document, and the line at which each of them begins: that of its key, if it has one."""

    file: str
    root: Any
    lines: dict[Path, int] = field(repr=False)

    def place(self, path: Path) -> str:
        """`file:line` of a value, or of the nearest one around it."""
        while path not in self.lines:
            path = path[:-1]
        return f"{self.file}:{self.lines[path]}"


def read_values(node: Node) -> Values:
    """The values below a node. Dates stay texts, as JSON has none. Raises RulesFileError with file and line."""
    lines: dict[Path, int] = {(): node.raw.start_mark.line + 1}
    return Values(node.file, _Reading(node.file, lines).read(node.raw, ()), lines)


@dataclass(frozen=True, slots=True)
class _Reading:
    file: str
    lines: dict[Path, int]
    loader: yaml.SafeLoader = field(default_factory=lambda: yaml.SafeLoader(""))
    flattened: set[int] = field(default_factory=set)
    """The mappings, by identity, that were read before: an alias leads to them again."""

    def read(self, raw: yaml.Node, path: Path) -> Any:
        if len(path) > _DEEPEST or len(self.lines) > _MOST_VALUES:
            raise Node(self.file, raw).mistake("it is nested too deeply, or its aliases repeat too much")
        match raw:
            case yaml.MappingNode():
                return dict(self._members(raw, path))
            case yaml.SequenceNode():
                return [self._item(one, (*path, index)) for index, one in enumerate(raw.value)]
        return self._scalar(raw)

    def _item(self, raw: yaml.Node, path: Path) -> Any:
        self.lines[path] = raw.start_mark.line + 1
        return self.read(raw, path)

    def _members(self, raw: yaml.MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        self._refuse_duplicates(raw)
        try:
            self.loader.flatten_mapping(raw)  # `<<`; its members come first, so that a key written here wins
        except yaml.MarkedYAMLError as error:
            raise Node(self.file, raw).mistake(f"it is not YAML: {error.problem}") from None
        for key, value in raw.value:
            self.lines[(*path, key.value)] = key.start_mark.line + 1
            yield key.value, self.read(value, (*path, key.value))

    def _refuse_duplicates(self, raw: yaml.MappingNode) -> None:
        seen = set[str]()
        for key, _ in raw.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Node(self.file, key).mistake("write a text as the key")
            if key.value in seen and id(raw) not in self.flattened:
                raise Node(self.file, key).mistake(f"the key {key.value!r} is here twice")
            seen.add(key.value)
        self.flattened.add(id(raw))

    def _scalar(self, raw: yaml.Node) -> Any:
        if raw.tag == f"{_TAG}timestamp" or (raw.tag != f"{_TAG}str" and ":" in raw.value):
            return raw.value  # YAML 1.1 reads 9:30 as a number
        if raw.tag not in _SCALARS:
            raise Node(self.file, raw).mistake("write a text, a number, true, false or null here")
        try:
            return self.loader.construct_object(raw)
        except (ValueError, yaml.YAMLError):
            raise Node(self.file, raw).mistake("this is not a value") from None
