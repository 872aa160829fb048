"""What the SQL of an event says of its outputs (state.md, "Parsed lineage"), for statements of one form:

    insert into TABLE (COLUMN, …)
    select
      EXPRESSION as COLUMN,
      …
    from TABLE as ALIAS
    left join TABLE as ALIAS on ALIAS.COLUMN = ALIAS.COLUMN
    where ALIAS.COLUMN = 'TEXT'

in Spark's dialect, every column with the alias of its table. What is no SQL at all cannot be read; of any other text
the oracle knows only that it gives no edges, and does not judge what the reader says of it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from oracle.nodes import Node, whole

Json = dict[str, Any]
Edge = tuple[Node, Node, str, str, str, str]

STATEMENT = re.compile(
    r"insert (?:into|overwrite) (?P<target>\S+)(?: \((?P<columns>[^)]*)\))?\n"
    r"select\n  (?P<items>.+?)\n"
    r"from (?P<table>\S+) as (?P<alias>\w+)\n*"
    r"(?P<joins>(?:left join [^\n]+\n*)*)"
    r"(?:where (?P<where>[^\n]+))?",
    re.DOTALL,
)
JOIN = re.compile(r"left join (\S+) as (\w+) on ([^\n]+)")
NO_SQL = ("selec x", ")(")
UNJUDGED = "unjudged"
UNRELATED = "unrelated"
DEFINITION = re.compile(r"(?:create table if not exists|truncate table) (?P<table>[\w.]+)(?: \([\w ]+\))?")
"""Text that makes or empties a table: whoever says it writes no data."""
REFERENCE = re.compile(r"\b(\w+)\.(\w+)\b")


@dataclass
class Mentioned:
    """A dataset of the event: its other names, and its columns as they were said last."""

    node: Node
    others: set[Node] = field(default_factory=set)
    columns: list[str] = field(default_factory=list)


@dataclass
class Spoken:
    """The SQL's edges by output, and how much of the text was read."""

    edges: dict[Node, set[Edge]] = field(default_factory=dict)
    complete: bool = False
    status: str = "failed"
    unmatched: list[str] = field(default_factory=list)

    def explained(self, output: Node) -> set[Node]:
        return {whole(edge[0]) for edge in self.edges.get(output, ())}


def read_sql(query: str, inputs: list[Mentioned], outputs: list[Mentioned]) -> Spoken:
    """The reading of one statement."""
    if defined := DEFINITION.fullmatch(query):
        unmatched = [] if meant(defined["table"], outputs) else [defined["table"].lower()]
        return Spoken(complete=not unmatched, status=UNRELATED if unmatched else "parsed", unmatched=unmatched)
    found = STATEMENT.fullmatch(query)
    if found is None:
        return Spoken(status="failed" if query in NO_SQL else UNJUDGED)
    tables = {found["alias"]: found["table"]} | {alias: table for table, alias, _ in JOIN.findall(found["joins"])}
    target = meant(found["target"], outputs)
    sources = {table: meant(table, inputs) or meant(table, outputs) for table in tables.values()}
    unmatched = sorted({table.lower() for table, one in {**sources, found["target"]: target}.items() if one is None})
    columns = known_columns(found["target"], inputs, outputs)
    names, misplaced = _targets(found["columns"], found["items"], columns)
    missing = misplaced
    edges: set[Edge] = set()
    written: set[str] = set()

    def references(text: str) -> Iterator[tuple[Mentioned | None, str]]:
        nonlocal missing
        for alias, column in REFERENCE.findall(text):
            known = known_columns(tables[alias], inputs, outputs)
            missing = missing or (known is not None and column.lower() not in [one.lower() for one in known])
            yield sources[tables[alias]], column

    for (expression, _), name in zip(_items(found["items"]), names, strict=False):
        for source, column in references(expression):
            written.add(name.lower())
            if source and target:
                how = _subtype(expression), "", expression
                edges.add((spelled(source, column), spelled(target, name), "DIRECT", *how))
    for text, subtype in [*((on, "JOIN") for *_, on in JOIN.findall(found["joins"])), (found["where"] or "", "FILTER")]:
        for source, column in references(text):
            if source and target:
                edges.add((spelled(source, column), target.node, "INDIRECT", subtype, "", ""))
    if _contradicts(found["target"], target, outputs, written):
        return Spoken(status=UNRELATED, unmatched=unmatched)
    complete = not (missing or unmatched)
    status = "parsed" if complete else "partial" if edges else "failed"
    return Spoken({target.node: edges} if target and edges else {}, complete, status, unmatched)


