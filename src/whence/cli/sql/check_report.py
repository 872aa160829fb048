"""`whence sql --check`: prints only failed statements and unknown names, a line each, as compilers do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.text import Text

from whence.capture.sql import Catalog, ScriptLineage, read_script
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.sql.scripts import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem at a position of a file; `failed`: a statement could not be parsed, else a name in it is unknown."""

    file: str
    line: int
    column: int
    failed: bool
    what: str
    """`failed`, or why a name is unknown (docs/how-to/sql.md)."""
    detail: str


def show_problems(scripts: Iterable[Script], dialect: str, catalog: Catalog, output: Output, *, strict: bool) -> Exit:
    """Print the problems of scripts. Failed statements make the exit code an error; if `strict`, unknown names do, too.

    Raises DialectError.
    """
    read = [(one, read_script(one.text, dialect, catalog)) for one in scripts]
    found = [problem for one, lineage in read for problem in problems_of(one.name or "text", lineage)]
    failed = sum(one.failed for one in found)
    if output is Output.JSON:
        print_document({"files": len(read), "problems": [_document(one) for one in found]})
    else:
        print_lines([*map(_line, found), _summary(len(read), failed, len(found) - failed)])
    return Exit.MISTAKE if failed or (strict and found) else Exit.OK


def problems_of(file: str, script: ScriptLineage) -> Iterator[Problem]:
    """The problems of a script, in its order."""
    for one in script.statements:
        if one.error is not None:
            at = one.span
            yield Problem(file=file, line=at.line, column=at.column, failed=True, what="failed", detail=one.error)
        for unknown in one.unknowns:
            at = unknown.span
            what, name = unknown.reason, unknown.name
            yield Problem(file=file, line=at.line, column=at.column, failed=False, what=what, detail=name)


def _document(one: Problem) -> dict[str, object]:
    place = {"file": one.file, "line": one.line, "column": one.column}
    return {**place, "failed": one.failed, "problem": one.what, "detail": one.detail}


def _line(one: Problem) -> Text:
    place = f"{safe(one.file)}:{one.line}:{one.column}: "
    return Text.assemble((place, "bold"), (one.what, "red" if one.failed else "yellow"), f" {safe(one.detail)}")


def _summary(files: int, failed: int, unknown: int) -> Text:
    count = f"{files} file{'s' * (files != 1)}"
    return Text(f"{count}: {failed} statement{'s' * (failed != 1)} failed, {unknown} not known", "dim")
