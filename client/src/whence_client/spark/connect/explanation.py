"""What Spark explains of a query: its analysed plan, its columns, and the files behind its leaves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whence_client.spark.connect.operator_text import LEAVES, assemble
from whence_client.spark.connect.plan_lines import PlanLine, read_lines, read_sections
from whence_client.spark.plan.relations import Context, read_relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whence_client.spark.plan.trees import Node, Tree

_TRUNCATED = re.compile(r"\.\.\. \d+ more fields|Location: (?:(?!, [A-Z]\w+:)[^\n])*\.\.\.")
_SCAN = re.compile(r"(?:FileScan|Scan|BatchScan) [^\n]*")
_LOCATION = re.compile(r"Location: \w+(?:\(\d+ paths?\))?\[(.*?)\](?:,|$)")
_ID = re.compile(r"#(\d+)L?(?!\w)")


@dataclass(frozen=True)
class Explanation:
    """A query as the server explains it. `command` is the line of the command above it, empty if there is none.

    `locations` are the paths that scans read, by the expression ids of their attributes.
    """

    plan: Tree
    command: str = ""
    arguments: str = ""
    schema: tuple[tuple[str, str], ...] = ()
    locations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def has_columns(explained: Explanation) -> bool:
    """Whether the columns of the explained query are those of what the command writes."""
    return not explained.command or explained.command in _INSERTS


def is_truncated(text: str) -> bool:
    """Whether an explanation leaves out columns or paths, because there are too many."""
    return _TRUNCATED.search(text) is not None


def read_explanation(text: str) -> Explanation:
    """The query of an explanation in extended mode. Raises ValueError if it is not understood."""
    sections = read_sections(text)
    header, analysed = _split_header(sections.get("Analyzed Logical Plan", ""))
    lines = read_lines(analysed)
    command = lines[0] if _is_command(lines[0]) else None
    query = _without_command(lines) if command else lines
    plan = assemble(query) if query else []
    return Explanation(
        plan,
        command.name if command else "",
        command.arguments if command else "",
        tuple(_read_schema(header, plan)),
        dict(_read_locations(sections.get("Physical Plan", ""))),
    )


def leaves_of(plan: Tree) -> Iterator[Node]:
    """The leaves of a plan that have attributes, in its subqueries, too."""
    waiting = [plan]
    while waiting:
        for node in waiting.pop():
            if not node["num-children"] and node.get("output"):
                yield node
            waiting.extend(_plans_in(node))


def _plans_in(value: object) -> Iterator[Tree]:
    """The plans of subqueries anywhere in a field."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "plan" and isinstance(one, list):
                yield one
            else:
                yield from _plans_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _plans_in(one)


def _split_header(text: str) -> tuple[str, str]:
    """The columns of a query with their types, and its plan; commands have no columns."""
    first, _, rest = text.partition("\n")
    return (first, rest) if rest and ": " in first and not first.startswith(tuple(LEAVES)) else ("", text)


def _is_command(line: PlanLine) -> bool:
    return line.name.endswith("Command") or line.name in _INSERTS or line.name in _ROW_CHANGES


_INSERTS = frozenset(
    (
        "InsertIntoHadoopFsRelationCommand",
        "InsertIntoDataSourceCommand",
        "InsertIntoHiveTable",
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "SaveAsV1TableCommand",
        "SaveIntoDataSourceCommand",
        "CreateViewCommand",
        "AppendData",
        "OverwriteByExpression",
        "OverwritePartitionsDynamic",
        "CreateTableAsSelect",
        "ReplaceTableAsSelect",
    )
)
"""Commands whose query has the columns of their target."""
_ROW_CHANGES = frozenset(("MergeIntoTable", "UpdateTable", "DeleteFromTable", "ReplaceData", "WriteDelta"))


def _without_command(lines: list[PlanLine]) -> list[PlanLine]:
    """The lines of the query below a command: the last of what stands directly below it."""
    below = [*lines[0].subqueries, *lines[0].children]
    if not below:
        return []
    first = next(index for index, line in enumerate(lines) if line is below[-1])
    return lines[first:]


def _read_schema(header: str, plan: Tree) -> Iterator[tuple[str, str]]:
    """The types of a query's columns, whose names must be those of its plan. Raises ValueError if they are not."""
    names = [one.name for one in read_relation(plan, Context()).output] if header else []
    at = 0
    for index, name in enumerate(names):
        if not header.startswith(f"{name}: ", at):
            raise ValueError("the columns of the plan are not those of its header")
        at += len(name) + 2
        following = f", {names[index + 1]}: " if index + 1 < len(names) else ", "
        end = _end_of_type(header, at, following)
        yield name, header[at:end]
        at = end + 2
    if at < len(header):
        raise ValueError("the plan has fewer columns than its header")


def _end_of_type(header: str, begin: int, following: str) -> int:
    """Where a type ends: before the next column that is not a field of the type."""
    depth = 0
    for index in range(begin, len(header)):
        if depth == 0 and header.startswith(following, index):
            return index
        depth += (header[index] in "<(") - (header[index] in ">)")
    return len(header)


def find_locations(text: str) -> Iterator[str]:
    """The paths that the scans of an explanation read."""
    for scan in _SCAN.finditer(text):
        location = _LOCATION.search(scan[0])
        if location and "..." not in location[1]:
            yield from location[1].split(", ")


def _read_locations(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for scan in _SCAN.finditer(text):
        paths = tuple(find_locations(scan[0]))
        for one in _ID.finditer(scan[0].partition("[")[2].partition("]")[0]) if paths else ():
            yield int(one[1]), paths
