"""The type of an operator's rows: an object with fields, or the text of an SQL type.

>>> field_names({"outputType": "ROW<`customer` BIGINT, `a``b` ROW<`x` INT>> NOT NULL"})
('customer', 'a`b')
"""

import re

from whence.capture.members import object_at, objects_at, text_at
from whence.openlineage.json.wire import Json

_PIECE = re.compile(r"`((?:[^`]|``)*)`|'(?:[^']|'')*'|([<>(),])")


def field_names(node: Json) -> tuple[str, ...]:
    """The names of the columns of an operator's rows."""
    fields = objects_at(object_at(node, "outputType"), "fields")
    return tuple(text_at(one, "name") for one in fields) or tuple(_names(text_at(node, "outputType")))


def time_index(node: Json) -> int | None:
    """The index of the column that has the event time; None if there is none."""
    fields = objects_at(object_at(node, "outputType"), "fields")
    kinds = [text_at(object_at(one, "fieldType"), "kind") for one in fields]
    return kinds.index("ROWTIME") if "ROWTIME" in kinds else None


def _names(text: str) -> list[str]:
    """The names of a text `ROW<…>`, not those of rows inside of it."""
    names, depth, is_name = list[str](), 0, False
    for found in _PIECE.finditer(text):
        name, mark = found[1], found[2]
        if mark in ("<", "("):
            depth += 1
            is_name = depth == 1
        elif mark in (">", ")"):
            depth -= 1
        elif mark == ",":
            is_name = depth == 1
        elif name is not None and is_name and depth == 1:
            names.append(name.replace("``", "`"))
            is_name = False
    return names
