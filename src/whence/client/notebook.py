"""Answers as text and HTML for a prompt and a notebook: a title, and the first rows as a table."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

SHOWN = 20
"""The most rows of an answer to print."""
_WIDEST = 60
"""The most characters of a cell to print."""

Rows = Sequence[Mapping[str, Any]]


def text_table(title: str, columns: Sequence[str], rows: Rows, size: int) -> str:
    """The title, then the first rows in aligned columns, then the number of further rows out of `size`."""
    cells = [list(columns), *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([printable(title), *(lines if rows else ()), *_more(rows, size)])


def html_table(title: str, columns: Sequence[str], rows: Rows, size: int) -> str:
    """The same as HTML. All values of an answer are escaped."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row[column]))}</td>" for column in columns) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f"<p>{escape(printable(title))}</p>{table}" + "".join(f"<p>{escape(line)}</p>" for line in _more(rows, size))


def _more(rows: Rows, size: int) -> list[str]:
    return [f"and {size - len(rows):,} more"] if size > len(rows) else []


def _cell(value: Any) -> str:
    """One line of printable text: a name may contain any characters, even those that control a terminal."""
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
    """Text in which characters that control a terminal are escaped."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in text)
