"""`whence tags suggest`: columns that may be sensitive, by their names."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from whence.cli.output.labels import label
from whence.cli.output.streams import Rows, print_csv, print_document, print_lines, safe
from whence.cli.tags.knowledge import connected, read_known
from whence.csv_text import csv_text
from whence.govern.tags.suggestions import Suggestion, suggest_tags

_COLUMNS = ("node", "category", "word", "language")


def show_suggestions(url: str, namespace: str, languages: Sequence[str], output: Rows) -> None:
    """Print the suggestions for a namespace. Raises ApiError, QuestionError."""
    with connected(url) as connection:
        found = list(suggest_tags(read_known(connection, namespace), languages))
    match output:
        case Rows.JSON:
            print_document({"suggestions": list(map(_document, found))})
        case Rows.CSV:
            print_csv(csv_text(_COLUMNS, map(_document, found)))
        case Rows.TEXT:
            _print_text(found)


def _document(one: Suggestion) -> dict[str, Any]:
    return {"node": str(one.column), "category": one.category, "word": one.word, "language": one.language}


def _print_text(found: Sequence[Suggestion]) -> None:
    names = label([one.column for one in found])
    width = max((len(one.category) for one in found), default=0)
    print_lines(
        Text(f"{one.category:{width}}  {names.of(one.column)}  {safe(one.word)} ({one.language})") for one in found
    )
    last = "tag one: whence tags add COLUMN CATEGORY, or CATEGORY=false if it is none"
    print_lines([Text(last if found else "no name of a column without a tag suggests sensitive data")])
