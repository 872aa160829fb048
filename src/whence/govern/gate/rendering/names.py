"""Names and other foreign texts, made harmless for one form of output."""

import unicodedata

from whence.govern.gate.impact import is_hidden
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


def name_of(node: Node) -> str:
    """A node as people read it; a hidden one has no name."""
    match node:
        case _ if is_hidden(node):
            return HIDDEN_NAME
        case FieldName(dataset, field):
            return f"{dataset.name}.{field}"
    return node.name


def changed_name(change: ColumnChange) -> str:
    """What changed: a column, or a whole dataset."""
    return name_of(change.dataset if change.column is None else FieldName(change.dataset, change.column))


def _printable(letter: str) -> str:
    if letter == " " or (letter.isprintable() and not unicodedata.category(letter).startswith("C")):
        return letter
    return letter.encode("unicode_escape", "surrogatepass").decode()