def _contradicts(name: str, target: Mentioned | None, outputs: list[Mentioned], written: set[str]) -> bool:
    """The text cannot be of this job: it writes another table, or columns that the output does not have."""
    last = name.lower().split(".")[-1]
    called = {re.split("[./]", node[2])[-1].lower() for one in outputs for node in (one.node, *one.others)}
    if target is None:
        return last not in called
    known = {column.lower() for column in target.columns}
    return bool(known and written) and not known & written


def _items(text: str) -> list[tuple[str, str]]:
    return [(one.rpartition(" as ")[0], one.rpartition(" as ")[2]) for one in text.split(",\n  ")]


def _targets(listed: str | None, items: str, columns: list[str] | None) -> tuple[list[str], bool]:
    """The columns that the items go to; and whether the numbers differ. Fewer items go under their own names."""
    own = [name for _, name in _items(items)]
    if listed is not None:
        return listed.split(", "), False
    if columns is None or len(own) < len(columns):
        return own, columns is not None
    return columns, len(own) > len(columns)


def _subtype(expression: str) -> str:
    if REFERENCE.fullmatch(expression):
        return "IDENTITY"
    return "AGGREGATION" if expression.startswith("SUM(") else "TRANSFORMATION"


def meant(table: str, some: list[Mentioned]) -> Mentioned | None:
    """The dataset whose name agrees with a table's from the end, in the most parts, then in case; if it is one."""
    parts = table.lower().split(".")
    ranked = [(max(_agreement(parts, name[2].split(".")) for name in (one.node, *one.others)), one) for one in some]
    best = max((rank for rank, _ in ranked), default=(0, False))
    first = [one for rank, one in ranked if rank == best]
    return first[0] if best[0] and len(first) == 1 else None


def _agreement(parts: list[str], name: list[str]) -> tuple[int, bool]:
    length = min(len(parts), len(name))
    if [one.lower() for one in name[-length:]] != parts[-length:]:
        return (0, False)
    return length, name[-length:] == parts[-length:]


def known_columns(table: str, inputs: list[Mentioned], outputs: list[Mentioned]) -> list[str] | None:
    """The columns of a table, if it is one dataset, whether as a source or as a target, and the event says them."""
    found = [one for one in (meant(table, inputs), meant(table, outputs)) if one is not None]
    if len({one.node for one in found}) != 1 or not found[0].columns:
        return None
    every = found[0].columns
    return [one for one in every if "." not in one or one.rpartition(".")[0] not in every]


def spelled(one: Mentioned, column: str) -> Node:
    """A column as the event writes it: exactly so, else the one that differs in case only, else in lower case."""
    folded = column.lower()
    alike = {known for known in one.columns if known.lower() == folded}
    name = folded if folded in alike or len(alike) != 1 else next(iter(alike))
    return ("field", *one.node[1:], name)


def comparison(output: Node, spoken: Spoken, reported: set[Edge], names: dict[Node, Node]) -> Json:
    """Where the reported edges from field to field and those of the SQL differ."""

    def pair(edge: Edge) -> tuple[Node, str, str]:
        source = whole(edge[0])
        return names.get(source, source), edge[0][3].lower(), edge[1][3].lower()

    parsed = spoken.edges[output]
    values = {pair(edge) for edge in parsed if edge[2] == "DIRECT"}
    sources = {(whole(edge[0]), edge[0][3].lower()) for edge in parsed}
    firm = {pair(edge) for edge in reported if edge[2] == "DIRECT"}
    reported_pairs = {pair(edge) for edge in reported if edge[2] != "INDIRECT"}
    extra = (
        {one for one in reported_pairs - values if one in firm or one[:2] not in sources} if spoken.complete else set()
    )
    return {
        "namespace": output[1],
        "name": output[2],
        "complete": spoken.complete,
        "agreed": len(values & reported_pairs),
        "missingInReport": _shown(values - reported_pairs),
        "missingInParse": _shown(extra),
        "counts": [len(values & reported_pairs), len(values - reported_pairs), len(extra)],
    }


def _shown(pairs: Iterable[tuple[Node, str, str]]) -> list[Json]:
    return [
        {"namespace": source[1], "name": source[2], "field": column, "output": into}
        for source, column, into in sorted(pairs)[:20]
    ]


def known_as(mentioned: dict[Node, Mentioned]) -> dict[Node, Node]:
    """The event's name for each other name of one dataset."""
    claims = [(name, one.node) for one in mentioned.values() for name in (one.node, *one.others)]
    return {name: node for name, node in claims if [other for other, _ in claims].count(name) == 1}
