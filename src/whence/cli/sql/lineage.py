"""`whence sql`: the lineage of SQL text, as a tree for each statement or as one JSON document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.text import Text

from whence.capture.sql import Catalog, Column, Edge, ScriptLineage, StatementLineage, Table, read_script
from whence.cli.answers.tree import UNICODE, Glyphs
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.sql.scripts import Script

_COLOURS = {"parsed": "green", "partial": "yellow", "opaque": "dim", "failed": "bold red"}
_UNKNOWN: Mapping[str, str] = {
    "column_not_found": "no table has the column {}",
    "column_ambiguous": "several tables may have the column {}",
    "star_not_expanded": "the columns of {} are not known; give them with --schema",
    "positions_differ": "two lists of columns have different lengths: {}",
    "dynamic_sql": "the statement is put together when it runs: {}",
    "budget_spent": "reading stopped at the limit of time or size: {}",
}
_WIDEST = 60
"""The most characters of an expression to print."""


def show_lineage(scripts: Iterable[Script], dialect: str, catalog: Catalog, output: Output) -> Exit:
    """Parse scripts, each separately, and print their lineage. A failed statement makes the exit code an error.

    Raises DialectError.
    """
    read = [(one.name, read_script(one.text, dialect, catalog)) for one in scripts]
    if output is Output.JSON:
        print_document(_documents(read))
    else:
        print_lines(line for name, script in read for line in _lines_of(name if len(read) > 1 else "", script))
    failed = any(one.status == "failed" for _, script in read for one in script.statements)
    return Exit.MISTAKE if failed else Exit.OK


def _documents(read: Sequence[tuple[str, ScriptLineage]]) -> dict[str, Any]:
    """The document of one script; for several, each with its file."""
    if len(read) == 1:
        return document(read[0][1])
    return {"files": [{"file": name, **document(script)} for name, script in read]}


def _lines_of(name: str, script: ScriptLineage) -> Iterator[Text]:
    if name:
        yield Text(safe(name), "bold underline")
    yield from lines(script)


def document(script: ScriptLineage) -> dict[str, Any]:
    """The complete answer as JSON."""
    return {
        "statements": [_statement(one) for one in script.statements],
        "collapsed": [_edge(edge) for edge in script.collapsed],
    }


def _statement(one: StatementLineage) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "status": one.status,
        "line": one.span.line,
        "column": one.span.column,
        "start": one.span.start,
        "end": one.span.end,
        "reads": [str(table) for table in one.reads],
        "writes": [str(table) for table in one.writes],
        "edges": [_edge(edge) for edge in one.edges],
        "unknowns": [
            {"reason": unknown.reason, "name": unknown.name, "line": unknown.span.line, "column": unknown.span.column}
            for unknown in one.unknowns
        ],
        "error": one.error,
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "source": _end(edge.source),
        "target": _end(edge.target),
        "type": edge.type,
        "subtype": edge.subtype,
        "masking": edge.masking,
        "expression": edge.expression,
        "confidence": edge.confidence,
        "reason": edge.reason,
    }


def _end(end: Column | Table) -> Mapping[str, str | None]:
    match end:
        case Column(table, name):
            return {"table": str(table), "column": name}
    return {"table": str(end), "column": None}


def lines(script: ScriptLineage, glyphs: Glyphs = UNICODE) -> Iterator[Text]:
    """A tree for each statement, then the lineage through temporary tables, if it differs."""
    for one in script.statements:
        yield _headline(one, glyphs)
        yield from _targets(one.edges, glyphs)
        yield from (
            Text(f"   ? {safe(_UNKNOWN[unknown.reason].format(unknown.name))}", "yellow") for unknown in one.unknowns
        )
        if one.error is not None:
            yield Text(f"   ! {safe(one.error)}", "red")
    through = {edge for one in script.statements for edge in one.edges}
    if any(_ends(edge) not in {_ends(other) for other in through} for edge in script.collapsed):
        yield Text("through temporary tables", "bold")
        yield from _targets(script.collapsed, glyphs)


def _ends(edge: Edge) -> tuple[object, ...]:
    return edge.source, edge.target, edge.subtype


def _headline(one: StatementLineage, glyphs: Glyphs) -> Text:
    line = Text.assemble(
        (f"{one.span.line}:{one.span.column} ", "dim"), (one.kind, "bold"), " ", (one.status, _COLOURS[one.status])
    )
    tables = [", ".join(safe(str(table)) for table in some) for some in (one.reads, one.writes)]
    if any(tables):
        line.append(f"  {tables[0]} {glyphs.right} {tables[1] or 'result'}", "cyan")
    return line


def _targets(edges: Sequence[Edge], glyphs: Glyphs) -> Iterator[Text]:
    """Each target with its sources, in the order of writing."""
    order = {target: place for place, target in reversed(list(enumerate(edge.target for edge in edges)))}
    groups = [
        list(group)
        for _, group in groupby(sorted(edges, key=lambda edge: order[edge.target]), lambda edge: edge.target)
    ]
    for place, group in enumerate(groups):
        last = place == len(groups) - 1
        yield Text((glyphs.ends if last else glyphs.branches)[0]).append(safe(str(group[0].target)), "bold")
        yield from _sources(group, "   " if last else f"{glyphs.bar}  ", glyphs)


def _sources(group: Iterable[Edge], before: str, glyphs: Glyphs) -> Iterator[Text]:
    edges = list(group)
    for place, edge in enumerate(edges):
        last = place == len(edges) - 1
        indirect = edge.type == "INDIRECT"
        line = Text(before + (glyphs.ends if last else glyphs.branches)[indirect], "dim" if indirect else "")
        line.append(safe(str(edge.source))).append(f"  {edge.subtype}{' masked' * edge.masking}", "magenta")
        expression = safe(edge.expression)
        if edge.subtype != "IDENTITY" and expression:
            line.append(f"  {expression[:_WIDEST]}{glyphs.more * (len(expression) > _WIDEST)}", "dim")
        if edge.confidence < 1:
            line.append(f"  {edge.confidence:.2g} {edge.reason}", "yellow" if edge.confidence < 0.5 else "dim")
        yield line
