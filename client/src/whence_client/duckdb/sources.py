"""What a query of DuckDB reads, by the syntax tree that DuckDB gives of it (`json_serialize_sql`). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_NOWHERE = 2**64 - 1
"""The position of a parameter in the trees of DuckDB 1."""
_READERS = frozenset(
    (
        "read_csv",
        "read_csv_auto",
        "read_parquet",
        "parquet_scan",
        "read_json",
        "read_json_auto",
        "read_ndjson",
        "read_text",
    )
)
_GENERATORS = frozenset(("generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest"))
"""Table functions that read nothing beyond their arguments. The system's own begin with one of `_SYSTEM`."""
_SYSTEM = ("duckdb_", "pragma_")
_INNER = (dict, list)
_SUBQUERY = '"SUBQUERY"'
"""The class of an expression that has sources."""
_SEVERAL = re.compile('"STAR"|"unnest"', re.IGNORECASE)
"""Expressions that may be several columns."""

Span = tuple[int, int]
"""A position and a length in a text, in bytes."""


@dataclass(frozen=True)
class SyntaxTree:
    """A query's tree; `error` is why DuckDB gives none. `has_subqueries`: an expression may have sources;
    `has_several`: one may be several columns.
    """

    statements: tuple[Any, ...]
    error: str = ""
    has_subqueries: bool = True
    has_several: bool = True


@dataclass(frozen=True)
class Source:
    """A table or the files of a query; `spans` are the positions and lengths of the table, files or call in it.

    `function` is the table function of files, or of what only the function knows. `is_list`: the files are in a list.
    """

    table: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    function: str = ""
    is_list: bool = False


def read_tree(document: str) -> SyntaxTree:
    """The tree in the JSON that DuckDB gives of a query."""
    answer = json.loads(document)
    error = str(answer["error_message"]) if answer.get("error") else ""
    several = _SEVERAL.search(document) is not None
    return SyntaxTree(tuple(answer.get("statements", ())), error, _SUBQUERY in document, several)


def read_sources(tree: SyntaxTree, parameters: Mapping[str, Any]) -> list[Source]:
    """The tables and files of a query, without its common table expressions.

    `parameters` are the values of a prepared statement, by name or by number.
    """
    found: dict[Source, None] = {}
    for node, common in _walk(tree):
        if node.get("type") == "BASE_TABLE":
            found.update(dict.fromkeys(_base_table(node, common)))
        elif node.get("type") == "TABLE_FUNCTION":
            found.update(dict.fromkeys(_table_function(node, parameters)))
    return list(found)


def find_columns(tree: SyntaxTree) -> list[tuple[str, int]]:
    """The names in a query that are those of columns, without the name of a table, and their positions."""
    whole = SyntaxTree(tree.statements)
    columns = (one for one, _ in _walk(whole) if one.get("class") == "COLUMN_REF")
    return [
        (str(one["column_names"][0]), int(one["query_location"])) for one in columns if len(one["column_names"]) == 1
    ]


def read_names(tree: SyntaxTree, known: Collection[str]) -> tuple[str, ...]:
    """The names of the columns of one SELECT's result; empty if its text does not say all of them.

    A column without an alias has the name that its source gave it: in a text, upper and lower case may differ from it.
    `known` are the names in the sources. COLUMNS and UNNEST are several columns, whatever their alias is.
    """
    if tree.has_several:
        return ()
    selects = [node for node, _ in _walk(tree) if "select_list" in node]
    items = selects[0]["select_list"] if len(selects) == 1 and tree.statements[0]["node"] is selects[0] else ()
    names = [str(one.get("alias") or _name_in(one, known)) for one in items]
    return tuple(names) if all(names) and len({name.lower() for name in names}) == len(names) else ()


def _name_in(node: dict[str, Any], known: Collection[str]) -> str:
    name = str(node["column_names"][-1]) if node.get("class") == "COLUMN_REF" else ""
    return name if name in known else ""


def _walk(tree: SyntaxTree) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """The nodes in their order, each with the common table expressions there, without expressions if none has a source.

    A query of 300 columns has thousands of nodes, so this is a loop.
    """
    pending: list[tuple[Any, frozenset[str]]] = [(tree.statements, frozenset())]
    while pending:
        node, common = pending.pop()
        if type(node) is dict:
            if "class" in node and not tree.has_subqueries:
                continue
            of_node = (node.get("cte_map") or {}).get("map")
            common = common | {str(one["key"]).lower() for one in of_node} if of_node else common
            yield node, common
            node = node.values()
        pending.extend([(one, common) for one in node if type(one) in _INNER][::-1])


def _base_table(node: dict[str, Any], common: frozenset[str]) -> Iterator[Source]:
    parts = tuple(part for part in (node.get("catalog_name"), node.get("schema_name"), node.get("table_name")) if part)
    if parts and not (len(parts) == 1 and parts[0].lower() in common):
        yield Source(parts, spans=(_span_of(node),))


def _table_function(node: dict[str, Any], parameters: Mapping[str, Any]) -> Iterator[Source]:
    function = node.get("function") or {}
    name = str(function.get("function_name", "")).lower()
    if name in _GENERATORS or name.startswith(_SYSTEM):
        return
    arguments = [one.get("expression", one) for one in function.get("arguments") or function.get("children") or ()]
    constants = list(_constants(arguments[0], parameters)) if name in _READERS and arguments else []
    if constants:
        paths, spans = zip(*constants)
        yield Source(paths=paths, spans=spans, function=name, is_list=arguments[0].get("function_name") == "list_value")
        return
    yield Source(spans=(_span_of(node),), function=name)


def _constants(node: dict[str, Any], parameters: Mapping[str, Any]) -> Iterator[tuple[str, Span]]:
    """The texts of an argument: one, or the items of a list; literals, or parameters."""
    text = parameters.get(str(node.get("identifier", "")), _text_of(node))
    if isinstance(text, str) and int(node["query_location"]) != _NOWHERE:
        yield text, _span_of(node)
    elif node.get("function_name") == "list_value":
        for one in node.get("arguments") or node.get("children") or ():
            yield from _constants(one.get("expression", one), parameters)


def _span_of(node: dict[str, Any]) -> Span:
    return int(node["query_location"]), int(node.get("query_location_length", 0))


def _text_of(node: dict[str, Any]) -> str | None:
    """The text that a node is a literal of: DuckDB 2 has `literal`, DuckDB 1 `value`."""
    literal, value = node.get("literal") or {}, node.get("value") or {}
    if literal.get("kind") == "STRING":
        return str(literal["text"])
    return str(value["value"]) if (value.get("type") or {}).get("id") == "VARCHAR" else None
