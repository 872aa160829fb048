"""Names and other foreign texts, made harmless for one form of output."""

import unicodedata
from collections import Counter
from dataclasses import dataclass

from whence.govern.gate.impact import is_hidden, subject_of
from whence.govern.gate.judgement import Judgement
from whence.model.changes import ColumnChange
from whence.model.names import FieldName, Node

HIDDEN_NAME = "(hidden)"
_LONGEST = 120
_MARKUP = {"`": "%60", "|": "%7C", "\\": "%5C"}


def printable(text: str) -> str:
    """Text without control, format and unassigned characters: they are shown as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_printable, text))


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Text of at most so many characters; what is left out of its middle is marked."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def code(text: str) -> str:
    """Foreign text as a code span of Markdown, in which nothing is markup, a mention, a link or the end of a cell."""
    shown = "".join(_MARKUP.get(letter, letter) for letter in printable(shortened(text)))
    return f"`{shown.strip() or ' '}`"


@dataclass(frozen=True, slots=True)
class Names:
    """How the nodes of one verdict are named: with their namespace if two of them would else have the same name.

    Production, staging and development may be in one graph, where names differ by namespace alone.
    """

    shared: frozenset[str] = frozenset()

    def of(self, node: Node) -> str:
        """A node as people read it; a hidden one has no name."""
        subject = subject_of(node)
        if is_hidden(node):
            return HIDDEN_NAME
        name = f"{subject.namespace}/{subject.name}" if subject.name in self.shared else subject.name
        return f"{name}.{node.field}" if isinstance(node, FieldName) else name

    def of_change(self, change: ColumnChange) -> str:
        """What changed: a column, or a whole dataset."""
        return self.of(change.dataset if change.column is None else FieldName(change.dataset, change.column))


def names_of(judgement: Judgement) -> Names:
    """The names of all that a verdict is about."""
    changed = {one.change.dataset for one in judgement.changes}
    affected = {subject_of(node.node) for one in judgement.changes for node in one.impact.affected}
    counts = Counter(one.name for one in changed | affected if not is_hidden(one))
    return Names(frozenset(name for name, count in counts.items() if count > 1))


def name_of(node: Node) -> str:
    """A node as people read it, without its namespace; a hidden one has no name."""
    return Names().of(node)


def _printable(letter: str) -> str:
    if letter == " " or (letter.isprintable() and not unicodedata.category(letter).startswith("C")):
        return letter
    return letter.encode("unicode_escape", "surrogatepass").decode()
