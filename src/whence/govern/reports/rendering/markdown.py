"""The weekly report as Markdown. Foreign names are code, in which nothing is markup."""

from collections.abc import Iterator

from whence.client.acts.reports import WeeklyReport
from whence.govern.gate.rendering.names import code
from whence.govern.reports.rendering.sections import Cell, Name, Section, Table, period_text, sections_of, title_of


def render_markdown(found: WeeklyReport) -> str:
    """The report."""
    lines = [f"# {title_of(found)}", "", period_text(found), ""]
    for section in sections_of(found):
        lines += _section(section)
    return "\n".join([*lines, f"Position {found.position}", ""])


def _section(one: Section) -> Iterator[str]:
    yield from (f"## {one.title}", "")
    for sentence in one.sentences:
        yield from (sentence, "")
    if one.table:
        yield from _table(one.table)
        yield ""
    for note in one.notes:
        yield from (note, "")


def _table(one: Table) -> Iterator[str]:
    yield _row(one.heads)
    yield _row(tuple("---" for _ in one.heads))
    yield from map(_row, one.rows)


def _row(cells: tuple[Cell, ...]) -> str:
    return f"| {' | '.join(code(cell.text) if isinstance(cell, Name) else cell for cell in cells)} |"
