"""The lineage of charts that was written by hand from files and documentation, and what of it a capture found."""

from collections.abc import Iterable
from pathlib import Path

from whence.capture.bi.reports import DASHBOARD, Report
from whence.model.lineage import Edge
from whence.model.names import FieldName

Lines = dict[str, set[str]]


def read_expected(path: Path) -> Lines:
    """The lines of each chart: `[chart]`, then `field <- namespace table.column TYPE SUBTYPE` below it."""
    found: Lines = {}
    current: set[str] = set()
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            current = found.setdefault(line[1:-1], set())
        elif line and not line.startswith("#"):
            current.add(line)
    return found


def found_lines(reports: Iterable[Report]) -> Lines:
    """The column lineage of what has any, but for dashboards, in the same form."""
    charts = [one for one in reports if one.kind != DASHBOARD]
    lines = {one.name.name.removeprefix("charts/"): set(map(_line, _of_columns(one))) for one in charts}
    return {name: found for name, found in lines.items() if found}


def _of_columns(report: Report) -> list[Edge]:
    return [one for one in report.lineage.edges if isinstance(one.source, FieldName)]


def _line(edge: Edge) -> str:
    assert isinstance(edge.source, FieldName)
    target = f"{edge.target.field} " if isinstance(edge.target, FieldName) else ""
    table = edge.source.dataset
    return f"{target}<- {table.namespace} {table.name}.{edge.source.field} {edge.type} {edge.subtype}"
