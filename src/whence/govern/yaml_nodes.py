"""YAML as nodes that know their line, so that a mistake is reported where it is written."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any, TypeVar

import yaml

from whence.errors import RulesFileError

_TAGS = {"int": "tag:yaml.org,2002:int", "bool": "tag:yaml.org,2002:bool", "null": "tag:yaml.org,2002:null"}
_STRINGS = ("tag:yaml.org,2002:str",)
_DEEPEST = 100
_MOST_VALUES = 1_000_000
"""More come only of aliases that repeat one another."""
_LONGEST_NUMBER = 20


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a YAML file. Each reading method raises RulesFileError, with the line, for a value of another form."""

    file: str
    raw: yaml.Node

    @property
    def place(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.raw.start_mark.line + 1}"

    @property
    def text(self) -> str:
        """The text of a scalar; empty for anything else."""
        return self.raw.value if isinstance(self.raw, yaml.ScalarNode) else ""

    def mistake(self, reason: str) -> RulesFileError:
        """The error that this value is."""
        return RulesFileError(self.place, reason)

    def items(self) -> Iterator[tuple["Node", "Node"]]:
        """The members of a mapping."""
        if not isinstance(self.raw, yaml.MappingNode):
            raise self.mistake("write `key: value` lines here")
        for key, value in self.raw.value:
            yield Node(self.file, key), Node(self.file, value)

    def list(self) -> tuple["Node", ...]:
        """The items of a list."""
        if not isinstance(self.raw, yaml.SequenceNode):
            raise self.mistake("write a list here")
        return tuple(Node(self.file, item) for item in self.raw.value)

    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.raw, yaml.SequenceNode)

    def is_null(self) -> bool:
        """Whether the value is null, or missing."""
        return self.raw.tag == _TAGS["null"]

    def integer(self) -> int:
        """A whole number."""
        if self.raw.tag != _TAGS["int"] or not self.text.lstrip("+-").isdecimal():
            raise self.mistake("write a whole number here")
        if len(self.text) > _LONGEST_NUMBER:
            raise self.mistake("the number is too large")
        return int(self.text)

    def boolean(self) -> bool:
        """`true` or `false`."""
        if self.raw.tag != _TAGS["bool"] or self.text.lower() not in ("true", "false"):
            raise self.mistake("write true or false here")
        return self.text.lower() == "true"

    def string(self) -> str:
        """A text; a number or a date counts as the text that is written."""
        if not isinstance(self.raw, yaml.ScalarNode) or self.is_null():
            raise self.mistake("write a text here")
        if any("\ud800" <= letter <= "\udfff" for letter in self.text):
            raise self.mistake("the text has half of a character (an escape such as \\ud800)")
        return self.text

    def filled(self) -> str:
        """A text that is not blank."""
        if not self.string().strip():
            raise self.mistake("write a text that is not empty")
        return self.string().strip()

    def day(self) -> date:
        """A date: `2026-12-31`."""
        try:
            return date.fromisoformat(self.string())
        except ValueError:
            raise self.mistake("write a date here, such as 2026-12-31") from None


