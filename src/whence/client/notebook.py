"""Answers as a person reads them at a prompt and in a notebook: a title, and the first rows as a table."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

SHOWN = 20
"""Rows of an answer that are shown."""
_WIDEST = 60
"""Characters of a cell that are shown."""

Rows = Sequence[Mapping[str, Any]]


def text_table(title: str, columns: Sequence[str], rows: Rows, size: int) -> str:
    """The title, then the first rows in aligned columns, then how many more of all `size` rows there are."""
    cells = [list(columns), *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([printable(title), *(lines if rows else ()), *_more(rows, size)])


def html_table(title: str, columns: Sequence[str], rows: Rows, size: int) -> str:
    """The same as HTML. Everything that comes from an answer is escaped."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row[column]))}</td>" for column in columns) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f"<p>{escape(printable(title))}</p>{table}" + "".join(f"<p>{escape(line)}</p>" for line in _more(rows, size))


def _more(rows: Rows, size: int) -> list[str]:
    return [f"and {size - len(rows):,} more"] if size > len(rows) else []


def _cell(value: Any) -> str:
    """One line of printable text: a name may have any characters, also those that control a terminal."""
    match value:
        case None:
            text = ""
        case str():
            text = value
        case _:
            text = json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
    return printable(cut)


def printable(text: str) -> str:
    """Text without characters that control a terminal: they become escapes."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in text)
