"""`whence report weekly`: the report as Markdown, HTML or JSON."""

import sys

import msgspec

from whence.cli.output.streams import Exit, Output, print_document
from whence.cli.reports.store import ReportQuestions
from whence.govern.reports.rendering.html import render_html
from whence.govern.reports.rendering.markdown import render_markdown
from whence.query.answers.instants import iso


def show_weekly(
    questions: ReportQuestions, week: str, until: int | None, as_of: int | None, output: Output, *, html: bool
) -> Exit:
    """Print the report of a week. Raises QuestionError, StoreError, LogError, ApiError."""
    found = questions.weekly_report(week=week, until=_text(until), as_of=_text(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        _print(render_html(found).decode() if html else render_markdown(found))
    return Exit.OK


def _text(time: int | None) -> str | None:
    return None if time is None else iso(time)


def _print(text: str) -> None:
    """As it is: Markdown and HTML have no line that a terminal should break, and the renderers escape every name."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()