def parse(text: str, file: str) -> Node | None:
    """The document of a YAML file; None if the file is empty. Raises RulesFileError."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise RulesFileError(f"{file}:{line}", f"it is not YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise RulesFileError(f"{file}:1", f"it is not YAML: {type(error).__name__}") from None
    if root is None or root.tag == _TAGS["null"]:
        return None
    _check_size(Node(file, root), [], {})
    return Node(file, root)


def _check_size(node: Node, above: list[yaml.Node], sizes: dict[yaml.Node, int]) -> int:
    """The number of values below a value, where an alias counts as often as it is written.

    Raises RulesFileError for a value that contains itself, and for a document that is too deep or too large to read.
    """
    if node.raw in above:
        raise node.mistake("the value contains itself")
    if len(above) > _DEEPEST:
        raise node.mistake(f"values are nested {_DEEPEST} deep at most")
    if node.raw not in sizes:
        above.append(node.raw)
        sizes[node.raw] = 1 + sum(_check_size(Node(node.file, one), above, sizes) for one in _inner(node.raw))
        above.pop()
    if sizes[node.raw] > _MOST_VALUES:
        raise node.mistake(f"the aliases repeat too much: these are more than {_MOST_VALUES:,} values")
    return sizes[node.raw]


def _inner(raw: yaml.Node) -> Iterator[yaml.Node]:
    match raw:
        case yaml.MappingNode():
            yield from (one for pair in raw.value for one in pair)
        case yaml.SequenceNode():
            yield from raw.value


Reader = Callable[[Node], Any]
Item = TypeVar("Item")
Value = TypeVar("Value")


def read_members(node: Node, readers: Mapping[str, Reader], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of a mapping whose keys are all known. Raises RulesFileError with every mistake in it."""
    found, mistakes = read_known_members(node, readers, required)
    refuse(mistakes)
    return found


def read_known_members(
    node: Node, readers: Mapping[str, Reader], required: tuple[str, ...] = ()
) -> tuple[dict[str, Any], list[RulesFileError]]:
    """The values of a mapping that can be read, and the mistakes in the others. Raises RulesFileError if it is none."""
    found: dict[str, Any] = {}
    mistakes: list[RulesFileError] = []
    missing = dict.fromkeys(required)
    written = set[str]()
    for key, value in node.items():
        try:
            _check_key(key, readers, written)
            found[key.text] = readers[key.text](value)
        except RulesFileError as error:
            mistakes += error.mistakes
        written.add(key.text)
        missing.pop(key.text if key.text in readers else _nearest(key.text, readers), None)
    return found, [*mistakes, *(node.mistake(f"{name!r} is missing") for name in missing)]


def _check_key(key: Node, readers: Mapping[str, Reader], written: Collection[str]) -> None:
    if key.text not in readers:
        raise key.mistake(f"no key {key.text!r} belongs here{_hint(key.text, readers)}")
    if key.text in written:
        raise key.mistake(f"the key {key.text!r} is here twice")


def read_each(items: Iterable[Item], read: Callable[[Item], Value]) -> tuple[Value, ...]:
    """The values that are read from items. Raises RulesFileError with the mistakes of all of them."""
    found: list[Value] = []
    mistakes: list[RulesFileError] = []
    for item in items:
        try:
            found.append(read(item))
        except RulesFileError as error:
            mistakes += error.mistakes
    refuse(mistakes)
    return tuple(found)


def refuse(mistakes: Iterable[RulesFileError]) -> None:
    """Raise RulesFileError with the mistakes, by line, if there are any."""
    distinct = {(one.path, one.reason): one for one in mistakes}
    if distinct:
        first, *others = sorted(distinct.values(), key=_line_of)
        raise RulesFileError(first.path, first.reason, tuple(others))


def _line_of(mistake: RulesFileError) -> int:
    return int(mistake.path.rpartition(":")[2])


def read_version(node: Node) -> int:
    """The version of the form of a file, which is 1. Raises RulesFileError."""
    if node.integer() != 1:
        raise node.mistake("this release of Whence reads version 1")
    return 1


def _hint(key: str, known: Mapping[str, Reader]) -> str:
    close = _nearest(key, known)
    return f"; did you mean {close!r}?" if close else f"; choose one of {', '.join(known)}"


def _nearest(key: str, known: Mapping[str, Reader]) -> str:
    return next(iter(get_close_matches(key, known, 1)), "")


def read_subject(node: Node) -> str:
    """The subject of a grant. Raises RulesFileError."""
    kind, colon, name = (text := node.filled()).partition(":")
    if kind not in ("key", "user", "group") or not colon or not name:
        raise node.mistake("write whom grants name: key:NAME, user:SUBJECT or group:NAME")
    return text
