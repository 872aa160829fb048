"""The weekly report as a page of HTML without scripts, in which every text is escaped."""

from collections.abc import Iterator

from whence.client.acts.reports import WeeklyReport
from whence.govern.evidence.rendering.html import Html, Part, document, element, table
from whence.govern.reports.rendering.sections import Cell, Name, Section, period_text, sections_of, title_of


def render_html(found: WeeklyReport) -> bytes:
    """The report, in UTF-8."""
    parts: list[Html] = [element("h1", title_of(found)), element("p", period_text(found))]
    for section in sections_of(found):
        parts += _section(section)
    return document(title_of(found), *parts, element("p", f"Position {found.position}", class_="note"))


def _section(one: Section) -> Iterator[Html]:
    yield element("h2", one.title)
    yield from (element("p", sentence) for sentence in one.sentences)
    if one.table:
        yield table(one.table.heads, ([_part(cell) for cell in row] for row in one.table.rows))
    yield from (element("p", note, class_="note") for note in one.notes)


def _part(cell: Cell) -> Part:
    return element("code", cell.text) if isinstance(cell, Name) else cell
